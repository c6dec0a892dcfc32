"""Reinforcement learning: importing this registers Gymnasium's `harness/Scheduling-v0`; see `environment.py`."""

from harness.errors import HarnessError

try:
    import gymnasium
except ImportError:
    raise HarnessError("learning needs gymnasium, which is not installed: pip install 'sched-harness[gym]'") from None

#: The name of the environment in Gymnasium.
NAME = "harness/Scheduling-v0"

if NAME not in gymnasium.registry:
    gymnasium.register(
        NAME,
        entry_point="harness.learning.environment:SchedulingEnv",
        vector_entry_point="harness.learning.environment:SchedulingVectorEnv",
        disable_env_checker=True,  # it inspects every step, which takes longer than the step
    )
