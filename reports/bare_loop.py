"""A bare loop to measure the engine against: FCFS or EASY, first-fit on nodes, energy, all written into one function.

No plugins, no rates, no memory or partitions, no preemption, no measures, no checks: what is left when everything
that makes the harness a harness is taken away, and the work is the same. Only the benchmark uses it, and the
benchmark checks that both find the same schedule and the same energy.
"""

from typing import Any

import numpy as np
from numba import njit


@njit(nogil=True)
def bare(  # noqa: C901 - long on purpose: with functions of its own it would be an engine again, and not bare
    submit: Any, work: Any, estimate: Any, procs: Any, nodes: int, cores: int, idle: float, peak: float, easy: bool
) -> tuple[Any, Any]:
    """Return start times, and energy by job [J], of jobs sorted by submission; nodes draw `idle` to `peak` watts."""
    count = len(submit)
    total = nodes * cores
    start = np.full(count, np.nan)
    spent = np.zeros(count)
    due = np.empty(total + 1)  # running jobs by the time they end, latest first …
    due_job = np.empty(total + 1, np.int64)
    planned = np.empty(total + 1)  # … and by the time their estimates end
    planned_job = np.empty(total + 1, np.int64)
    queue = np.empty(2 * count + 2, np.int64)
    idle_cores = np.full(nodes, cores)
    charged = np.zeros(nodes)  # ∫ watts / busy cores dt
    settled = np.zeros(nodes)
    node_of = np.empty(total + 1, np.int64)  # the slices of jobs, linked lists
    cores_of = np.empty(total + 1, np.int64)
    share_of = np.empty(total + 1)
    next_of = np.arange(1, total + 2)
    first_of = np.empty(count, np.int64)
    slack = running = head = tail = arrived = 0
    free = total
    begin = np.empty(total + 1, np.int64)  # jobs that start now
    while arrived < count or running > 0:
        now = submit[arrived] if arrived < count else np.inf
        if running > 0:
            now = min(now, due[running - 1])
        while running > 0 and due[running - 1] <= now:
            job = due_job[running - 1]
            running -= 1
            free += procs[job]
            place = running
            while planned_job[place] != job:
                place -= 1
            for k in range(place, running):
                planned[k] = planned[k + 1]
                planned_job[k] = planned_job[k + 1]
            piece = first_of[job]
            while piece >= 0:
                node = node_of[piece]
                busy = cores - idle_cores[node]
                watts = idle + (peak - idle) * busy / cores
                charged[node] += watts * (now - settled[node]) / busy
                settled[node] = now
                spent[job] += cores_of[piece] * (charged[node] - share_of[piece])
                idle_cores[node] += cores_of[piece]
                following = next_of[piece]
                next_of[piece] = slack
                slack = piece
                piece = following
        while arrived < count and submit[arrived] <= now:
            queue[tail] = arrived
            tail += 1
            arrived += 1
        starting = 0
        while head < tail and procs[queue[head]] <= free:
            begin[starting] = queue[head]
            free -= procs[queue[head]]
            starting += 1
            head += 1
        tried = False
        while True:
            for s in range(starting):
                job = begin[s]
                start[job] = now
                insert(due, due_job, running, now + work[job], job)
                insert(planned, planned_job, running, now + estimate[job], job)
                running += 1
                need = procs[job]
                first_of[job] = -1
                node = 0
                while need > 0:
                    if idle_cores[node] > 0:
                        busy = cores - idle_cores[node]
                        if busy > 0:
                            watts = idle + (peak - idle) * busy / cores
                            charged[node] += watts * (now - settled[node]) / busy
                        settled[node] = now
                        taken = min(need, idle_cores[node])
                        idle_cores[node] -= taken
                        need -= taken
                        piece = slack
                        slack = next_of[piece]
                        node_of[piece] = node
                        cores_of[piece] = taken
                        share_of[piece] = charged[node]
                        next_of[piece] = first_of[job]
                        first_of[job] = piece
                    node += 1
            if tried or not easy or tail - head < 2 or free == 0:
                break
            tried = True
            starting = 0
            need = procs[queue[head]]
            spare = free
            at = now
            for k in range(running - 1, -1, -1):
                if spare >= need and planned[k] > at:
                    break
                at = planned[k]
                spare += procs[planned_job[k]]
            spare -= need
            kept = head + 1
            for place in range(head + 1, tail):
                job = queue[place]
                in_time = now + estimate[job] <= at
                if procs[job] <= free and (in_time or procs[job] <= spare):
                    if not in_time:
                        spare -= procs[job]
                    free -= procs[job]
                    begin[starting] = job
                    starting += 1
                else:
                    queue[kept] = job
                    kept += 1
            tail = kept
    return start, spent


@njit(inline="always")
def insert(times: Any, jobs: Any, count: int, time: float, job: int) -> None:
    """Keep `times` falling, so that the next event is the last entry."""
    low = 0
    high = count
    while low < high:
        middle = (low + high) >> 1
        if times[middle] > time:
            low = middle + 1
        else:
            high = middle
    for k in range(count, low, -1):
        times[k] = times[k - 1]
        jobs[k] = jobs[k - 1]
    times[low] = time
    jobs[low] = job
