"""Policies that are broken in one way each, for the tests of those who check policies. A plugin file like any other."""

import random

import harness

# ---------------------------------------------------------------- orders


def not_a_number(job, clock):
    return 0.0 * (job.procs / 0.0 if job.procs < 0 else harness.INFINITY) if job.procs == 3 else job.submit


def divides_by_the_estimate(job, clock):
    return (clock.now - job.submit) / job.estimate


def secretly_varies(job, clock):
    return job.submit - clock.now * job.procs


def global_coins(job, clock):
    return random.random()


calls = [0]


def remembers_too_long(job, clock):
    calls[0] += 1
    return float(calls[0] * 7 % 5)


def asks_for_a_record_it_lacks(job, clock):
    return job.priority


def edits_the_job(job, clock):
    job.score = 3.0
    return job.submit


def halves_the_estimate(job, clock):
    job.estimate = 1.0
    return job.submit


def two_languages(job, clock):
    """Whole numbers have 64 bits in numba, and no end in Python."""
    number = int(job.procs) + int(job.submit)
    for _ in range(70):
        number = number * 3
    return float(number % 1000)


# ---------------------------------------------------------------- starts


def starts_what_does_not_fit(state):
    for job in harness.waiting(state):
        harness.start(state, job)


def starts_twice(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
            if harness.fits(state, job):
                harness.start(state, job)


def forgets_the_wide(state):
    for job in harness.waiting(state):
        if harness.fits(state, job) and state.jobs[job].procs < state.clock.cores:
            harness.start(state, job)


def suspends_unasked(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
        elif state.clock.running > 0:
            harness.suspend(state, harness.running(state)[0])
            return


def overtakes(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)


def reserves_nothing(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)


def later_and_later(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
        else:
            state.jobs[job].reserved = max(state.jobs[job].reserved, state.clock.virtual) + 100.0


def never_done(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
    harness.call_again(state, state.clock.now + 1e-6)


def calls_in_the_past(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
    harness.call_again(state, state.clock.now)


turns = [0]


def takes_turns(state):
    """Begins anew when a run does, which is not enough when two go on at once."""
    turns[0] = 0 if state.clock.instants == 1 else turns[0] + 1
    for job in harness.waiting(state)[:: -1 if turns[0] % 2 else 1]:
        if harness.fits(state, job):
            harness.start(state, job)


def widens_the_machine(state):
    for job in harness.waiting(state):
        if harness.fits(state, job):
            harness.start(state, job)
        elif state.nodes[0].free == 0 and state.nodes[0].busy == state.nodes[0].cores:
            state.nodes[0].free += 1
            state.clock.free += 1
            state.blocks[0] += 1


def shortens_the_wide(state):
    for job in harness.waiting(state):
        if state.jobs[job].procs > 3:
            state.jobs[job].procs = 3
        if harness.fits(state, job):
            harness.start(state, job)


# ---------------------------------------------------------------- selections


def takes_without_asking(state, job):
    harness.take(state, job, 0, state.jobs[job].procs)
    return True


def one_too_few(state, job):
    node = harness.next_free(state, -1)
    harness.take(state, job, node, 1)
    return True


def always_declines(state, job):
    return False


def ignores_memory(state, job):
    need = state.jobs[job].procs
    for node in range(len(state.nodes)):
        got = min(need, state.nodes[node].free)
        if got > 0:
            harness.take(state, job, node, got)
            need -= got
    return need == 0


# ---------------------------------------------------------------- rates, sleeps, energies


def stands_still(state):
    return 0.0 if state.clock.running > 1 else 1.0


def changes_its_mind(state):
    return 0.5 if state.clock.running > 0 else 1.0


def goes_to_sleep_later(state):
    if state.clock.completed > 0 and state.clock.queued > 0:
        raise ValueError("nobody was to ask again")


def negative(node, clock):
    return node.idle - 40.0 * node.busy


def by_the_hour(node, clock):
    return node.idle + 0.001 * clock.now


def charges_nobody(node, clock):
    node.busy = 0
    return node.peak


@harness.hookimpl
def order_queue():
    sound_traits = [
        not_a_number,
        divides_by_the_estimate,
        secretly_varies,
        asks_for_a_record_it_lacks,
        edits_the_job,
        halves_the_estimate,
        two_languages,
    ]
    plain = [global_coins, remembers_too_long]
    return [
        *(harness.Order(score.__name__, score, varies=score is divides_by_the_estimate) for score in sound_traits),
        *(harness.Order(score.__name__, score, compiled=False) for score in plain),
    ]


@harness.hookimpl
def start_jobs():
    guarantees = {
        overtakes: ("nobody overtakes",),
        reserves_nothing: ("first reservation",),
        later_and_later: ("every reservation",),
        starts_what_does_not_fit: (),
        starts_twice: (),
        forgets_the_wide: (),
        suspends_unasked: (),
        never_done: (),
        calls_in_the_past: (),
        widens_the_machine: (),
        shortens_the_wide: (),
    }
    greedy = harness.Start("promises_the_moon", reserves_nothing, guarantees=("everybody is happy",))
    turning = harness.Start("takes_turns", takes_turns, compiled=False)
    return [greedy, turning, *(harness.Start(start.__name__, start, guarantees=g) for start, g in guarantees.items())]


@harness.hookimpl
def select_resources():
    broken = [takes_without_asking, one_too_few, always_declines, ignores_memory]
    return [harness.Select(select.__name__, select) for select in broken]


@harness.hookimpl
def set_rate():
    return [
        harness.Rate("stands_still", stands_still),
        harness.Rate("changes_its_mind", changes_its_mind, constant=True),
    ]


@harness.hookimpl
def set_sleep():
    return [harness.Sleep("goes_to_sleep_later", goes_to_sleep_later, constant=True)]


@harness.hookimpl
def account_energy():
    return [harness.Energy(watts.__name__, watts) for watts in (negative, by_the_hour, charges_nobody)]
