"""What policies are: kinds, specs, the registry, the hooks."""

from harness.policy import hooks as hooks  # what `harness.hooks` is must be here without being asked for
