"""Workloads with long queues."""

import numpy as np
from shared.strategies import workload


def crowd(seed, count, procs):
    """Jobs for which the machine is too small, then a lull, so that the queue is long, short and long again."""
    draw = np.random.default_rng(seed)
    rows, submit = [], 0
    for number in range(count):
        submit += int(draw.exponential(3)) if number != count // 2 else 40_000
        length = int(draw.exponential(60)) + 1
        more = {"cancel": submit + int(draw.integers(1, 3000))} if draw.random() < 0.1 else {}
        rows.append((submit, int(draw.integers(1, procs + 1)), int(draw.integers(1, length + 1)), length, more))
    return workload(rows)
