"""The integral of power times a signal over a run: its emissions or its cost."""

from typing import Any

import numpy as np
import numpy.typing as npt

from harness.workload.signals import Signal

_JOULES_PER_KWH = 3.6e6

#: The unit of a measure per kWh and unit of the signal: g for g/kWh, € for €/MWh.
_PER_UNIT = {"carbon": 1.0, "price": 1e-3}


class Meter:
    """Adds up ∫ P·I dt. Both are step functions and the power changes only at instants of the run, so the sum is
    exact.
    """

    def __init__(self, signal: Signal) -> None:
        """Begin with nothing."""
        self.signal = signal
        self.sum = 0.0  # [W · unit of the signal · s]
        self._power = 0.0  # of the last sample
        self._before = 0.0  # the integral of the signal up to the last sample

    def add(self, samples: npt.NDArray[Any]) -> None:
        """Add the samples that the engine wrote since the last call: the power from each instant on."""
        if not len(samples):
            return
        heard = self.signal.after(samples["time"])
        if self._power:
            self.sum += self._power * (heard[0] - self._before)
        self.sum += float(np.sum(samples["power"][:-1] * np.diff(heard)))
        self._power, self._before = float(samples["power"][-1]), float(heard[-1])

    @property
    def total(self) -> float:
        """The emissions [g] or the cost [€]."""
        return self.sum / _JOULES_PER_KWH * _PER_UNIT[self.signal.kind]
