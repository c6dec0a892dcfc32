"""Slurm's fair tree against a slow twin, and what of usage counts; from what a real controller wrote down."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness.slurm.associations import read_shares
from harness.slurm.fair_tree import PARENT, ROOT, Shares
from harness.slurm.priorities import Priorities

Who = tuple[str, str]

SHARES = st.sampled_from([0.0, 1.0, 2.0, PARENT])


def level(shares: float, everybody: float, used: float, all_used: float) -> float:
    """How much less than its share one of some siblings used."""
    part = shares / everybody if everybody else 0.0
    if used <= 0 or all_used <= 0:
        return float("inf") if part else 0.0
    return part / (used / all_used)


def used_by(tree: Shares, account: str) -> float:
    """What is used in an account and below it."""
    own = sum(amount for who, amount in tree.used.items() if who[0] == account)
    return own + sum(used_by(tree, one) for one, above in tree.parent.items() if above == account)


def competes_below(tree: Shares, account: str) -> str:
    """The account below which members of this one compete."""
    while tree.accounts.get(account) == PARENT:
        account = tree.parent[account]
    return account


def path(tree: Shares, who: Who) -> tuple[float, ...]:
    """The levels from below the root down to a user."""
    found: list[float] = []
    above = competes_below(tree, who[0])
    name: Who | str = who
    while True:
        shares: dict[Who | str, float] = {}
        shares |= {one: amount for one, amount in tree.users.items() if competes_below(tree, one[0]) == above}
        shares |= {
            one: amount
            for one, amount in tree.accounts.items()
            if amount != PARENT and competes_below(tree, tree.parent[one]) == above
        }
        used = {one: used_by(tree, one) if isinstance(one, str) else tree.used.get(one, 0.0) for one in shares}
        counted = sum(amount for amount in shares.values() if amount != PARENT)
        mine = shares[name]
        found.insert(0, mine if mine == PARENT else level(mine, counted, used[name], sum(used.values())))
        if above == ROOT:
            return tuple(found)
        name, above = above, competes_below(tree, tree.parent[above])


def slowly(tree: Shares) -> dict[Who, float]:
    """Sort users by their levels from above; who is alike, or alike as far as an account goes, has the same rank."""
    paths = sorted(((path(tree, who), who) for who in tree.users), key=lambda one: [-number for number in one[0]])
    found: dict[Who, float] = {}
    rank = 0
    before: tuple[float, ...] | None = None
    for place, (levels, who) in enumerate(paths):
        if before is None or levels[: len(before)] != before:
            rank = len(paths) - place
        found[who] = rank / len(paths)
        before = levels
    return found


@st.composite
def trees(draw: st.DrawFn) -> Shares:
    """Accounts one below another, and users of each of them, with few different shares and usages."""
    tree = Shares()
    names = [ROOT]
    for number in range(draw(st.integers(0, 5))):
        name = f"a{number}"
        tree.accounts[name], tree.parent[name] = draw(SHARES), draw(st.sampled_from(names))
        names.append(name)
    everywhere = [*names[1:], *draw(st.lists(st.sampled_from(names), min_size=1, max_size=4))]
    for number, account in enumerate(everywhere):
        who = account, f"u{number}"
        tree.users[who] = draw(SHARES)
        if amount := draw(st.integers(0, 2)):
            tree.use(*who, float(amount))
    return tree


@settings(max_examples=300, deadline=None)
@given(trees())
def test_the_tree_ranks_as_sorting_by_all_levels_does(tree: Shares) -> None:
    assert tree.factors() == pytest.approx(slowly(tree))


def test_whoever_used_nothing_is_first_with_all_who_used_nothing() -> None:
    """As a real controller said of five users and root before anything ran: 1.0 for each."""
    tree = Shares()
    tree.accounts, tree.parent = {"a": 40.0, "b": 20.0}, {"a": ROOT, "b": ROOT}
    tree.users = {(ROOT, "root"): 1.0, ("a", "ann"): 2.0, ("a", "bob"): 1.0, ("b", "cy"): 1.0}
    assert set(tree.factors().values()) == {1.0}
    tree.use("a", "bob", 100.0)
    assert tree.factors() == {(ROOT, "root"): 1.0, ("b", "cy"): 1.0, ("a", "ann"): 0.5, ("a", "bob"): 0.25}


@pytest.mark.parametrize(
    "accounts",
    [
        [(f"a{k}", f"a{k + 1}") for k in range(20_000)],
        [("root", "a0"), *((f"a{k}", f"a{k + 1}") for k in range(200))],
        [("root", "a"), ("a", "b"), ("b", "a")],
        [("a", "a")],
    ],
    ids=["very deep", "deep", "a circle", "below itself"],
)
def test_accounts_that_lie_deep_or_in_a_circle_are_refused(tmp_path: Path, accounts: list[tuple[str, str]]) -> None:
    path = tmp_path / "accounts.dump"
    path.write_text("".join(f"Parent - '{above}'\nAccount - '{name}':Fairshare=1\n" for above, name in accounts))
    with pytest.raises(
        HarnessError, match=r"accounts.dump: the account \w+: expected fewer than 100 accounts above it"
    ):
        read_shares(path)


def test_accounts_may_lie_in_each_other(tmp_path: Path) -> None:
    path = tmp_path / "accounts.dump"
    chain = [("root", "a0"), *((f"a{k}", f"a{k + 1}") for k in range(90))]
    lines = [f"Parent - '{above}'\nAccount - '{name}':Fairshare=1\n" for above, name in chain]
    path.write_text("".join(lines) + "Parent - 'a90'\nUser - 'x':Fairshare=1\n")
    assert read_shares(path).factors() == {("a90", "x"): 1.0}


def test_shares_of_the_parent_are_what_a_real_controller_says(tmp_path: Path) -> None:
    """As sshare printed it: bob comes first in his account, whatever he used; cy and di are one."""
    path = tmp_path / "accounts.dump"
    path.write_text(
        "Parent - 'root'\nUser - 'root':Fairshare=1\nAccount - 'physics':Fairshare=30\n"
        "Account - 'biology':Fairshare=10\nParent - 'physics'\nUser - 'ann':Fairshare=2\n"
        "User - 'bob':Fairshare=parent\nParent - 'biology'\nUser - 'cy':Fairshare=parent\n"
        "User - 'di':Fairshare=parent\n"
        "Account|User|RawUsage\nbiology|cy|423\nbiology|di|856\nphysics|ann|564\nphysics|bob|1968\n"
    )
    shares = read_shares(path)
    assert not shares.limits.unmodelled
    assert shares.factors() == {
        (ROOT, "root"): 1.0, ("physics", "bob"): 0.8, ("physics", "ann"): 0.6, ("biology", "cy"): 0.4,
        ("biology", "di"): 0.4,
    }  # fmt: skip


def test_an_account_with_shares_of_its_parent_has_its_users_compete_there() -> None:
    """As another controller said, by its log at debug2 with DebugFlags=Priority."""
    tree = Shares()
    tree.accounts = {"physics": 40.0, "biology": PARENT, "optics": 10.0}
    tree.parent = dict.fromkeys(tree.accounts, ROOT)
    tree.users = {("physics", "ann"): 2.0, ("physics", "bob"): PARENT, ("biology", "cy"): 1.0, ("biology", "di"): 1.0}
    tree.users |= {("optics", "ed"): 1.0, (ROOT, "root"): 1.0}
    used = {"di": 5430, "cy": 2382, "ann": 2059, "bob": 2319, "ed": 1020, "root": 0}
    tree.used.update({who: float(used[who[1]]) for who in tree.users})
    said = {"root": 1.0, "ed": 0.833333, "bob": 0.666667, "ann": 0.5, "cy": 0.333333, "di": 0.166667}
    assert {who[1]: factor for who, factor in tree.factors().items()} == pytest.approx(said, abs=1e-6)


def test_what_was_used_until_now_is_read_as_sshare_prints_it(tmp_path: Path) -> None:
    """`sshare -a -P` of a real controller, below a dump and the QOS."""
    path = tmp_path / "accounts.dump"
    path.write_text(
        "Cluster - 'c':Fairshare=1\nParent - 'root'\nAccount - 'biology':Fairshare=10\n"
        "Account - 'physics':Fairshare=30\nParent - 'biology'\nUser - 'cy':Fairshare=1\nParent - 'physics'\n"
        "User - 'ann':Fairshare=2\nUser - 'bob':Fairshare=1\n"
        "Name|Priority\nnormal|0\n"
        "Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare\n"
        "root|||0.000000|2594||\n root|root|1|0.024390|0|0.000000|1.000000\n"
        " biology||10|0.243902|793|0.305700|\n  biology|cy|1|1.000000|793|1.000000|0.250000\n"
        " physics||30|0.731707|1801|0.694300|\n  physics|ann|2|0.666667|1398|0.776235|0.500000\n"
        "  physics|bob|1|0.333333|402|0.223209|0.750000\n"
    )
    shares = read_shares(path)
    shares.users[ROOT, "root"] = 1.0
    assert shares.qos == {"normal": 0.0}
    assert {who: used for who, used in shares.used.items() if used} == {
        ("biology", "cy"): 793.0, ("physics", "ann"): 1398.0, ("physics", "bob"): 402.0,
    }  # fmt: skip
    cluster = SimpleNamespace(partitions={"p": SimpleNamespace(factor=1)})
    Priorities(cluster, shares)  # type: ignore[arg-type]
    expected = {("physics", "ann"): 0.5, ("physics", "bob"): 0.75, ("biology", "cy"): 0.25, (ROOT, "root"): 1.0}
    assert {who: shares.factor(*who) for who in expected} == expected  # what sshare says, too
    path.write_text("Account|User|RawUsage\nphysics|ann|much\n")
    with pytest.raises(HarnessError, match=r"line 2: RawUsage much: expected CPU seconds"):
        read_shares(path)


@pytest.mark.parametrize("enforced", [False, True])
def test_the_last_of_a_job_counts_where_limits_are_in_force(enforced: bool) -> None:
    """Counted at 18 s of 3 processors it is 53.627 of 54 (a real controller's number), less after a minute more."""
    tree = Shares()
    weights = SimpleNamespace(half_life=1800.0, any=False)
    cluster = SimpleNamespace(partitions={"p": SimpleNamespace(factor=1)}, weights=weights, enforced=enforced)
    priorities = Priorities(cluster, tree)  # type: ignore[arg-type]
    request = SimpleNamespace(account="a", user="bob", qos="")
    running = SimpleNamespace(places={0: 3}, counted=0.0, request=request)
    priorities.decay([], [running], 18.0)  # type: ignore[list-item]
    assert tree.used["a", "bob"] == pytest.approx(53.627, abs=0.001)
    priorities.ended(running, 48.0)  # type: ignore[arg-type]
    priorities.decay([], [], 78.0)
    last = 3 * 30 * 0.5 ** (30 / 1800) if enforced else 0.0
    assert tree.used["a", "bob"] == pytest.approx((54 * 0.5 ** (18 / 1800) + last) * 0.5 ** (60 / 1800))
