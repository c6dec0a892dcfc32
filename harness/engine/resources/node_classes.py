"""Node classes: nodes that are identical for policies, found without a scan of the whole machine.

Nodes of one type with the same number of free cores and the same status form a class. Its nodes are bits of 32-bit
words. Words of a second level have a bit for each word of the first that is not empty, and so on, up to a single word.
To join a class, to leave it and to find its next node take one step for each level. Classes are kept only in runs with
a policy that uses them. Nodes without a free core are in no class.
"""

from typing import Any

import numpy as np

from harness.engine.decorators import verb, window
from harness.engine.records.node_records import NODE_CLASS, TYPE
from harness.engine.records.public import AWAKE, DOWN, FALLING, WAKING

#: The number of classes for nodes in one sleep state with the same free cores: falling asleep, asleep, waking, and
#: falling asleep with a request to wake.
WAYS = 4

# ---------------------------------------------------------------- bits


def words_for(size: int) -> int:
    """Return the number of words for `size` bits, those of all levels included."""
    words = 0
    while True:
        size = (size + 31) >> 5
        words += size
        if size <= 1:
            return words


@verb
def lowest_bit(word: int) -> int:
    """Return the number of the lowest bit that is set in a word other than zero."""
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


# ---------------------------------------------------------------- the class of a node


@verb
def class_of(state: Any, node: int) -> int:
    """Return the class of a node by its present status and free cores; −1 for none."""
    record = state.nodes[node]
    if record.free == 0 or record.status == DOWN:
        return -1
    way = 0
    if record.status != AWAKE:
        wanted = record.status == FALLING and record.wanted != 0
        way = 1 + WAYS * record.depth + (WAKING if wanted else record.status - FALLING)
    return int(state.types[record.type].stock + way * record.cores + record.free - 1)


@verb
def leave_class(state: Any, node: int, number: int) -> None:
    """Remove a node from its class; an empty class leaves the list of classes."""
    stock = state.node_classes[number]
    first = state.types[stock.type].first
    size = state.types[stock.type].count
    clear_bit(state, stock.words, size, node - first)
    stock.count -= 1
    if stock.count == 0:
        state.allocation.classes_listed -= 1
        last = state.listed_classes[state.allocation.classes_listed]
        state.listed_classes[stock.place] = last
        state.node_classes[last].place = stock.place
    elif stock.first == node:
        stock.first = first + bit_from(state, stock.words, size, node - first)


@verb
def join_class(state: Any, node: int, number: int) -> None:
    """Add a node to a class; a class that was empty joins the list of classes."""
    stock = state.node_classes[number]
    if stock.count == 0:
        stock.place = state.allocation.classes_listed
        state.listed_classes[stock.place] = number
        state.allocation.classes_listed += 1
        stock.first = node
    stock.count += 1
    stock.first = min(stock.first, node)
    set_bit(state, stock.words, state.types[stock.type].count, node - state.types[stock.type].first)


@verb
def reclassify(state: Any, node: int) -> None:
    """Move a node whose free cores or status have changed to its class, if classes are kept."""
    if len(state.node_classes) == 0:
        return
    before = state.class_of_node[node]
    after = class_of(state, node)
    if after == before:
        return
    if before >= 0:
        leave_class(state, node, before)
    if after >= 0:
        join_class(state, node, after)
    state.class_of_node[node] = after


@verb
def next_in_class(state: Any, node: int) -> int:
    """Return the next node of the class of a node, or −1."""
    stock = state.node_classes[state.class_of_node[node]]
    kind = state.types[stock.type]
    found = bit_from(state, stock.words, kind.count, node - kind.first + 1)
    return int(kind.first + found) if found >= 0 else -1


# ---------------------------------------------------------------- for policies


@verb
def list_representatives(state: Any) -> int:
    """Write the lowest-numbered node of each class into `candidates`; return their number."""
    for k in range(state.allocation.classes_listed):
        state.candidates[k] = state.node_classes[state.listed_classes[k]].first
    return int(state.allocation.classes_listed)


@window
def unlike(state: Any) -> Any:
    """List the lowest-numbered node of each class of identical nodes with free cores, in no particular order.

    Nodes of one class have the same type and number of free cores. They are awake, or in the same phase of the same
    sleep state. `harness.count_alike` returns the size of a class. A policy need not scan a large machine.
    """
    return state.candidates[: list_representatives(state)]


@verb
def count_alike(state: Any, node: int) -> int:
    """Return the size of the class of a node, itself counted; 0 if it has no free core. See `harness.unlike`."""
    if not 0 <= node < len(state.class_of_node) or state.class_of_node[node] < 0:
        return 0
    return int(state.node_classes[state.class_of_node[node]].count)


# ---------------------------------------------------------------- before the first instant


def no_classes() -> dict[str, Any]:
    """Return the parts of a view without node classes."""
    numbers = np.zeros(0, np.int64)
    return {
        "types": np.zeros(0, TYPE).view(np.recarray),
        "node_classes": np.zeros(0, NODE_CLASS).view(np.recarray),
        **dict.fromkeys(("words", "listed_classes", "class_of_node", "candidates"), numbers),
        "merits": np.zeros(0),
    }


def with_classes(view: Any) -> Any:
    """Return the view with all nodes in their classes; all are idle and awake."""
    nodes = view.nodes
    _, first, count = np.unique(nodes.type, return_index=True, return_counts=True)
    types = np.zeros(len(first), TYPE)
    types["first"], types["count"], types["cores"] = first, count, nodes.cores[first]
    many = types["cores"] * (1 + WAYS * nodes.depths[first])  # classes of each type
    types["stock"] = np.cumsum(many) - many
    stocks = np.zeros(int(many.sum()), NODE_CLASS)
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
        node_classes=stocks.view(np.recarray),
        words=words,
        listed_classes=np.concatenate([full, np.zeros(len(nodes) - len(types), np.int64)]),
        class_of_node=full[nodes.type],
        candidates=np.zeros(len(nodes), np.int64),
    )


def write_all(words: np.ndarray[Any, Any], size: int) -> None:
    """Set the first `size` bits of a class."""
    while True:
        count = (size + 31) >> 5
        words[:count] = (1 << 32) - 1
        words[count - 1] = (1 << ((size - 1 & 31) + 1)) - 1
        if count == 1:
            return
        words, size = words[count:], count
