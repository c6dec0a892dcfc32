"""Gymnasium's environment `harness/Scheduling-v0`: an agent chooses the first of the waiting jobs.

At every decision the agent sees the first `slots` waiting jobs, eight numbers each (`harness.described`), and chooses
one. If that job fits, it starts, and the agent chooses again. Otherwise the start policy treats it as the first job of
the queue (`easy`: backfill jobs in queue order that do not delay it), and the agent chooses again at the next decision.
An agent that always chooses by some order gives the schedule of that order under `easy(backfill_order=fcfs)`.

An episode is a part of the workload, from an empty machine until its last job has left. The reward comes at its end.
`info["action_mask"]` marks the slots with a job; an empty slot as action means the last job that is shown.
`info["first"]` is the number of the first job of the episode, in order of submission.
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from harness.engine.loop import OVER
from harness.engine.observation import FEATURES
from harness.learning.rewards import Measured, Reward, reward_of
from harness.learning.vector_runs import Copies, Task

Info = dict[str, Any]


def _spaces(task: Task) -> tuple[spaces.Box, spaces.Discrete]:
    seen = spaces.Box(0.0, 1.0, (task.slots, FEATURES), np.float32)
    return seen, spaces.Discrete(task.slots)


class SchedulingEnv(gymnasium.Env):  # type: ignore[misc]  # Any to mypy, as is VectorEnv
    """One run. Option of `reset`: `first`, the number of the episode's first job, in order of submission."""

    metadata: Info = {"render_modes": []}  # noqa: RUF012 - Gymnasium's name and kind

    def __init__(self, reward: str | Reward = "mean_bounded_slowdown", **task: Any) -> None:
        self._reward = reward_of(reward)
        self.copies = Copies(Task(**task))
        self.observation_space, self.action_space = _spaces(self.copies.task)

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Any, Info]:
        """Begin an episode, at a random job unless `options` name the first one."""
        super().reset(seed=seed)
        first = (options or {}).get("first")
        self.copies.begin(0, int(self.np_random.integers(self.copies.firsts)) if first is None else int(first))
        self.copies.advance()
        return self._shown()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Info]:
        """Choose the first job."""
        copies = self.copies
        copies.choices[0] = action
        copies.advance()
        seen, info = self._shown()
        over = bool(copies.ends[0] == OVER)
        reward = 0.0
        if over:
            schedule = copies.schedule(0)
            reward = float(self._reward(Measured(schedule)))
            info["schedule"] = schedule
        return seen, reward, over, False, info

    def action_masks(self) -> Any:
        """Return which slots hold a job, under the name that libraries expect."""
        return self.copies.masks[0].astype(bool)

    def close(self) -> None:
        """Release the run."""
        self.copies.close()

    def _shown(self) -> tuple[Any, Info]:
        copies = self.copies
        return copies.seen[0].copy(), {"action_mask": copies.masks[0].copy(), "first": int(copies.first[0])}


class SchedulingVectorEnv(VectorEnv):  # type: ignore[misc]
    """Several runs on threads. A finished run begins a new episode at the next step, and ignores its action."""

    metadata: Info = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012 - Gymnasium's name and kind

    def __init__(
        self, num_envs: int = 1, reward: str | Reward = "mean_bounded_slowdown", threads: int = 1, **task: Any
    ) -> None:
        self.num_envs = num_envs
        self._reward = reward_of(reward)
        self.copies = Copies(Task(**task), num_envs, threads)
        self.single_observation_space, self.single_action_space = _spaces(self.copies.task)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._done = np.zeros(num_envs, bool)

    def reset(self, *, seed: int | list[int | None] | None = None, options: Info | None = None) -> tuple[Any, Info]:
        """Begin an episode in every run."""
        super().reset(seed=seed if isinstance(seed, int | None) else seed[0])
        self._begin(range(self.num_envs))
        self.copies.advance()
        self._done[:] = False
        return self._shown()

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, Info]:
        """Choose the first job in every run."""
        copies = self.copies
        copies.choices[:] = actions
        self._begin(np.flatnonzero(self._done))
        copies.advance()
        self._done = copies.ends == OVER
        rewards = np.zeros(self.num_envs)
        for place in np.flatnonzero(self._done):
            rewards[place] = self._reward(Measured(copies.schedule(int(place))))
        seen, info = self._shown()
        return seen, rewards, self._done.copy(), np.zeros(self.num_envs, bool), info

    def close_extras(self, **_: Any) -> None:
        """Release the runs."""
        self.copies.close()

    def _begin(self, places: Any) -> None:
        for place in places:
            self.copies.begin(int(place), int(self.np_random.integers(self.copies.firsts)))

    def _shown(self) -> tuple[Any, Info]:
        copies = self.copies
        return copies.seen.copy(), {"action_mask": copies.masks.copy(), "first": copies.first.copy()}
