"""Files and folders on disk."""

from harness.disk import bundled as bundled  # loaded here, because `harness.bundled` is loaded from this module
