"""Policies: their kinds, specifications, registry and hooks."""

from harness.policy import hooks as hooks  # makes `harness.hooks` available
