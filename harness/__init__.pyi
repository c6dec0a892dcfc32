"""Every public name and where it lives: read by type checkers and editors, and by `harness/__init__.py` itself."""

# ruff: noqa: I001 - one line a module, not one a name

from .policy_api.compiled_policies import PlainPython as PlainPython
from .disk import bundled as bundled
from .engine.plan.head_reservation import reservation as reservation
from .engine.plan.width_limits import narrowest as narrowest, widest as widest
from .engine.resources.allocation import take as take
from .engine.resources.capacity import procs_per_node as procs_per_node
from .engine.faults import PolicyError as PolicyError
from .engine.observation import described as described
from .engine.events.clocks_and_signals import hour as hour, weekday as weekday
from .engine.time_comparison import later as later
from .engine.decorators import jit as jit
from .engine.plan.width import left_on as left_on, mold as mold
from .engine.resources.nodes import (
    fits as fits,
    next_free as next_free,
    nodes_of as nodes_of,
    room as room,
    suits as suits,
)
from .engine.queue.queue_iteration import next_overtaker as next_overtaker
from .engine.queue.queue_iteration import next_waiting as next_waiting
from .engine.power.draw import drawn as drawn, load_share as load_share, power_at as power_at, work_left as work_left
from .engine.plan.count_profile import (
    earliest_fit as earliest_fit,
    forget_past as forget_past,
    plan_from_running as plan_from_running,
    release as release,
    reserve as reserve,
)
from .engine.plan.reserved_starts import (
    unpromised as unpromised,
)
from .engine.queue.waiting_jobs import departed as departed, running as running, waiting as waiting
from .engine.records.public import (
    ASLEEP as ASLEEP,
    AWAKE as AWAKE,
    CANCELLED as CANCELLED,
    COMPLETED as COMPLETED,
    DOWN as DOWN,
    FALLING as FALLING,
    HELD as HELD,
    INFINITY as INFINITY,
    KILLED as KILLED,
    RUNNING as RUNNING,
    SUSPENDED as SUSPENDED,
    UNACCEPTED as UNACCEPTED,
    WAITING as WAITING,
    WAKING as WAKING,
)
from .engine.resources.node_classes import count_alike as count_alike, unlike as unlike
from .engine.resources.idle_nodes import longest_vacant as longest_vacant
from .engine.verbs import (
    QUEUE_ORDER as QUEUE_ORDER,
    call_again as call_again,
    call_at_work as call_at_work,
    call_not_before as call_not_before,
    prefix as prefix,
    put_to_sleep as put_to_sleep,
    ranked as ranked,
    reject as reject,
    requeue as requeue,
    sleep_when_idle as sleep_when_idle,
    arrival_does_not_fit as arrival_does_not_fit,
    start as start,
    suspend as suspend,
    uniform as uniform,
    wake as wake,
    when as when,
)
from .engine.plan.boot_time import boot_time as boot_time, longest_boot as longest_boot
from .errors import HarnessError as HarnessError
from .experiment.identification import Likeness as Likeness, identify as identify
from .experiment.runner import tournament as tournament
from .experiment.simulation import simulate as simulate
from .experiment.stepwise import Moment as Moment, Steps as Steps, steps as steps
from .experiment.stored_results import Results as Results
from .gate.checking import check as check
from .gate.verdict import Verdict as Verdict
from .platform.description import read_description as read_description
from .platform.finding import find_platform as find_platform
from .platform.machine import (
    NodeType as NodeType,
    PerformanceState as PerformanceState,
    Platform as Platform,
    SleepState as SleepState,
    plain as plain,
)
from .platform.windows import Window as Window, read_windows as read_windows
from .platform.platform_reading import read_platform as read_platform
from .platform.server_tables import (
    is_platform_table as is_platform_table,
    read_platform_table as read_platform_table,
)
from .platform.specpower import read_spec as read_spec
from .policy import hooks as hooks
from .policy.calendar_table import read_calendar as read_calendar
from .policy.limit_table import read_limits as read_limits
from .policy.hooks import hookimpl as hookimpl
from .policy.per_key_memory import (
    per_group as per_group,
    per_job as per_job,
    per_node as per_node,
    per_queue as per_queue,
    per_user as per_user,
)
from .policy.kinds import (
    Energy as Energy,
    Hold as Hold,
    Order as Order,
    Policy as Policy,
    Predict as Predict,
    Prefer as Prefer,
    Rate as Rate,
    Select as Select,
    Sleep as Sleep,
    Start as Start,
)
from .policy.learner import learner as learner
from .policy.records import (
    Clock as Clock,
    Columns as Columns,
    Dice as Dice,
    Job as Job,
    Memory as Memory,
    Node as Node,
    Share as Share,
    State as State,
)
from .policy.registry import Plugins as Plugins, register as register, unregister as unregister
from .policy.scheduler import Scheduler as Scheduler
from .policy.spec import Choice as Choice, call as call, parse as parse
from .policy.timing import DecisionTiming as DecisionTiming
from .policy.template import new_distribution as new_distribution
from .ranking.leaderboard import leaderboard as leaderboard
from .ranking.ranking import Ranking as Ranking, rank as rank
from .report.page import run_page as run_page, tournament_page as tournament_page
from .results.adequacy import Adequacy as Adequacy, UndefinedError as UndefinedError, adequacy as adequacy
from .results.measures import Measure as Measure, extra_measures as extra_measures
from .results.repeatability import Repeatability as Repeatability, repeatability as repeatability
from .results.schedule import Schedule as Schedule
from .slurm.configuration import SlurmConfiguration as SlurmConfiguration, read_slurm as read_slurm
from .slurm.slurm_scheduler import read_slurm_scheduler as read_slurm_scheduler
from .slurm.slurm_execution import SlurmExecution as SlurmExecution, execute as execute
from .workload.batsim import is_batsim as is_batsim, read_batsim as read_batsim
from .workload.catalogue import find_trace as find_trace
from .workload.elastisim import is_elastisim as is_elastisim, read_elastisim as read_elastisim
from .workload.events import Events as Events, read_events as read_events
from .workload.schedule_files import is_schedule as is_schedule, read_schedule as read_schedule
from .workload.frame import is_table as is_table, log_from_frame as log_from_frame, read_table as read_table
from .workload.hpcwld import is_hpcwld as is_hpcwld, read_hpcwld as read_hpcwld
from .workload.log import Log as Log, Step as Step, Workload as Workload
from .workload.prepare import prepare as prepare
from .workload.log_reading import read_workload as read_workload
from .workload.archive_traces import is_published as is_published, read_published as read_published
from .workload.resampling import resample as resample
from .workload.sacct import is_sacct as is_sacct, read_sacct as read_sacct
from .workload.signals import Signal as Signal, read_signal as read_signal
from .workload.snapshot import Snapshot as Snapshot, at_instant as at_instant, followed_by as followed_by
from .workload.state_file import read_state as read_state
from .workload.swf import read_swf as read_swf, write_swf as write_swf
from .workload.synthetic import lublin as lublin, poisson as poisson

__version__: str
