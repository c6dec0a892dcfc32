"""The family of SC17 is found again in the scores that its authors published."""

import os
from pathlib import Path

import pytest

from harness.cli.study_command import load


@pytest.mark.data
def test_f1_to_f4_are_the_first_four_with_their_constants() -> None:
    found = sorted(Path(os.environ["HARNESS_DATA"].split(os.pathsep)[0]).rglob("score-distribution.csv.gz"))
    if not found:
        pytest.skip("the scores are not here")
    orders = load("orders")
    fits = sorted(orders.every_fit(*orders.read(found[0])), key=lambda fit: fit.error)
    assert [fit.text for fit in fits[:4]] == [text for _, text, _ in orders.PRINTED]
    for fit, (_, _, printed) in zip(fits, orders.PRINTED, strict=False):
        assert fit.constants[1] / fit.constants[0] == pytest.approx(printed, rel=5e-3)
