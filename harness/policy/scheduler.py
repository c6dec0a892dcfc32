"""The policies of a scheduler: as a user writes them, and as found among the plugins."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from harness.errors import CannotRunError, HarnessError
from harness.policy.declared_traits import NEEDED, SIGNAL
from harness.policy.kinds import KINDS, Order, Policy, Start
from harness.policy.spec import Choice, choose

#: The largest depth of orders that wrap each other.
DEEPEST = 8

#: The name in tables for the parts of a scheduler that a Slurm configuration decides.
SLURM = "slurm"

Policies = Mapping[str, Mapping[str, Policy]]  # hook → name → policy, as in `Plugins.policies`

#: Energy policies, in the order of the data that they need: the default is the first that the platform allows.
RICHEST = ("spec", "cores", "peas", "none")


@dataclass(frozen=True)
class Scheduler:
    """Policies, one for each decision, as a user writes them: `easy`, `easy(reservations=2)`, …

    Several holds may be given: `limits(user_jobs=8) + begin`. Queues with their own order and start policy may follow
    the start policy: `easy + night(queue=3, order=spf, start=none)`.
    """

    order: str = "fcfs"
    start: str = "easy"
    select: str = "first-fit"
    rate: str = "full"
    sleep: str = "never"
    energy: str = ""  # by default, the first of RICHEST that the platform allows
    predict: str = "requested"
    hold: str = "none"

    #: The hook of each field.
    HOOKS: ClassVar[dict[str, str]] = {kind.part: kind.hook for kind in KINDS.values()}

    def choose(self, policies: Policies) -> "Chosen":
        """Return the policies with their parameters, found in `policies`; raise an error for an unknown name."""
        choices = {}
        for part, hook in self.HOOKS.items():
            spec = getattr(self, part)
            if spec or part != "energy":
                choices[part] = choose(spec, hook, policies[hook])
        return choose_all(choices, policies)


def choose_all(choices: Mapping[str, Choice], policies: Policies) -> "Chosen":
    """Return the scheduler of these choices, with the default policy for every other part."""
    found = dict(choices)
    for part in fields(Scheduler):
        if part.name not in found:
            hook = Scheduler.HOOKS[part.name]
            found[part.name] = Choice.plain(policies[hook][str(part.default) or RICHEST[-1]])
    found["order"] = with_inner_order(found["order"], policies)
    second = second_order(found["start"], policies)
    found["second"] = with_inner_order(second, policies) if second else found["order"]
    found |= queue_choices(found["start"], policies)
    return Chosen(found, "energy" in choices)


def queue_choices(start: Choice, policies: Policies) -> dict[str, Choice]:
    """Return the policies of the queues of a start policy, by the names of `queue_part`."""
    found: dict[str, Choice] = {}
    names = [queue.name for queue in start.queues]
    for queue in start.queues:
        if names.count(queue.name) > 1:
            raise HarnessError(f"{str(start)!r}: two queues are called {queue.name!r}: expected different names")
        order = with_inner_order(choose(queue.order, Order.hook, policies[Order.hook]), policies)
        begins = choose(queue.start, Start.hook, policies[Start.hook])
        second = second_order(begins, policies)
        for one in (start, begins):
            if one.policy.preemptive or (one is begins and one.queues):
                problem = "preempts running jobs" if one.policy.preemptive else "has queues itself"
                raise HarnessError(
                    f"{str(one)!r}, a start policy of one of several queues, {problem}: expected another"
                )
        own = {"order": order, "start": begins, "second": with_inner_order(second, policies) if second else order}
        found |= {queue_part(part, queue): choice for part, choice in own.items()}
    return found


def queue_part(part: str, queue: Any) -> str:
    """Return the name of the part that a queue's own policy has."""
    return f"{part} of {queue}"


def second_order(start: Choice, policies: Policies) -> Choice | None:
    """Return the order that a start policy was given as a parameter, or None."""
    named = start.values.get(start.policy.order) if isinstance(start.policy, Start) else None
    return choose(named, Order.hook, policies[Order.hook]) if named else None


def with_inner_order(choice: Choice, policies: Policies, depth: int = 0) -> Choice:
    """Return the choice with the order that it wraps, if any."""
    policy = choice.policy
    if not (isinstance(policy, Order) and policy.order):
        return choice
    if depth == DEEPEST:
        raise HarnessError(f"{choice}: it wraps more than {DEEPEST} orders, or itself: expected fewer")
    inner = choose(choice.values[policy.order], Order.hook, policies[Order.hook])
    return replace(choice, inner=with_inner_order(inner, policies, depth + 1))


@dataclass(frozen=True, eq=False)
class Chosen(Mapping[str, Choice]):
    """The policies of a scheduler with the values of their parameters.

    There is one for each part of a scheduler, and `second`, the order of the start policy's parameter, or else of the
    queue. Queues with their own policies have these parts too.
    """

    choices: Mapping[str, Choice]
    energy_named: bool = True  # False: the platform determines it, see `on`

    def __getitem__(self, part: str) -> Choice:
        return self.choices[part]

    def __iter__(self) -> Iterator[str]:
        return iter(self.choices)

    def __len__(self) -> int:
        return len(self.choices)

    def __reduce__(self) -> Any:
        """Pickle as the text that the user wrote: another process finds the policies among its own plugins."""
        return Scheduler, tuple(self.written.values())

    @property
    def names(self) -> dict[str, str]:
        """The policy of each part with its parameters, as tables show it."""
        return {part: str(self[part]) for part in Scheduler.HOOKS}

    @property
    def in_full(self) -> dict[str, str]:
        """Each policy with default parameters → the policy with all its parameters."""
        found = {str(self[part]): self[part].in_full for part in Scheduler.HOOKS if part in self}
        return {short: full for short, full in found.items() if full != short}

    @property
    def written(self) -> dict[str, str]:
        """The arguments of the `Scheduler` that gives these policies again."""
        return self.names | ({} if self.energy_named else {"energy": ""})

    @property
    def configured(self) -> str:
        """The Slurm configuration that decides instead of policies, as written; empty if there is none."""
        return ""

    @property
    def preemptive(self) -> bool:
        """Whether it may preempt running jobs."""
        return bool(self["start"].policy.preemptive)

    @property
    def steady(self) -> bool:
        """Whether started jobs run at one rate without interruption."""
        return not self.preemptive and bool(self["rate"].policy.constant and self["sleep"].policy.constant)

    def on(self, machine: str, knows: Callable[..., bool], policies: Policies, *, told: bool = False) -> "Chosen":
        """Return the scheduler for a platform; raise an error if the platform lacks data that it needs.

        An empty table is refused too: it is the default of parameters that users must give. The energy policy defaults
        to the first of `RICHEST` that the platform allows. `knows` returns whether the platform has some data, `told`
        is whether there is a signal.
        """
        chosen = self
        if not self.energy_named:
            energies = policies[Scheduler.HOOKS["energy"]]
            best = next(energies[name] for name in RICHEST if knows(*energies[name].needs))
            chosen = replace(self, choices={**self.choices, "energy": Choice.plain(best)}, energy_named=True)
        for one in (one for choice in chosen.values() for one in choice.chain):
            policy = one.policy
            for name in (name for name, value in one.values.items() if value == ()):
                raise HarnessError(
                    f"the policy {policy.name!r} ({policy.hook}) has no {name}: expected a file, as in "
                    f"{policy.name}({name}=FILE)"
                )
            if SIGNAL in policy.needs and not told:
                raise HarnessError(
                    f"the policy {policy.name!r} ({policy.hook}) needs {NEEDED[SIGNAL]}: expected one (--signal FILE, "
                    "signal=), or another policy"
                )
            if missing := [figure for figure in policy.needs if figure != SIGNAL and not knows(figure)]:
                raise CannotRunError(
                    f"the policy {policy.name!r} ({policy.hook}) needs {NEEDED[missing[0]]}, which the platform "
                    f"{machine!r} lacks: expected another policy or platform"
                )
        return chosen
