"""A configuration of Slurm in the place of policies: in fields, in comparisons, and from Python.

It is written as the name of the file, with that of what `sacctmgr dump` writes behind a `+` if there is one:
`slurm.conf`, `slurm.conf + accounts.dump`.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from harness.disk.stored import stored_bytes
from harness.errors import HarnessError
from harness.platform.machine import Platform
from harness.platform.windows import Window
from harness.policy.scheduler import SLURM, Chosen, Policies, Scheduler
from harness.results.schedule import Schedule
from harness.results.timeline import Placements, Timeline
from harness.slurm.associations import read_shares
from harness.slurm.cluster import Cluster, cluster_of
from harness.slurm.configuration import read_slurm
from harness.slurm.fair_tree import Shares
from harness.slurm.requests import Said
from harness.slurm.slurm_replay import slurm_platform, slurm_replay
from harness.workload.log import Workload

Progress = Callable[[int, int], None]

#: Why a Slurm does not go on from a live machine.
BEGINS_EMPTY = "the model of a Slurm begins with an empty machine"


@dataclass(frozen=True, eq=False)
class SlurmScheduler(Chosen):
    """Slurm as configured by a file, with accounts if they are known; of policies it has none."""

    choices: Mapping[str, Any] = field(default_factory=dict)
    written_as: str = field(kw_only=True)
    cluster: Cluster = field(kw_only=True)
    shares: Shares = field(kw_only=True)
    digest: str = field(kw_only=True)  # SHA-256 of all that was read
    said: Said = field(default_factory=dict, kw_only=True)  # what a dump of sacct says of the jobs besides
    windows: tuple[Window, ...] = field(default=(), kw_only=True)  # when nodes are kept for nobody

    @property
    def names(self) -> dict[str, str]:
        """Return each part's policy, as tables show it."""
        usual = {part.name: str(part.default) for part in fields(Scheduler)}
        return usual | {"order": SLURM, "start": f"{SLURM}({self.written_as})", "select": SLURM, "energy": "none"}

    def __reduce__(self) -> Any:
        """Travel to other processes as it is: files need not be there."""
        return partial(SlurmScheduler, **{part.name: getattr(self, part.name) for part in fields(self)}), ()

    def on(self, machine: str, knows: Callable[..., bool], policies: Policies, *, told: bool = False) -> Chosen:
        """Return itself: it runs on its own nodes, and needs no figures of them."""
        return self

    @property
    def configured(self) -> str:
        """The configuration, as it is written."""
        return self.written_as

    @property
    def preemptive(self) -> bool:
        """Whether it may take running jobs off: that is not modelled."""
        return False

    @property
    def steady(self) -> bool:
        """Whether jobs run on at one rate as soon as they have started."""
        return True

    @cached_property
    def platform(self) -> Platform:
        """Its nodes."""
        return slurm_platform(self.cluster)

    @property
    def unmodelled(self) -> list[str]:
        """What of the configuration a replay leaves out, a sentence each."""
        return unmodelled(self.cluster, self.shares)

    def of(self, said: Said) -> "SlurmScheduler":
        """Return the scheduler of jobs of which a dump of sacct has said this."""
        return replace(self, said=said)

    def keeping(self, windows: tuple[Window, ...]) -> "SlurmScheduler":
        """Return the scheduler where nodes are kept for nobody in these windows."""
        return replace(self, windows=windows)

    def replay(
        self, workload: Workload, *, seed: int = 0, progress: Progress | None = None, timeline: Timeline | None = None,
        placements: Placements | None = None,
    ) -> Schedule:  # fmt: skip
        """Replay a workload; the seed draws when the loops look."""
        if workload.now is not None:
            raise HarnessError(f"{self.written_as}: {BEGINS_EMPTY}: expected no state")
        schedule = slurm_replay(
            workload, self.said, self.cluster, shares=deepcopy(self.shares), windows=self.windows, seed=seed,
            progress=progress, samples=timeline, places=placements,
        )  # fmt: skip
        return replace(schedule, policies=self)


def unmodelled(cluster: Cluster, shares: Shares) -> list[str]:
    """Return what of a configuration and its accounts a replay leaves out, a sentence each."""
    found = dict(cluster.unmodelled)
    limits = shares.limits
    if cluster.enforced:
        found |= limits.unmodelled
        if not limits.qos and not limits.accounts:
            found["AccountingStorageEnforce"] = "who may start: the limits of QOS and associations are not given"
    elif limits.any:
        found["the limits of QOS and associations"] = "nothing: AccountingStorageEnforce does not say limits"
    return [f"not modelled: {key}, which may change {what}" for key, what in found.items()]


def left_out(schedulers: Iterable[object]) -> list[str]:
    """Return what replays leave out of the configurations among some schedulers, a sentence each."""
    slurms = (one for one in schedulers if isinstance(one, SlurmScheduler))
    return [f"{one.configured}: {sentence}" for one in slurms for sentence in one.unmodelled]


def is_slurm(written: str) -> bool:
    """Return whether a scheduler is written as a configuration of Slurm: a file whose name ends with `.conf`."""
    return _names(written)[0].lower().endswith(".conf")


def read_slurm_scheduler(written: str) -> SlurmScheduler:
    """Read a configuration, and what describes accounts behind a `+`, as a scheduler."""
    return slurm_scheduler(*files_of(written))


def files_of(written: str) -> tuple[Path, Path | None]:
    """Return where a configuration is, and what describes accounts if that is written behind a `+`."""
    conf, *accounts = _names(written)
    if not conf or len(accounts) > 1:
        raise HarnessError(f"{written!r}: expected a slurm.conf, or slurm.conf + what sacctmgr dump writes")
    return Path(conf), Path(accounts[0]) if accounts else None


def slurm_scheduler(conf: Path, accounts: Path | None = None) -> SlurmScheduler:
    """Read a configuration, and what describes accounts, as a scheduler."""
    given = read_slurm(conf)
    shares = Shares() if accounts is None else read_shares(accounts)
    names = [conf] if accounts is None else [conf, accounts]
    beside = [conf.parent / "topology.conf", *names[1:]]
    contents = [given.digest.encode(), *(stored_bytes(one, "a file") for one in beside if one.exists())]
    digest = hashlib.sha256(b"\0".join(contents)).hexdigest()
    return SlurmScheduler(
        written_as=" + ".join(map(str, names)), cluster=cluster_of(given), shares=shares, digest=digest
    )


def _names(written: str) -> list[str]:
    """Return the names of the files; tables write `slurm(…)` about them."""
    match = re.fullmatch(rf"\s*{SLURM}\((.*)\)\s*", written)
    return [name.strip() for name in (match[1] if match else written).split(" + ")]
