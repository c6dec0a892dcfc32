"""Values as people say them: rounded, never wrong by more than their last digit, with a unit."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.present.human_units import with_units

SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


@pytest.mark.parametrize(
    ("value", "unit", "share", "told"),
    [
        (6840, "s", False, "1.9 h"),
        (0, "s", False, "0 s"),
        (-90, "s", False, "−1.5 min"),
        (0.7, "", True, "70 %"),
        (25_700, "kWh", False, "25.7 MWh"),
        (2.5e6, "kWh", False, "2.5 GWh"),
        (12, "kWh", False, "12 kWh"),
        (1518, "W", False, "1.52 kW"),
        (7200, "procs·s", False, "2 procs·h"),
        (3, "jobs", False, "3 jobs"),
        (12.345, "", False, "12.3"),
        (math.nan, "s", False, "–"),
    ],
)
def test_units_people_think_in(value, unit, share, told):
    assert with_units(value, unit, share=share) == told


@given(st.floats(0, 1e9))
def test_a_time_is_right_to_three_digits(seconds):
    number, unit = re.fullmatch(r"([\d.,e+-]+) (\w+)", with_units(seconds, "s")).groups()
    assert math.isclose(float(number.replace(",", "")) * SECONDS[unit], seconds, rel_tol=5.1e-3, abs_tol=1e-300)
