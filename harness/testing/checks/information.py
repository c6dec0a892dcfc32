"""Check that policies use no information about the future."""

from dataclasses import replace

from harness.testing.cases import NEVER, Case, Job
from harness.testing.declared_checks import check
from harness.testing.subject import CheckError, Subject


@check(
    "foresight",
    "no scheduler knows later submissions or real runtimes: a policy that uses them wins every comparison here, but "
    "cannot run on a machine",
    applies=lambda policy: not getattr(policy, "clairvoyant", False),
)
def foresight(subject: Subject, case: Case) -> None:
    """Require the same starts up to an instant, for any later submissions and any runtimes of jobs that have not
    ended.
    """
    first = subject.run(case).frame
    instants = sorted({time for name in ("start", "end") for time in first[name] if time == time})
    if not instants:
        return
    for now in {instants[len(instants) // 4], instants[len(instants) // 2]}:
        jobs = tuple(
            _otherwise(job, start, end, now, case.platform.cores)
            for job, start, end in zip(case.jobs, first["start"], first["end"], strict=True)
        )
        second = subject.run(replace(case, jobs=jobs)).frame
        again = first["restarts"] + second["restarts"]  # their start is that of the last restart
        starts = zip(first["start"], second["start"], again, strict=True)
        for number, (one, other, restarts) in enumerate(starts, 1):
            if one != other and min(one, other) <= now and not restarts:
                raise CheckError(
                    f"job {number} starts at {one:g} s, but at {other:g} s if only later submissions and the runtimes "
                    f"of jobs that have not ended at {now:g} s differ"
                )


def _otherwise(job: Job, start: float, end: float, now: float, cores: int) -> Job:
    """Return the job with its information that is unknown `now` changed."""
    if job.submit > now:
        procs = job.procs % cores + 1
        return replace(job, submit=job.submit + 1, procs=procs, work=2 * job.work, estimate=2 * job.estimate + 3)
    if job.patience < NEVER or end <= now:
        return job
    if job.work < job.estimate:
        return replace(job, work=job.estimate)
    return job if start <= now else replace(job, work=job.work / 2)
