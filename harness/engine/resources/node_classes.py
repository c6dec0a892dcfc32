"""Nodes alike, found without looking at every node of the machine.

Those of one type that have as many free cores and are of one status are a stock. Which of the type's nodes are in it
is written down in bits, 32 to a word; above these words stand others, with a bit for each word below that is not
empty, up to a single one. So to join a stock, to leave it and to find its next node takes as many steps as there are
such levels. Stocks are kept only in runs in which a policy asks for them. Nodes without a free core are in none.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import verb, window
from harness.engine.records.node_records import STOCK, TYPE
from harness.engine.records.public import AWAKE, DOWN, FALLING, WAKING

#: As many ways there are for a node not to be awake in each of its sleep states: falling, asleep, waking, and falling
#: while it is to wake right after.
WAYS = 4

# ---------------------------------------------------------------- bits


def words_for(size: int) -> int:
    """Return how many words so many bits take, with those of all levels above."""
    words = 0
    while True:
        size = (size + 31) >> 5
        words += size
        if size <= 1:
            return words


@verb
def lowest_bit(word: int) -> int:
    """Return which bit of a word is the lowest that is set; one is."""
    found = 0
    half = 16
    while half > 0:
        if word & ((1 << half) - 1) == 0:
            word >>= half
            found += half
        half >>= 1
    return found


@verb
def set_bit(state: Any, begin: int, size: int, bit: int) -> None:
    """Set one of `size` bits, whose words begin at `begin`. Changes words."""
    empty = True
    while empty:
        place = begin + (bit >> 5)
        empty = state.words[place] == 0
        state.words[place] |= 1 << (bit & 31)
        size = (size + 31) >> 5
        begin += size
        bit >>= 5
        empty = empty and size > 1


@verb
def clear_bit(state: Any, begin: int, size: int, bit: int) -> None:
    """Clear one of `size` bits, whose words begin at `begin`. Changes words."""
    empty = True
    while empty:
        place = begin + (bit >> 5)
        state.words[place] &= ~(1 << (bit & 31))
        size = (size + 31) >> 5
        begin += size
        bit >>= 5
        empty = state.words[place] == 0 and size > 1


@verb
def bit_from(state: Any, begin: int, size: int, bit: int) -> int:
    """Return the first bit that is set, at `bit` or behind it, of `size` bits whose words begin at `begin`; or −1."""
    level = 0
    while True:
        count = (size + (1 << 5 * level + 5) - 1) >> 5 * level + 5  # words of this level
        place = bit >> 5
        if place >= count:
            return -1
        rest = state.words[begin + place] >> (bit & 31)
        if rest != 0:
            bit += lowest_bit(rest)
            break
        if count == 1:
            return -1
        bit = place + 1
        begin += count
        level += 1
    while level > 0:
        begin -= (size + (1 << 5 * level) - 1) >> 5 * level
        bit = 32 * bit + lowest_bit(state.words[begin + bit])
        level -= 1
    return int(bit)


# ---------------------------------------------------------------- who is in which


@verb
def stock_of(state: Any, node: int) -> int:
    """Return in which stock the node belongs as it is; −1 in none."""
    record = state.nodes[node]
    if record.free == 0 or record.status == DOWN:
        return -1
    way = 0
    if record.status != AWAKE:
        wanted = record.status == FALLING and record.wanted != 0
        way = 1 + WAYS * record.depth + (WAKING if wanted else record.status - FALLING)
    return int(state.types[record.type].stock + way * record.cores + record.free - 1)


@verb
def leave_stock(state: Any, node: int, number: int) -> None:
    """Take a node out of its stock, which leaves the list if nobody else is in it. Changes stocks, words, notes."""
    stock = state.stocks[number]
    first = state.types[stock.type].first
    size = state.types[stock.type].count
    clear_bit(state, stock.words, size, node - first)
    stock.count -= 1
    if stock.count == 0:
        state.allocation.classes_listed -= 1
        last = state.stocked[state.allocation.classes_listed]
        state.stocked[stock.place] = last
        state.stocks[last].place = stock.place
    elif stock.first == node:
        stock.first = first + bit_from(state, stock.words, size, node - first)


@verb
def join_stock(state: Any, node: int, number: int) -> None:
    """Put a node into a stock, which joins the list if nobody else is in it. Changes stocks, words, notes."""
    stock = state.stocks[number]
    if stock.count == 0:
        stock.place = state.allocation.classes_listed
        state.stocked[stock.place] = number
        state.allocation.classes_listed += 1
        stock.first = node
    stock.count += 1
    stock.first = min(stock.first, node)
    set_bit(state, stock.words, state.types[stock.type].count, node - state.types[stock.type].first)


@verb
def restock(state: Any, node: int) -> None:
    """Let a node whose free cores or status have changed be in the stock where it belongs, if stocks are kept."""
    if len(state.stocks) == 0:
        return
    before = state.in_stock[node]
    after = stock_of(state, node)
    if after == before:
        return
    if before >= 0:
        leave_stock(state, node, before)
    if after >= 0:
        join_stock(state, node, after)
    state.in_stock[node] = after


@verb
def next_alike(state: Any, node: int) -> int:
    """Return the next node of the stock of a node, or −1."""
    stock = state.stocks[state.in_stock[node]]
    kind = state.types[stock.type]
    found = bit_from(state, stock.words, kind.count, node - kind.first + 1)
    return int(kind.first + found) if found >= 0 else -1


# ---------------------------------------------------------------- what policies ask


@verb
def list_unlike(state: Any) -> int:
    """Write the lowest-numbered node of each stock into `unlike`; return how many there are."""
    for k in range(state.allocation.classes_listed):
        state.unlike[k] = state.stocks[state.stocked[k]].first
    return int(state.allocation.classes_listed)


@window
def unlike(state: Any) -> Any:
    """List one node, the lowest-numbered, of all nodes with free cores that are alike; in no particular order.

    Alike are nodes of one type, with as many free cores, that are awake or that are in the same sleep state and on the
    same way there or back; `harness.count_alike` says how many. So nobody need look at every node of a large machine.
    """
    return state.unlike[: list_unlike(state)]


@verb
def count_alike(state: Any, node: int) -> int:
    """Return how many nodes are alike to this one, itself counted; 0 if it has no free core. See `harness.unlike`."""
    if not 0 <= node < len(state.in_stock) or state.in_stock[node] < 0:
        return 0
    return int(state.stocks[state.in_stock[node]].count)


# ---------------------------------------------------------------- before the first instant


def no_stocks() -> dict[str, Any]:
    """Return the parts of a view where nobody asks for stocks."""
    numbers = np.zeros(0, np.int64)
    return {
        "types": np.zeros(0, TYPE).view(np.recarray),
        "stocks": np.zeros(0, STOCK).view(np.recarray),
        **dict.fromkeys(("words", "stocked", "in_stock", "unlike"), numbers),
        "merits": np.zeros(0),
    }


def take_stock(view: Any) -> Any:
    """Return the view with all nodes, which are idle and awake, in their stocks."""
    nodes = view.nodes
    _, first, count = np.unique(nodes.type, return_index=True, return_counts=True)
    types = np.zeros(len(first), TYPE)
    types["first"], types["count"], types["cores"] = first, count, nodes.cores[first]
    many = types["cores"] * (1 + WAYS * nodes.depths[first])  # stocks of each type
    types["stock"] = np.cumsum(many) - many
    stocks = np.zeros(int(many.sum()), STOCK)
    stocks["type"] = np.repeat(np.arange(len(types)), many)
    size = np.array([words_for(int(one)) for one in count])[stocks["type"]]
    stocks["words"] = np.cumsum(size) - size
    words = np.zeros(int(size.sum()), np.int64)  # takes memory only as far as it is used
    full = types["stock"] + types["cores"] - 1
    stocks["count"][full], stocks["first"][full], stocks["place"][full] = count, first, np.arange(len(types))
    for number, nodes_of_type in zip(full, count, strict=True):
        write_all(words[stocks["words"][number] :], int(nodes_of_type))
    view.allocation.classes_listed = len(types)
    return view._replace(
        types=types.view(np.recarray),
        stocks=stocks.view(np.recarray),
        words=words,
        stocked=np.concatenate([full, np.zeros(len(nodes) - len(types), np.int64)]),
        in_stock=full[nodes.type],
        unlike=np.zeros(len(nodes), np.int64),
    )


def write_all(words: np.ndarray[Any, Any], size: int) -> None:
    """Set the first `size` bits of a stock."""
    while True:
        count = (size + 31) >> 5
        words[:count] = (1 << 32) - 1
        words[count - 1] = (1 << ((size - 1 & 31) + 1)) - 1
        if count == 1:
            return
        words, size = words[count:], count
