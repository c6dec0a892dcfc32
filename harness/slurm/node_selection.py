"""Which of the nodes that have room a job gets, and how many CPUs on each: best fit in rows of neighbours."""

from typing import TypeAlias

from harness.slurm.cluster import Cluster
from harness.slurm.requests import Request

#: The CPUs that a job has on each of its nodes, by the number of the node.
Places: TypeAlias = dict[int, int]


def chosen(request: Request, rooms: Places, cluster: Cluster, *, whole: bool) -> Places | None:
    """Choose among nodes with so much room each; None if they do not suffice.

    If the way of Slurm does not come to an end with all of them, it is gone once more without those with the least
    room, and so on: a job that may have few nodes only needs large ones.
    """
    if sum(rooms.values()) < request.cpus or len(rooms) < request.nodes:
        return None
    found = _gathered(request, rooms, cluster, whole)
    for least in sorted(set(rooms.values())) if found is None else ():
        large = {number: room for number, room in rooms.items() if room > least}
        if len(large) < request.nodes:
            return None
        if (found := _gathered(request, large, cluster, whole)) is not None:
            break
    return found


def _gathered(request: Request, rooms: Places, cluster: Cluster, whole: bool) -> Places | None:
    """Gather nodes row by row until they suffice."""
    found: Places = {}
    nodes, cpus, most = request.nodes, request.cpus, request.most_nodes or len(rooms)
    rows = _rows(rooms, cluster)
    while rows and most > 0:
        row = _best(rows, rooms, cluster, nodes, cpus)
        rows.remove(row)
        for number in _alone_enough(row, rooms, cpus) if nodes <= 1 else row:
            if most == 0 or (nodes <= 0 and cpus <= 0):
                break
            room = rooms[number]
            if most == 1 and room < cpus:
                continue
            found[number] = room if whole else min(room, max(1, cpus - max(0, nodes - 1)))
            cpus -= found[number]
            nodes -= 1
            most -= 1
        if nodes <= 0 and cpus <= 0:
            return found
    return None


def _rows(rooms: Places, cluster: Cluster) -> list[list[int]]:
    """Return the rows in which nodes are looked at: neighbours of one weight, or those of a switch."""
    if cluster.least_loaded:
        return [[number] for number in rooms]
    if cluster.switches:
        below = [[n for n in rooms if switch >> n & 1] for switch in cluster.switches]
        return [row for row in below if row] or [list(rooms)]
    rows: list[list[int]] = []
    for number in rooms:
        node = cluster.nodes[number]
        if rows and rows[-1][-1] == number - 1 and cluster.nodes[number - 1].weight == node.weight:
            rows[-1].append(number)
        else:
            rows.append([number])
    return rows


def _best(rows: list[list[int]], rooms: Places, cluster: Cluster, nodes: int, cpus: int) -> list[int]:
    """Return the row that is looked at next: of the lightest ones, the tightest that suffices, or the roomiest."""
    best, best_room, best_weight, best_suffices = rows[0], 0, -1, False
    for row in rows:
        room, weight = sum(rooms[number] for number in row), cluster.nodes[row[0]].weight
        if cluster.least_loaded:  # the emptiest node, in parts of itself
            room, suffices = int(1e6 * room / cluster.nodes[row[0]].cpus), False
        else:
            suffices = room >= cpus and len(row) >= nodes
        fits_better = room < best_room or not best_suffices if suffices else room > best_room
        if best_weight < 0 or weight < best_weight or (weight == best_weight and fits_better):
            best, best_room, best_weight, best_suffices = row, room, weight, suffices
    return best


def _alone_enough(row: list[int], rooms: Places, cpus: int) -> list[int]:
    """Return the node of a row that suffices alone and has the least room; all of them if none does."""
    enough = [number for number in row if rooms[number] >= cpus]
    return [min(enough, key=lambda number: rooms[number])] if enough else row
