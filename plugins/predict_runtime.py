"""Predictors of runtimes: the request, the truth, and predictors that learn from jobs that have ended."""

import math

import harness

#: Additions to a first prediction, one for each time that the job exceeds it [s].
STEPS = (60.0, 300.0, 900.0, 1800.0, 3600.0, 7200.0, 18000.0, 36000.0, 72000.0, 180000.0, 360000.0)

#: A user's jobs that have ended, as a list: the last one, and of each how long it took and which ended before it.
ENDED = harness.per_user(("ended", "last"))
EACH = ("took", "before", "procs")


def requested(job, user, clock):
    """The requested time: no prediction."""
    return job.requested


def actual(job, user, clock):
    """The true runtime: clairvoyance, the limit of all prediction."""
    return job.service


def recent(job, user, clock, per_job, n=2):
    """The mean runtime of the user's last jobs, in whole seconds (Tsafrir, Etsion and Feitelson 2007).

    The request while fewer jobs have ended. An exceeded prediction becomes the first prediction plus 1, 5, 15
    or 30 minutes, 1, 2, 5, 10, 20, 50 or 100 hours, in this order, at most the request. `n`: number of jobs.
    """
    if user.ended < n:
        return job.requested
    total, place = 0.0, int(user.last)
    for _ in range(n):
        total += per_job[place].took
        place = int(per_job[place].before)
    return max(1.0, total / n // 1.0)


def similar(job, user, clock, per_job, look=200):
    """The runtime of the user's last job of the same width; the request if there is none.

    Corrected like `recent`. `look`: number of the user's last jobs that are searched.
    """
    place = int(user.last)
    for _ in range(min(look, int(user.ended))):
        if per_job[place].procs == job.procs:
            return max(1.0, per_job[place].took)
        place = int(per_job[place].before)
    return job.requested


@harness.jit
def remember(job, user, per_job):
    """Put a job that has ended at the front of its user's list."""
    mine = per_job[job.index]
    mine.took = job.service * job.speed
    mine.procs = job.procs
    mine.before = user.last
    user.last = job.index
    user.ended += 1.0


def in_steps(job):
    """The first prediction and a step that grows with each correction; the request when there are no more steps."""
    if job.corrections < len(STEPS):
        return job.predicted + STEPS[job.corrections]
    return max(job.requested, job.predicted + STEPS[-1] * (job.corrections - len(STEPS) + 2))


def online(job, user, clock, per_job, memory, rate=0.2, caution=1.5):
    """A small linear model of the logarithm of the runtime, trained whenever a job ends, as Gaussier et al. (2015) do.

    Its features are the request, the width, and the runtimes of the user's last two jobs. Larger errors change it more,
    and a prediction that is too short counts more than one that is too long. Corrected like `recent`. `rate`: speed of
    learning. `caution`: the factor for short predictions.
    """
    mine = per_job[job.index]
    last, before = job.requested, job.requested
    if user.ended > 0:
        last = before = per_job[int(user.last)].took
    if user.ended > 1:
        before = per_job[int(per_job[int(user.last)].before)].took
    mine.request = math.log1p(job.requested)
    mine.width = math.log1p(job.procs)
    mine.recently = math.log1p(last)
    mine.earlier = math.log1p(before)
    believed = guess(mine, memory)
    if believed >= mine.request:
        return job.requested  # not what rounding makes of it, which may be less
    return max(1.0, math.expm1(believed))


@harness.jit
def guess(mine, memory):
    """Return the prediction for a job's features; before the first training, the request."""
    learnt = memory[0] + memory[1] * mine.width + memory[2] * mine.recently + memory[3] * mine.earlier
    return learnt + (1.0 + memory[4]) * mine.request


def train(job, user, clock, per_job, memory, rate=0.2, caution=1.5):
    """Train the model with the job's runtime, and its features at submission."""
    remember(job, user, per_job)
    mine = per_job[job.index]
    error = math.log1p(mine.took) - guess(mine, memory)
    size = 1.0 + mine.width**2 + mine.recently**2 + mine.earlier**2 + mine.request**2
    step = rate * error / size * (caution if error > 0.0 else 1.0)
    memory[0] += step
    memory[1] += step * mine.width
    memory[2] += step * mine.recently
    memory[3] += step * mine.earlier
    memory[4] += step * mine.request


def learn(job, user, per_job):
    """Remember the job."""
    remember(job, user, per_job)


#: The fields of jobs that predictors read which learn from those that have ended.
ENDS = ("user", "requested", "procs", "service", "speed", "index", "predicted", "corrections")
ENDS = tuple(f"job.{name}" for name in ENDS)


@harness.hookimpl
def predict_runtime():
    kept = (ENDED, harness.per_job(EACH))
    features = (5, ENDED, harness.per_job((*EACH, "request", "width", "recently", "earlier")))
    return [
        harness.Predict("requested", requested, constant=True, reads=("job.requested",)),
        harness.Predict("actual", actual, clairvoyant=True, reads=("job.service",)),
        harness.Predict("recent", recent, learn=learn, correct=in_steps, memory=kept, least={"n": 1}, reads=ENDS),
        harness.Predict("similar", similar, learn=learn, correct=in_steps, memory=kept, least={"look": 1}, reads=ENDS),
        harness.Predict(
            "online",
            online,
            learn=train,
            correct=in_steps,
            memory=features,
            least={"rate": 0.0, "caution": 0.0},
            reads=ENDS,
        ),
    ]
