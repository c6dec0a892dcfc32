"""Accounts, their users and QOS, and the fair shares that follow from what was used: Slurm's fair tree.

An account or user has `norm shares`, its part of what its siblings have, and a usage that decays. Siblings are ranked
by the first over the second; users, walked through in that order, level by level, get the factors 1 to 1/n.
"""

import math
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from harness.slurm.limits import Limited

#: The account above all others.
ROOT = "root"

#: The shares of `Fairshare=parent`: an account whose members compete beside it; users who come first in theirs, as one.
PARENT = math.inf


class Sibling(NamedTuple):
    """An account, or a user of one, beside others."""

    level: float  # how much less than its share was used
    who: str | tuple[str, str]


@dataclass
class Shares:
    """The tree of accounts and users, their shares and usage."""

    parent: dict[str, str] = field(default_factory=dict)  # account → account
    accounts: dict[str, float] = field(default_factory=dict)  # account → shares
    users: dict[tuple[str, str], float] = field(default_factory=dict)  # (account, user) → shares
    qos: dict[str, float] = field(default_factory=dict)  # QOS → priority
    used: dict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))  # CPU seconds, decayed
    limits: Limited = field(default_factory=Limited)  # what QOS and associations allow
    ranked: dict[tuple[str, str], float] = field(default_factory=dict)  # the factors, when they were last looked at

    def know(self, account: str, user: str) -> None:
        """Give an account or user that nobody described one share."""
        self.accounts.setdefault(account, 1.0)
        self.users.setdefault((account, user), 1.0)

    def decay(self, factor: float) -> None:
        """Let what was used count for less."""
        for who in self.used:
            self.used[who] *= factor

    def use(self, account: str, user: str, amount: float) -> None:
        """Count what a job has used."""
        self.used[account, user] += amount

    def counted(self, qos: str) -> float:
        """Return how much of what a job of this QOS uses counts: its UsageFactor."""
        return self.limits.qos[qos].usage if qos in self.limits.qos else 1.0

    def qos_factor(self, name: str) -> float:
        """Return the priority of a QOS over the highest."""
        highest = max(self.qos.values(), default=0.0)
        return self.qos.get(name, 0.0) / highest if highest > 0 else 0.0

    def factor(self, account: str, user: str) -> float:
        """Return the fair share of a user of an account as it was last ranked; one of whom nothing is known."""
        return self.ranked.get((account, user), 1.0)

    def rank(self) -> None:
        """Rank users by what they have used."""
        self.ranked = self.factors()

    def factors(self) -> dict[tuple[str, str], float]:
        """Return the fair share of every user of an account, between 0 and 1.

        Users of one level who are alike get the same. Accounts that are alike are one, whose members compete together;
        what is behind a user as an account that is like it begins with the same again.
        """
        found: dict[tuple[str, str], float] = {}
        self._rank(self._below([ROOT]), found, False)
        everybody = len(self.users)
        return {who: rank / everybody for who, rank in found.items()}

    def _rank(self, siblings: list[Sibling], found: dict[tuple[str, str], float], tied: bool) -> None:
        """Rank siblings, and those below them; `tied`: the first is like the last who was ranked. Changes `found`."""
        before = max(one.level for one in siblings) if tied and siblings else None
        for level, alike in groupby(sorted(siblings, key=lambda one: -one.level), key=lambda one: one.level):
            accounts = []
            for one in alike:
                if isinstance(one.who, str):
                    accounts.append(one.who)
                    continue
                last = next(reversed(found.values()), 0.0)
                found[one.who] = last if before == level else float(len(self.users) - len(found))
                before = level
            if accounts:
                self._rank(self._below(accounts), found, before == level)
            before = level

    def _below(self, accounts: list[str]) -> list[Sibling]:
        """Return the accounts and users of these accounts, each with its level among its own siblings; users first."""
        found = []
        for above in accounts:
            users, below = self._members(above)
            shares = sum(self.accounts[one] for one in below)
            shares += sum(self.users[who] for who in users if self.users[who] != PARENT)
            usage = {one: self._used_below(one) for one in below}
            everything = sum(usage.values()) + sum(self.used.get(who, 0.0) for who in users)
            found += [
                Sibling(_level(self.users[who], shares, self.used.get(who, 0.0), everything), who) for who in users
            ]
            found += [Sibling(_level(self.accounts[one], shares, usage[one], everything), one) for one in below]
        return sorted(found, key=lambda one: isinstance(one.who, str))

    def _members(self, account: str) -> tuple[list[tuple[str, str]], list[str]]:
        """Return the users and the accounts that compete below an account."""
        users = [who for who in self.users if who[0] == account]
        accounts = []
        for one in self._accounts_of(account):
            if self.accounts[one] != PARENT:
                accounts.append(one)
                continue
            theirs = self._members(one)
            users += theirs[0]
            accounts += theirs[1]
        return users, accounts

    def _accounts_of(self, account: str) -> list[str]:
        return [one for one in self.accounts if self.parent.get(one, ROOT) == account and one != account]

    def _used_below(self, account: str) -> float:
        own = sum(amount for who, amount in self.used.items() if who[0] == account)
        return own + sum(map(self._used_below, self._accounts_of(account)))


def _level(shares: float, all_shares: float, used: float, all_used: float) -> float:
    """Return how much less than its share somebody used: infinite where nothing was."""
    if shares == PARENT:
        return math.inf
    part = shares / all_shares if all_shares else 0.0
    if used <= 0 or all_used <= 0:
        return float("inf") if part else 0.0
    return part / (used / all_used)
