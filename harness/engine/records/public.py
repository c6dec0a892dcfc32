"""The layouts of the records that the state of a simulation is made of, and the numbers that stand for words.

In compiled code `state.jobs[i].procs` is a machine load; in plain Python the same expression works, because
every array is a record array. Afterwards the arrays *are* the result table. `bundles.py` puts them together.

Two clocks run: `now`, the real time in seconds, and `virtual`, the integral of the service rate. Plans and due
times are virtual, so that switching the rate moves none of them.
"""

import numpy as np

# A job's life. Suspended jobs wait again once the decision that suspended them is over.
PENDING, WAITING, RUNNING, SUSPENDED, COMPLETED, CANCELLED, UNACCEPTED, KILLED = range(8)
HELD = PENDING  # submitted, and not in the queue

# What a node is up to. Between AWAKE and ASLEEP lie transitions that take time.
AWAKE, FALLING, ASLEEP, WAKING, DOWN = range(5)

# What may happen to nodes and jobs besides scheduling; see events.py.
NODE_DOWN, NODE_UP, JOB_DELETED, JOB_KILLED, JOB_REQUEUED, WINDOW_OVER = range(6)

# Why a predictor is asked.
FORETELLING, CORRECTING, LEARNING = range(3)

# Why a selection is asked although no job starts.
WONDERING, TRYING = 1, 2

#: How many levels of load a node's power is measured at: 0, 10, …, 100 %.
LEVELS = 11

INFINITY = float("inf")

#: One record per job, in order of submission, then of the log: a job's index is its place in that order.
#: Here too, what every start and end touches stands first.
JOB = np.dtype(
    [
        ("procs", "i8"),  # processors it needs, all at once
        ("left", "f8"),  # what is left of the estimate [s at reference speed]; of a running job, when last looked at
        ("status", "i4"),  # PENDING … KILLED
        ("nodes", "i4"),  # it last ran on
        ("score", "f8"),  # what the order gave it last, for a later time if scores only fall; lowest first
        ("submit", "f8"),  # [s]
        ("estimate", "f8"),  # what it is believed to take in all: requested, or predicted [s at reference speed]
        ("planned", "f8"),  # virtual time at which its estimate ends, once placed
        ("reserved", "f8"),  # virtual time promised to it, −1 none: room for the start policy
        ("start", "f8"),  # when it first began [s]
        ("end", "f8"),  # when it left [s]
        ("service", "f8"),  # time in service so far [s]
        ("speed", "f8"),  # of its slowest processor, relative to the reference
        ("energy", "f8"),  # its share of the nodes it used [J]
        ("ready", "f8"),  # when the last of its nodes is awake [s]; in service from then on
        ("slices", "i8"),  # first of its slices, −1 none
        ("boot", "f8"),  # time it held processors and waited for sleeping ones [s]
        ("lost", "f8"),  # time in service that an interruption made worthless [s]
        ("memory", "f8"),  # requested memory per processor [KB], 0 when unknown
        ("partition", "i4"),  # where it must run, −1 anywhere
        ("user", "i4"),  # who submitted it, −1 unknown
        ("group", "i4"),  # of that user, −1 unknown
        ("queue", "i4"),  # it was submitted to, −1 unknown
        ("number", "i8"),  # in the log
        ("preemptions", "i4"),  # times it was suspended
        ("restarts", "i4"),  # times it was interrupted and had to begin again
        ("index", "i4"),  # its place in `state.jobs`
        ("corrections", "i4"),  # times it outlived what it was predicted to take
        ("overhead", "f8"),  # work that suspensions added [s at reference speed]
        ("requested", "f8"),  # requested time [s at reference speed]
        ("predicted", "f8"),  # what it was first believed to take [s at reference speed]
    ],
    align=True,
)

#: One record per node. What is looked for among all nodes stands first, then what starts and ends of jobs touch, each
#: within a line of the cache.
NODE = np.dtype(
    [
        ("free", "i8"),  # cores nobody holds
        ("cores", "i8"),  # it has
        ("status", "i4"),  # AWAKE … DOWN
        ("depths", "i4"),  # how many sleep states it has
        ("vacant", "f8"),  # since when none of its cores is held [s]
        ("until", "f8"),  # when its present transition is over [s]
        ("speed", "f8"),  # per core, relative to the reference processor
        ("busy", "i8"),  # cores in service: cores − free, between decisions
        ("watts", "f8"),  # drawn now [W]
        ("first_draw", "i8"),  # where in `known_watts` stands what it draws with no busy core, −1 if it is not kept
        ("settled", "f8"),  # time up to which the sums stand [s]: share and the energies
        ("share", "f8"),  # ∫ watts / busy dt: what one busy core was charged so far [J]
        ("energy", "f8"),  # drawn so far [J]
        ("idle_energy", "f8"),  # of which awake with no busy core [J]
        ("idle", "f8"),  # [W] with no busy core, at the present rate
        ("peak", "f8"),  # [W] with all cores busy, at the present rate
        ("sleep_energy", "f8"),  # drawn asleep so far [J]
        ("transition_energy", "f8"),  # drawn falling asleep and waking so far [J]
        ("asleep", "f8"),  # time it slept so far [s]
        ("resting", "f8"),  # [W] while it is not awake: asleep, on the way there or back, or down
        ("wanted", "i4"),  # 1: it wakes as soon as it has fallen asleep
        ("depth", "i4"),  # which of its sleep states it is in, or was last; 0 is the lightest
        ("first_nap", "i4"),  # where its sleep states begin in `naps`
        ("pace_count", "i4"),  # how many performance states it has …
        ("first_pace", "i4"),  # … and where they begin in `paces`
        ("type", "i4"),  # which of the platform's types of nodes it is of
        ("partition", "i8"),  # it belongs to; −1 if the machine is in one piece
        ("memory", "f8"),  # [KB], infinite when unknown
        ("curve", "f8", (LEVELS,)),  # [W] at 0, 10, …, 100 % of its cores busy, at full rate
    ],
    align=True,
)

#: What a node draws at a rate; between two such performance states it is interpolated.
PACE = np.dtype(
    [
        ("rate", "f8"),  # 1 = full speed; the paces of a node rise
        ("idle", "f8"),  # [W] with no busy core
        ("peak", "f8"),  # [W] with all cores busy
    ],
    align=True,
)

#: One way for a node to sleep.
NAP = np.dtype(
    [
        ("watts", "f8"),  # [W] while asleep
        ("falling", "f8"),  # [W] while falling asleep
        ("waking", "f8"),  # [W] while waking
        ("down", "f8"),  # how long it takes to fall asleep [s]
        ("up", "f8"),  # how long it takes to wake [s]
    ],
    align=True,
)

#: What a node would have for a job at the instant that a plan looks at.
THEN = np.dtype(
    [
        ("free", "i8"),  # cores nobody holds then …
        ("room", "i8"),  # … and how many of them the job could have: memory and partition respected
        ("memory", "f8"),  # [KB]
        ("held", "i8"),  # room for what `nodes_of` answers
    ],
    align=True,
)

#: Some cores of one node held by one job; a job's slices are a linked list.
SLICE = np.dtype(
    [
        ("node", "i8"),  # on which node
        ("cores", "i8"),  # how many of its cores
        ("share", "f8"),  # `share` of the node when the job entered service [J]
        ("next", "i8"),  # place of the job's next slice, −1 none
    ],
    align=True,
)

#: What is counted of a user, a group, a queue or everybody, if a policy asks for it.
SHARE = np.dtype(
    [
        ("running", "i8"),  # jobs that hold processors
        ("running_procs", "i8"),  # … how many
        ("running_nodes", "i8"),  # … and nodes, counted once for each job
        ("queued", "i8"),  # jobs that wait in the queue
        ("queued_procs", "i8"),  # … for so many processors
        ("submitted", "i8"),  # jobs so far
        ("users", "i8"),  # who submitted them …
        ("groups", "i8"),  # … and in how many groups
        ("usage", "f8"),  # processor-seconds so far, each of which counts half after a half-life [s]
        ("balance", "f8"),  # what `usage` is worked out from
    ],
    align=True,
)

#: What happens now.
CLOCK = np.dtype(
    [
        ("now", "f8"),  # [s]
        ("virtual", "f8"),  # ∫ rate dt
        ("rate", "f8"),  # 1 = full speed
        ("since", "f8"),  # real time of the last rate switch …
        ("origin", "f8"),  # … and the virtual time then
        ("free", "i8"),  # processors nobody holds
        ("cores", "i8"),  # all processors
        ("down", "i8"),  # of which on nodes that are down
        ("booting", "i8"),  # of which held by jobs that wait for a sleeping node
        ("queued", "i8"),  # jobs waiting
        ("running", "i8"),  # jobs in service, or about to be when their nodes are awake
        ("held", "i8"),  # jobs that are submitted and held: they do not wait
        ("upset", "i8"),  # 2 when plans moved: nodes failed, woke late or at another rate; 1 when jobs only left
        ("arrived", "i8"),  # jobs that came at this instant …
        ("newcomer", "i8"),  # … and who joined the queue last
        ("completed", "i8"),  # jobs that finished at this instant
        ("departed", "i8"),  # jobs that finished, were cancelled or lost a reservation to a hold at this instant
        ("corrected", "i8"),  # above 0: beliefs corrected since the start policy was asked, or starts wait for a pass
        ("suspended", "i8"),  # jobs suspended by this decision
        ("started", "i8"),  # jobs started by this decision, or rejected
        ("preemptive", "i8"),  # 1 when the start policy may suspend jobs
        ("constrained", "i8"),  # above 0 when memory, partitions … or the selection may forbid free processors
        ("whole_seconds", "i8"),  # 1 when runtimes are rounded to whole seconds
        ("asks", "i8"),  # 1 when the selection says what it would decline …
        ("asking", "i8"),  # … and WONDERING while it is asked just that, TRYING while it places a job to be taken back
        ("next", "i8"),  # jobs that have been submitted: the next one to arrive
        ("decision_due", "i8"),  # 1 at an instant at which something happens that may matter to a policy
        ("transition", "f8"),  # when the next node changes its status [s]
        ("start_timer", "f8"),  # when the start policy wants to be called again [s]
        ("rate_timer", "f8"),  # the same of the rate policy
        ("sleep_timer", "f8"),  # the same of the sleep policy
        ("rate_from", "f8"),  # until when the rate policy wants to be left alone [s]
        ("sleep_from", "f8"),  # the same of the sleep policy
        ("level", "f8"),  # the rate policy wants to be called when the work has fallen to it [s], −1 never …
        ("work_level_reached", "i8"),  # … and 1 at the instant when it has
        ("profile_first", "i8"),  # window of the profile that is in use
        ("profile_last", "i8"),  # where that window ends
        ("demand", "f8"),  # estimated work of the waiting jobs [s]
        ("promised", "f8"),  # Σ planned · speed over the jobs in service, and …
        ("speed", "f8"),  # … Σ speed: together they give the estimated work in service
        ("decide_per_event", "i8"),  # 1 if a decision follows each event, submissions before completions
        ("began", "f8"),  # first instant of the run [s]
        ("epoch", "f8"),  # seconds since 1970 at time 0, by the log; not a number if it does not say
        ("zone", "f8"),  # how far clocks on the wall are ahead of UTC now, where the log is from [s]
        ("signal", "f8"),  # told from outside: carbon [g/kWh], or a price [€/MWh]; not a number without one
        ("signal_until", "f8"),  # when that changes next [s], infinity if never
        ("instants", "i8"),  # at which somebody was asked, this one too
        # what went wrong, for the message
        ("hook", "i8"),  # whose policy is being asked
        ("fault", "i8"),  # what it did wrong …
        ("culprit", "i8"),  # … to which job …
        ("node", "i8"),  # … on which node …
        ("value", "f8"),  # … and the number it gave
    ],
    align=True,
)
