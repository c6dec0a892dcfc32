"""Exact recursions and closed forms that every simulation must agree with.

First come, first served, for jobs that need several processors at once (`harness.theory.kiefer_wolfowitz`):
    `delays`, `delays_of_arrivals`   the exact wait of each job
    `workloads`                      the work left on each processor when a job arrives

Stability of the queue (`harness.theory.stability`, and the paper's own sums in `harness.theory.enumeration`):
    `stability_of_stream`, `stability_of_log`  a `Stability`: load, critical load, …
    `stability_constant`             C; the mean number in service of the saturated system is 1/C
    `width_distribution`             shares of the widths in a log
    `constant_by_enumeration`, `constant_by_partitions`, `constant_by_sampling`

Unlimited processors and a dispatcher's time limit (`harness.theory.infinite_server`, `estimation`):
    `InfiniteServer`                 busy processors, completion probability, critical limit
    `poisson_case`, `negative_binomial_case`
    `estimate_parameters`            the model from a log, with confidence intervals; `Parameters`, `Estimate`
    `outcomes`                       which jobs of a log completed, and which were stopped at their limit
    `completion_curve`, `completion_curves`

Textbook queues (`harness.theory.classical`):
    `erlang_b`, `erlang_c`, `mmc_mean_wait`, `mg1_mean_wait`, `little`, `mean_number`

Logs for all of them: `read_job_stream`, `JobStream`. `reports/theory.py` compares the simulator with them.
"""

from harness.theory.classical import erlang_b, erlang_c, little, mean_number, mg1_mean_wait, mmc_mean_wait
from harness.theory.enumeration import (
    Sampled,
    constant_by_enumeration,
    constant_by_partitions,
    constant_by_sampling,
)
from harness.theory.estimation import Estimate, Parameters, estimate_parameters, outcomes
from harness.theory.infinite_server import (
    InfiniteServer,
    completion_curve,
    completion_curves,
    negative_binomial_case,
    poisson_case,
)
from harness.theory.job_stream import JobStream, read_job_stream
from harness.theory.kiefer_wolfowitz import delays, delays_of_arrivals, workloads
from harness.theory.saturation import Saturated, saturated_constant, saturated_load
from harness.theory.stability import (
    Stability,
    stability_constant,
    stability_of_log,
    stability_of_stream,
    width_distribution,
)

__all__ = [
    "Estimate",
    "InfiniteServer",
    "JobStream",
    "Parameters",
    "Sampled",
    "Saturated",
    "Stability",
    "completion_curve",
    "completion_curves",
    "constant_by_enumeration",
    "constant_by_partitions",
    "constant_by_sampling",
    "delays",
    "delays_of_arrivals",
    "erlang_b",
    "erlang_c",
    "estimate_parameters",
    "little",
    "mean_number",
    "mg1_mean_wait",
    "mmc_mean_wait",
    "negative_binomial_case",
    "outcomes",
    "poisson_case",
    "read_job_stream",
    "saturated_constant",
    "saturated_load",
    "stability_constant",
    "stability_of_log",
    "stability_of_stream",
    "width_distribution",
    "workloads",
]
