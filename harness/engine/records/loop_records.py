"""The layouts of the loop's own records: its state, when decisions are taken, and how runtimes are estimated."""

import numpy as np

#: The most changes between standard and summer time within a run: twice a year for thirty years.
ZONES = 60

#: The state of the event loop. The modules `loop`, `decisions` and those of `events` write it.
LOOP = np.dtype(
    [
        ("changes", "i8"),  # policies whose answers change from one instant to the next, flags of `decisions`
        ("next_cancellation", "i8"),  # next entry of `cancellations`
        ("next_event", "i8"),  # next entry of `events` …
        ("window_ends", "i8"),  # … and how many of the applied ones were ends of maintenance windows
        ("next_completion", "f8"),  # when the next job completes in truth [s]
        ("level_reached", "f8"),  # when the work will have fallen to `clock.level` [s]
        ("idle_decisions", "i8"),  # instants in a row at which nothing was to come but timers, and no job ran
        ("policy_was_asked", "i8"),  # 1 when the start policy was asked at the last instant
        ("awaits_decision", "i8"),  # 1 when the loop has returned for a decision from outside
        ("next_signal", "i8"),  # next entry of `signal` …
        ("signal_origin", "f8"),  # … whose times count from this instant [s] …
        ("signal_period", "f8"),  # … and which repeats with this period [s], 0 if it does not
        ("next_zone", "i8"),  # next entry of …
        ("zone_time", "f8", (ZONES,)),  # … when wall clocks are changed [s], and …
        ("zone", "f8", (ZONES,)),  # … their offset from UTC since then, see `clock.zone` [s]
    ],
    align=True,
)

#: When decisions are taken. `prepare_run` writes it, and `completions` the number of arrivals.
TIMING = np.dtype(
    [
        ("per_event", "i8"),  # 1 if a decision follows each event …
        ("completions_first", "i8"),  # … and 1 if the completions of an instant come before its submissions
        ("arrivals_per_decision", "i8"),  # most submissions that one decision follows
        ("interval", "f8"),  # time between two scheduling passes [s], 0 if each decision is one
        ("main_interval", "f8"),  # time between two starts in queue order [s], 0 at each event, −1 never
        ("backfill_depth", "i8"),  # most waiting jobs that a pass considers
        ("horizon", "f8"),  # how far ahead a pass may plan [s]
    ],
    align=True,
)

#: How runtimes are estimated: properties of the predictor. `prepare_run` alone writes it.
ESTIMATES = np.dtype(
    [
        ("predicted", "i8"),  # 1 if a predictor sets the estimates
        ("learns", "i8"),  # 1 if it learns from completed jobs
        ("uncapped", "i8"),  # 1 if estimates may exceed the requested time
        ("clairvoyant", "i8"),  # 1 if it reads the true work in `job.service`
    ],
    align=True,
)
