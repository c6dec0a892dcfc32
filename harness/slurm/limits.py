"""What QOS and associations allow: numbers of jobs and of things, of one job or of all that run, by whose they are.

Things are counted by Slurm's names (`cpu`, `node`, `mem` in MB, `gres/gpu`, `license/solver`), and by four more:
`jobs`, the `minutes` that a job may take, and `cpu minutes`, the processors of running jobs times what is left of their
limits; and `submitted`, jobs that wait or run.
"""

import re
from dataclasses import dataclass, field

from harness.errors import HarnessError, shortened
from harness.slurm.quantities import INFINITE, kilobytes, seconds

JOBS, MINUTES, CPU_MINUTES, SUBMITTED = "jobs", "minutes", "cpu minutes", "submitted"

#: A limit, as it is written in small letters → of what, and of which thing, if it is of one.
_KEYS = {
    "grpjobs": ("together", JOBS),
    "grptres": ("together", ""),
    "grpcpus": ("together", "cpu"),
    "grpnodes": ("together", "node"),
    "grpmem": ("together", "mem"),
    "grptresrunmins": ("together", CPU_MINUTES),
    "grptresrunmin": ("together", CPU_MINUTES),
    "grpcpurunmins": ("together", CPU_MINUTES),
    "maxjobs": ("of_user", JOBS),
    "maxjobspu": ("of_user", JOBS),
    "maxjobsperuser": ("of_user", JOBS),
    "maxtrespu": ("of_user", ""),
    "maxtresperuser": ("of_user", ""),
    "maxjobspa": ("of_account", JOBS),
    "maxjobsperaccount": ("of_account", JOBS),
    "maxtrespa": ("of_account", ""),
    "maxtresperaccount": ("of_account", ""),
    **dict.fromkeys(("grpsubmit", "grpsubmitjobs"), ("together", SUBMITTED)),
    **dict.fromkeys(("maxsubmit", "maxsubmitjobs", "maxsubmitpu", "maxsubmitjobsperuser"), ("of_user", SUBMITTED)),
    **dict.fromkeys(("maxsubmitpa", "maxsubmitjobsperaccount"), ("of_account", SUBMITTED)),
    "maxtres": ("of_job", ""),
    "maxtresperjob": ("of_job", ""),
    "maxcpus": ("of_job", "cpu"),
    "maxcpusperjob": ("of_job", "cpu"),
    "maxnodes": ("of_job", "node"),
    "maxnodesperjob": ("of_job", "node"),
    "maxwall": ("of_job", MINUTES),
    "maxwalldurationperjob": ("of_job", MINUTES),
    "mintres": ("least", ""),
    "mintresperjob": ("least", ""),
}

_BUDGETS = "who may start: time that was used up is not held against anybody"
_AGES = "who comes first: ages count from when jobs are eligible"

#: What is known and left out, and what it may change.
_LEFT_OUT = {
    **dict.fromkeys(("grptresmins", "grpcpumins", "grpwall", "maxtresmins", "maxtresminsperjob"), _BUDGETS),
    **dict.fromkeys(("grpjobsaccrue", "maxjobsaccrue", "maxjobsaccruepu", "maxjobsaccruepa", "minpriothres"), _AGES),
    **dict.fromkeys(("minpriothreshold", "minpriothresh"), _AGES),
    "maxtrespernode": "where jobs are placed",
    "preempt": "who is interrupted",
    "flags": "what its limits and reservations are",
    "partition": "the shares and limits of a user in one partition",
    "priority": "who comes first, by PriorityWeightAssoc",
}

#: What changes nothing without what is listed above, or nothing here.
_NOTHING = {
    "name", "description", "organization", "defaultaccount", "adminlevel", "coordinator", "defaultwckey", "wckeys",
    "qos", "defaultqos", "gracetime", "preemptexempttime", "preemptmode", "usagethres", "usagethreshold",
    "classification", "fairshare", "limitfactor",
}  # fmt: skip

_THING = re.compile(r"cpu|node|mem|gres/[\w.-]+|license/[\w.@-]+")


@dataclass
class Limits:
    """What one QOS or association allows; what does not stand here is not limited."""

    together: dict[str, float] = field(default_factory=dict)  # of all its running jobs
    of_user: dict[str, float] = field(default_factory=dict)  # of those of one user; of an association, the user's own
    of_account: dict[str, float] = field(default_factory=dict)  # of those of one account
    of_job: dict[str, float] = field(default_factory=dict)
    least: dict[str, float] = field(default_factory=dict)  # that a job must ask for
    usage: float = 1.0  # how much of what a job uses counts

    @property
    def any(self) -> bool:
        """Whether anything is limited."""
        return any((self.together, self.of_user, self.of_account, self.of_job, self.least))

    def add(self, key: str, value: str, where: object) -> str:
        """Take in a limit as it is written; return what it may change if it is left out, empty if it is not."""
        key = key.strip().lower()
        if value.strip().lower() in INFINITE:
            return ""
        if key == "usagefactor":
            self.usage = _share(value, where)
            return ""
        if key not in _KEYS:
            return "" if key in _NOTHING else _LEFT_OUT.get(key, "anything: it is not known here")
        scope, thing = _KEYS[key]
        whose: dict[str, float] = getattr(self, scope)
        if thing == MINUTES:
            whose[thing] = seconds(value, where) / 60.0
        elif thing == CPU_MINUTES and "=" in value:
            return self._add_minutes(value, whose, where)
        elif thing:
            whose[thing] = _number(value, where)
        else:
            return self._add_things(value, whose, where)
        return ""

    def _add_things(self, value: str, whose: dict[str, float], where: object) -> str:
        """Take in `cpu=10,mem=4G`; say if there is something in it that is not counted here."""
        for item in filter(None, value.strip("'\"").split(",")):
            name, equals, count = item.partition("=")
            if not equals:
                raise HarnessError(f"{where}: {shortened(item)}: expected a thing and how many, as in cpu=10")
            if not _THING.fullmatch(name.lower()):
                return f"how much of {name} is given out"
            if count != "-1":
                whose[name.lower()] = (
                    kilobytes(count, where) / 1024.0 if name.lower() == "mem" else _number(count, where)
                )
        return ""

    def _add_minutes(self, value: str, whose: dict[str, float], where: object) -> str:
        """Take in what is said of `cpu`; of other things minutes are not counted."""
        for item in filter(None, value.strip("'\"").split(",")):
            name, _, count = item.partition("=")
            if name.lower() != "cpu":
                return f"who may start, by minutes of {name}"
            whose[CPU_MINUTES] = _number(count, where)
        return ""


@dataclass
class Limited:
    """The limits of everybody."""

    qos: dict[str, Limits] = field(default_factory=dict)
    accounts: dict[str, Limits] = field(default_factory=dict)
    users: dict[tuple[str, str], Limits] = field(default_factory=dict)  # (account, user)
    unmodelled: dict[str, str] = field(default_factory=dict)  # what is left out → what it may change

    @property
    def any(self) -> bool:
        """Whether anybody is limited."""
        return any(one.any for kind in (self.qos, self.accounts, self.users) for one in kind.values())


def _share(value: str, where: object) -> float:
    """Return how much of something counts."""
    if not re.fullmatch(r"\d{1,9}(\.\d{0,12})?", value):
        raise HarnessError(f"{where}: UsageFactor={shortened(value)}: expected a number")
    return float(value)


def _number(value: str, where: object) -> float:
    """Return how many are allowed."""
    if not value.isdecimal() or len(value) > 15:
        raise HarnessError(f"{where}: the limit {shortened(value)}: expected a whole number")
    return float(value)
