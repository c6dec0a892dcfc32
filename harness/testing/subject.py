"""The tested policy, and its runs."""

import dataclasses
import functools
import inspect
import math
import shlex
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from harness.disk import bundled
from harness.engine import policy_kernels
from harness.engine.faults import PolicyError
from harness.engine.setup import Extras
from harness.engine.simulate import simulate
from harness.errors import HarnessError, did_you_mean
from harness.policy import scheduler
from harness.policy.declared_traits import INSTEAD, SIGNAL
from harness.policy.kinds import Policy, Prefer, Rate, Sleep, Start
from harness.policy.registry import plugins as load_plugins
from harness.policy.scheduler import Scheduler, choose_all, with_inner_order
from harness.policy.spec import Choice, choose, first_table, parse
from harness.policy_api.policy_diagnostics import MisuseError
from harness.results.schedule import Schedule
from harness.testing.cases import Case
from harness.testing.prefer_as_select import as_select
from harness.workload.signals import read_signal

#: A run is stopped if no job ends during this many progress reports of 0.2 s.
PATIENCE = 15

#: The signal for policies that need one: its peak is at the beginning.
HEARD = "daily(low=50, high=300, peak=0)"

Chosen = dict[str, Choice]


class CheckError(Exception):
    """An error that a check found, in a sentence."""


class RunStopped(CheckError):  # noqa: N818 - the policy is at fault, not the harness
    """The run itself ended with an error."""


@dataclass(frozen=True)
class Subject:
    """The tested policy, its fixed parameters, and its origin."""

    policy: Policy
    fixed: Mapping[str, Any] = field(default_factory=dict)
    plugins: tuple[str, ...] = ()
    plain: str = ""  # the reason if it cannot be compiled

    @property
    def part(self) -> str:
        """Its part in a scheduler."""
        return self.policy.part

    @property
    def listens(self) -> bool:
        """Whether it reads a signal."""
        return SIGNAL in self.policy.needs

    def choose(self, case: Case) -> Chosen:
        """Return the scheduler of a case, with the policy in its part."""
        policies = load_plugins(*self.plugins).policies
        company = Scheduler(**({"energy": "none"} | dict(case.company))).choose(policies)
        mine = Choice(self.policy, {**self.policy.parameters, **case.values})
        return dict(choose_all({**company, self.part: mine}, policies))

    def run(self, case: Case, *, plain: bool = False, watched: Callable[[Chosen], Chosen] | None = None) -> Schedule:
        """Replay the case; an error that stops the run becomes `RunStopped`. `watched` adds recorders to the chosen
        policies.
        """
        chosen = self.choose(case)
        workload = case.workload(self.policy.columns)

        signs: list[int] = []  # the number of jobs that had ended, each time

        def patience(done: int, jobs: int) -> None:
            signs.append(done)
            if signs.count(done) > PATIENCE:
                raise RunStopped("the run does not end: a policy requests calls all the time")

        chosen = watched(chosen) if watched else chosen
        try:
            with np.errstate(all="ignore"):  # compiled code does not warn about overflows either
                extras = Extras(signal=read_signal(HEARD).at((), 0.0)) if self.listens else None
                outcome = simulate(
                    workload, case.platform, chosen, seed=case.seed, plain=plain, progress=patience, extras=extras
                )
        except (PolicyError, MisuseError) as error:
            raise RunStopped(f"the run was stopped: {error}") from error
        except (CheckError, HarnessError):
            raise
        except Exception as error:
            where = " ".join(getattr(error, "__notes__", []))
            raise RunStopped(f"the run was stopped by {type(error).__name__}: {error} {where}".rstrip()) from error
        return Schedule(workload, case.platform, scheduler.Chosen(chosen), case.seed, outcome)

    def command(self, case: Case, log: str = "failing.swf") -> str:
        """Return the command that replays the case if its platform has a name, else Python code."""
        parts = dict(case.company)
        chosen = Choice(self.policy, {**self.policy.parameters, **case.values})
        parts[self.part] = str(chosen)
        further = self.policy.columns  # logs of this format do not have these
        if case.in_swf and not further and case.platform.name == f"{case.platform.cores} processors":
            words = ["harness", "run", log, "--procs", str(case.platform.cores)]
            words += ["--unknown", "cancel"] if case.impatient else []
            words += [word for path in self.plugins for word in ("--plugins", path)]
            words += [word for part, name in parts.items() for word in (f"--{part}", name)]
            words += ["--signal", HEARD] if self.listens else []
            return shlex.join(words + (["--seed", str(case.seed)] if case.seed else []))
        platform = python(case.platform)
        jobs = f'harness.prepare(harness.read_swf("{log}"), unknown="cancel")'
        if further or not case.in_swf:
            jobs = f"Case({python(case.jobs)}, {platform}).workload({further or ''})"
        named = ", ".join(f"{part}={name!r}" for part, name in parts.items())
        call = (
            f"harness.simulate({jobs}, {platform}, harness.Scheduler({named}), seed={case.seed}, "
            f"plugins={list(self.plugins)}{f', signal={HEARD!r}' if self.listens else ''})"
        )
        homes = {"Case": "harness.testing.cases", "Job": "harness.testing.cases", "NodeType": "harness"}
        homes |= {"Platform": "harness", "Window": "harness"}
        homes |= dict.fromkeys(("PerformanceState", "SleepState"), "harness.platform.machine")
        imports = [f"from {home} import {name}" for name, home in homes.items() if f"{name}(" in call]
        return "\n".join(["import harness", *imports, call])


def python(thing: Any) -> str:
    """Return the Python expression of a platform, without default values."""
    if isinstance(thing, tuple):
        return "(" + "".join(f"{python(item)}, " for item in thing).rstrip() + ")"
    if not dataclasses.is_dataclass(thing):
        return 'float("inf")' if thing == math.inf else repr(thing)
    given = [
        f"{f.name}={python(getattr(thing, f.name))}"
        for f in dataclasses.fields(thing)
        if getattr(thing, f.name) is not f.default and getattr(thing, f.name) != f.default
    ]
    return f"{type(thing).__name__}({', '.join(given)})"


def find(policy: Policy | str, hook: str | None = None, plugins: Iterable[str | Path] = ()) -> Subject:
    """Return the subject for a policy, or for a specification such as `easy(reservations=2)`."""
    paths = tuple(str(path) for path in ((plugins,) if isinstance(plugins, str | Path) else plugins))
    if isinstance(policy, Policy):
        return _ready(Subject(policy, plugins=paths or _file_of(policy)))
    known = load_plugins(*paths).policies
    everybody = {name: one for offered in known.values() for name, one in offered.items()}
    name, given = parse(policy, first_table(policy, everybody))
    if hook is not None and hook not in known:
        raise HarnessError(f"there is no hook {hook!r}; {did_you_mean(hook, known)}")
    homes = [h for h in known if name in known[h] and hook in (None, h)]
    if not homes:
        names = {n for h in known for n in known[h] if hook in (None, h)}
        raise HarnessError(f"there is no policy {name!r}; {did_you_mean(name, names)}")
    if len(homes) > 1:
        raise HarnessError(f"{name!r} is a policy of {' and of '.join(homes)}: choose one with hook={homes[0]!r}")
    found = choose(policy, homes[0], known[homes[0]])
    return _ready(Subject(found.policy, {name: found.values[name] for name in given}, paths))


def _ready(subject: Subject) -> Subject:
    """Return the subject, changed to plain Python if numba refuses the policy, so that it is not compiled every
    time.
    """
    if not subject.policy.compiled:
        return replace(subject, plain="it declares compiled=False")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            policies = load_plugins(*subject.plugins).policies
            if policy_kernels.kernel_of(with_inner_order(Choice.plain(subject.policy), policies), 0).python is None:
                return subject
            reasons = [str(warning.message).rpartition("because ")[2] for warning in told]
        except (MisuseError, PolicyError):  # every run will raise it
            return subject
    return replace(
        subject, policy=replace(subject.policy, compiled=False), plain="".join(reasons) or "numba refuses it"
    )


def _file_of(policy: Policy) -> tuple[str, ...]:
    """Return the plugin file of a policy given as an object; empty for bundled and installed ones.

    Also empty if its file is no plugin that offers it, such as a script or a test.
    """
    function = _written(policy)
    path = inspect.getsourcefile(function) or ""
    if load_plugins().policies[policy.hook].get(policy.name) is policy:
        return ()
    if not path or Path(path).parent == bundled.folder("plugins"):
        return ()
    here = getattr(function, "__globals__", {}).values()
    if not any(inspect.isroutine(one) and hasattr(one, "harness_impl") for one in here):
        return ()  # do not run the file once more
    try:
        known = load_plugins(path).policies[policy.hook].get(policy.name)
    except HarnessError:
        return ()
    same = known is not None and getattr(_written(known), "__code__", 0) == getattr(function, "__code__", 0)
    return (path,) if same else ()


def _written(policy: Policy) -> Callable[..., Any]:
    """Return the function of a policy as its author wrote it, not compiled."""
    function: Callable[..., Any] = getattr(policy.function, "py_func", policy.function)
    return function


def with_recorders(
    policy: Policy, before: Callable[..., None] | None = None, after: Callable[..., None] | None = None
) -> Policy:
    """Return the policy in plain Python, with `before` called before it and `after(answer, …)` after it."""

    def around(function: Callable[..., Any]) -> Callable[..., Any]:
        inner = getattr(function, "py_func", function)
        if isinstance(policy, Start):
            inner = with_state(inner)

        @functools.wraps(inner)
        def watching(*arguments: Any) -> Any:
            if before:
                before(*arguments)
            answer = inner(*arguments)
            if after:
                after(answer, *arguments)
            return answer

        return watching

    if isinstance(policy, Prefer):
        policy = as_select(policy)
    watched = replace(policy, function=around(policy.function), compiled=False)
    if isinstance(watched, Start):
        instead: dict[str, Any] = {name: around(other) for name in INSTEAD if (other := getattr(watched, name))}
        return replace(watched, **instead)
    return replace(watched, constant=False) if isinstance(watched, Rate | Sleep) else watched


def with_state(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function of a start policy as one that takes the state first, then what else it takes."""
    parameters = list(inspect.signature(function).parameters.values())
    names = [one.name for one in parameters]
    others = [one for one in parameters if one.name != "state"]

    def called(state: Any, *arguments: Any) -> Any:
        given = dict(zip([one.name for one in others], arguments, strict=True), state=state)
        return function(*(given[name] for name in names))

    state = inspect.Parameter("state", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    called.__signature__ = inspect.Signature([state, *others])  # type: ignore[attr-defined]
    return functools.update_wrapper(called, function, assigned=("__module__", "__name__", "__qualname__", "__doc__"))


def add_recorders(chosen: Chosen, part: str, **calls: Callable[..., None]) -> None:
    """Add recorders to one of the chosen policies."""
    choice = chosen[part]
    chosen[part] = replace(choice, policy=with_recorders(choice.policy, **calls))
