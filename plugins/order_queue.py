"""Who is next: the classic orders. The lowest score is first; ties go by submission, then by place in the log."""

import math

import harness

#: A zero estimate would divide by zero; a millisecond is as short.
SHORTEST = 1e-3


def fcfs(job, clock):
    """First come, first served: by submission."""
    return job.submit


def lcfs(job, clock):
    """Last come, first served: the latest submission first. With `preempt(at=any)` this is preemptive-resume."""
    return -job.submit


def spf(job, clock):
    """Shortest processing time first: by requested time, of a suspended or running job by what is left of it."""
    return job.left


def lpf(job, clock):
    """Longest processing time first: by requested time, of a suspended or running job by what is left of it."""
    return -job.left


def sjf_width(job, clock):
    """Narrowest first: by processors."""
    return float(job.procs)


def ljf_width(job, clock):
    """Widest first: by processors."""
    return -float(job.procs)


def saf(job, clock):
    """Smallest area first: by requested time × processors."""
    return job.estimate * job.procs


def laf(job, clock):
    """Largest area first: by requested time × processors."""
    return -job.estimate * job.procs


def wfp3(job, clock, power=3.0):
    """WFP3: waiting over requested time, to the power of 3, × processors (Tang et al. 2009).

    `power`: how strongly a long wait counts.
    """
    wait = clock.now - job.submit
    return -((wait / max(job.estimate, SHORTEST)) ** power) * job.procs


def unicef(job, clock):
    """UNICEF: waiting over (log2 of the width × requested time), small and old jobs first (Tang et al. 2009)."""
    wait = clock.now - job.submit
    return -wait / (math.log2(max(job.procs, 2)) * max(job.estimate, SHORTEST))


def expansion(job, clock):
    """Expansion factor: the largest (waiting + requested) / requested time first."""
    wait = clock.now - job.submit
    return -(wait + job.estimate) / max(job.estimate, SHORTEST)


def f1(job, clock):
    """F1: log10(r)·n + 870·log10(s), fitted by simulation (Carastan-Santos and de Camargo 2017).

    r is the requested time [s], n the processors, s the submission [s].
    """
    return math.log10(max(job.estimate, 1.0)) * job.procs + 8.70e2 * math.log10(max(job.submit, 1.0))


def f2(job, clock):
    """F2: √r·n + 25600·log10(s), letters as in `f1` (Carastan-Santos and de Camargo 2017)."""
    return math.sqrt(job.estimate) * job.procs + 2.56e4 * math.log10(max(job.submit, 1.0))


def f3(job, clock):
    """F3: r·n + 6860000·log10(s), letters as in `f1` (Carastan-Santos and de Camargo 2017)."""
    return job.estimate * job.procs + 6.86e6 * math.log10(max(job.submit, 1.0))


def f4(job, clock):
    """F4: r·√n + 530000·log10(s), letters as in `f1` (Carastan-Santos and de Camargo 2017)."""
    return job.estimate * math.sqrt(job.procs) + 5.30e5 * math.log10(max(job.submit, 1.0))


@harness.hookimpl
def order_queue():
    return [
        *(harness.Order(score.__name__, score) for score in (fcfs, lcfs, spf, lpf, saf, laf)),
        *(harness.Order(score.__name__, score, timed=True) for score in (f1, f2, f3, f4)),
        harness.Order("sjf-width", sjf_width),
        harness.Order("ljf-width", ljf_width),
        *(harness.Order(score.__name__, score, varies=True) for score in (wfp3, unicef, expansion)),
    ]
