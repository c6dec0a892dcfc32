"""The stochastic recursion of Rumyantsev, Morozova and Basmadjian (2018), as printed: equations (1) to (12).

Shares nothing with the harness. Letters are the paper's: at the epoch T_i the system holds the customers M, of which
`served` (its curly M) are in service; B is what remains of each one's work, R the rate. Where the paper cannot be
meant literally, "What the results mean" in harness/README.md is followed: the served set of LPF and SPF is chosen anew
at departures, and at an arrival a newcomer only takes free servers if nobody waits; the rate falls at the workload k_L
as fast as all customers in service work it off.
"""

# ruff: noqa: N802, N803, SIM300 - the names and the sides of the inequalities are the paper's

from dataclasses import dataclass
from itertools import pairwise

FCFS, LCFS, LPF, SPF = "FCFS", "LCFS", "LPF", "SPF"


@dataclass(frozen=True)
class Epoch:
    """The state at T_i, and what is derived from it."""

    T: float
    kind: str  # A, D or S: arrival, departure, switching
    M: tuple[int, ...]
    served: frozenset[int]
    B: dict[int, float]
    R: float
    N: dict[int, int]
    c: int

    @property
    def W(self):
        return sum(self.B.values())

    @property
    def nu(self):
        return len(self.M)

    @property
    def Q(self):
        return len(self.M) - len(self.served)

    @property
    def phi(self):
        return sum(self.N[m] for m in self.served)

    @property
    def potential(self):
        return self.R * (self.c if self.Q > 0 else self.phi)

    @property
    def effective(self):
        return self.R * self.phi

    @property
    def wasted(self):
        """(10), per unit of time."""
        return (self.c - self.phi) * self.R * (self.Q > 0)

    def power(self, e, e0):
        """(11)."""
        return self.phi * e(self.R) + (self.c - self.phi) * e0(self.R)


def prefix(ordered, N, c):
    """The longest beginning of `ordered` whose widths fit on c servers, as in (1)."""
    served, free = [], c
    for m in ordered:
        if N[m] > free:
            break
        free -= N[m]
        served.append(m)
    return frozenset(served)


def service(discipline, kind, M, B, N, c, before):
    """(1) and its replacements."""
    if discipline == FCFS:
        return prefix(M, N, c)
    if discipline == LCFS:
        return prefix(M[::-1], N, c)
    if kind == "D":
        sign = -1 if discipline == LPF else 1
        return prefix(sorted(M, key=lambda m: (sign * B[m], m)), N, c)
    if kind == "A" and len(before) == len(M) - 1 and N[M[-1]] <= c - sum(N[m] for m in before):
        return before | {M[-1]}
    return before


def coin(flip, r_L, r_H, p_L, p_H):
    """(5). `flip(p)` is the Bernoulli trial β(p)."""

    def rate(kind, R, nu_before, W):
        if kind == "D":
            return r_L if flip(p_L) else R
        return r_H if flip(p_H) else R

    return rate


def hysteresis(r_L, r_H, k_L, k_H):
    """The equation of section III A, with the ν before the event."""

    def rate(kind, R, nu_before, W):
        if kind == "D":
            return r_L if nu_before == k_L + 1 else R
        return r_H if nu_before == k_H else R

    return rate


def workload(r_L, r_H, k_L, k_H):
    """The equation of section III C."""

    def rate(kind, R, nu_before, W):
        if kind == "S" or W <= k_L:
            return r_L
        return r_H if W > k_H else R

    rate.k_L = k_L
    return rate


def epochs(customers, c, discipline, rate, r_L):
    """Every epoch, from the first arrival on. Customers are (t, S, N), numbered from 1."""
    t = {i: customer[0] for i, customer in enumerate(customers, 1)}
    S = {i: customer[1] for i, customer in enumerate(customers, 1)}
    N = {i: customer[2] for i, customer in enumerate(customers, 1)}
    k_L = getattr(rate, "k_L", None)
    M, B, served, arrived = (), {}, frozenset(), 0
    T, R = t[1], r_L
    while True:
        candidates = []  # (2), (2')
        if arrived < len(t):
            candidates.append((t[arrived + 1], "A", arrived + 1))
        candidates += [(T + B[m] / R, "D", m) for m in served]
        W = sum(B.values())
        if k_L is not None and R != r_L and served and W > k_L:
            candidates.append((T + (W - k_L) / (R * len(served)), "S", 0))
        if not candidates:
            return
        following, kind, who = min(candidates)
        tau = following - T
        B = {m: B[m] - tau * R * (m in served) for m in M}  # (4)
        nu_before = len(M)
        if kind == "A":  # (3)
            arrived += 1
            M = (*M, who)
            B[who] = S[who]
        elif kind == "D":
            M = tuple(m for m in M if m != who)
            del B[who]
            served = served - {who}
        T = following
        W = sum(B.values())
        R = rate(kind, R, nu_before, W)
        served = service(discipline, kind, M, B, N, c, served)
        yield Epoch(T, kind, M, served, dict(B), R, N, c)


def averages(states, e, e0):
    """(12): time averages over the run, and (9): the energy of each customer."""
    total = dict.fromkeys(("jobs", "queued", "busy", "potential", "effective", "wasted", "power"), 0.0)
    budget = dict.fromkeys(states[0].N, 0.0)
    for state, following in pairwise(states):
        tau = following.T - state.T
        values = (state.nu, state.Q, state.phi, state.potential, state.effective, state.wasted, state.power(e, e0))
        for name, value in zip(total, values, strict=True):
            total[name] += tau * value
        for m in state.served:
            budget[m] += state.N[m] * e(state.R) * tau
    span = states[-1].T - states[0].T
    return {name: value / span for name, value in total.items()}, budget
