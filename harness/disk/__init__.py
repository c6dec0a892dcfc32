"""Atomic files, and the folders of the house."""

from harness.disk import bundled as bundled  # what `harness.bundled` is must be here without being asked for
