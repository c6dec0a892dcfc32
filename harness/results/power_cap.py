"""Compare the power of the platform with the caps that policies of a run promise to keep."""

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from harness.policy.scheduler import Chosen


class PowerCapWarning(UserWarning):
    """Reports that a platform drew more than the cap of a policy."""

    def __init__(self, message: str, policy: str = "") -> None:
        """Keep the policy, so that a command prints one line for all runs with it."""
        super().__init__(message)
        self.policy = policy


class CapWatch:
    """Adds up how long the platform drew more than a cap, and its highest power."""

    def __init__(self, policy: str, watts: float) -> None:
        """Begin before the first sample."""
        self.policy, self.watts = policy, watts
        self.most = 0.0  # power [W]
        self._above = self._all = 0.0  # time [s]
        self._power = self._since = math.nan  # of the last sample

    def add(self, samples: npt.NDArray[Any]) -> None:
        """Add the samples that the engine wrote since the last call: the power from each instant on."""
        if not len(samples):
            return
        times = np.concatenate([[self._since], samples["time"]])
        power = np.concatenate([[self._power], samples["power"]])
        lasting = np.diff(times)
        self._all += float(np.nansum(lasting))
        self._above += float(np.nansum(lasting[power[:-1] > self.watts * (1 + 1e-9)]))
        self.most = max(self.most, float(samples["power"].max()))
        self._power, self._since = float(power[-1]), float(times[-1])

    def warn(self) -> None:
        """Warn if the platform drew more than the cap."""
        if self._above > 0:
            text = (
                f"the policy {self.policy!r} does not keep its cap: the platform draws up to {self.most:,.6g} W, and "
                f"more than {self.watts:,.6g} W for {self._above / self._all:.3g} of the time"
            )
            warnings.warn(PowerCapWarning(text, self.policy), stacklevel=2)


def cap_watches(chosen: "Chosen") -> list[CapWatch]:
    """Return a watch for each policy that has a cap."""
    policies = [one for choice in chosen.values() for one in choice.chain if one.policy.cap]
    return [CapWatch(str(one), float(one.values[one.policy.cap])) for one in policies]
