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

from harness.theory.classical import erlang_b as erlang_b
from harness.theory.classical import erlang_c as erlang_c
from harness.theory.classical import little as little
from harness.theory.classical import mean_number as mean_number
from harness.theory.classical import mg1_mean_wait as mg1_mean_wait
from harness.theory.classical import mmc_mean_wait as mmc_mean_wait
from harness.theory.enumeration import Sampled as Sampled
from harness.theory.enumeration import constant_by_enumeration as constant_by_enumeration
from harness.theory.enumeration import constant_by_partitions as constant_by_partitions
from harness.theory.enumeration import constant_by_sampling as constant_by_sampling
from harness.theory.estimation import Estimate as Estimate
from harness.theory.estimation import Parameters as Parameters
from harness.theory.estimation import estimate_parameters as estimate_parameters
from harness.theory.estimation import outcomes as outcomes
from harness.theory.infinite_server import InfiniteServer as InfiniteServer
from harness.theory.infinite_server import completion_curve as completion_curve
from harness.theory.infinite_server import completion_curves as completion_curves
from harness.theory.infinite_server import negative_binomial_case as negative_binomial_case
from harness.theory.infinite_server import poisson_case as poisson_case
from harness.theory.job_stream import JobStream as JobStream
from harness.theory.job_stream import read_job_stream as read_job_stream
from harness.theory.kiefer_wolfowitz import delays as delays
from harness.theory.kiefer_wolfowitz import delays_of_arrivals as delays_of_arrivals
from harness.theory.kiefer_wolfowitz import workloads as workloads
from harness.theory.saturation import Saturated as Saturated
from harness.theory.saturation import saturated_constant as saturated_constant
from harness.theory.saturation import saturated_load as saturated_load
from harness.theory.stability import Stability as Stability
from harness.theory.stability import stability_constant as stability_constant
from harness.theory.stability import stability_of_log as stability_of_log
from harness.theory.stability import stability_of_stream as stability_of_stream
from harness.theory.stability import width_distribution as width_distribution
