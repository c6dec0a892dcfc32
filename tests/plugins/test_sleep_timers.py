"""How often the sleep policies ask to be called: only while a node could fall asleep."""

import numpy as np
import pandas as pd

from harness import NodeType, Platform, Scheduler, SleepState, log_from_frame, prepare, simulate


def test_timeout_does_not_look_again_where_all_nodes_sleep():
    jobs = pd.DataFrame({"submit": [0.0, 1e6], "run": 10.0, "procs": 1})
    platform = Platform("two", (NodeType(2, 1, idle=9.0, peak=9.0, sleep=(SleepState("off", 1.0),)),))
    schedule = simulate(
        prepare(log_from_frame(jobs)), platform, Scheduler(sleep="timeout(idle=5)", energy="cores"), timeline=True
    )
    timeline = schedule.timeline
    asleep = timeline.set_index("time")["asleep"]
    assert asleep[[5.0, 15.0]].tolist() == [1, 2]
    assert asleep[1e6] == 1  # the node that is not needed was still asleep
    assert len(timeline) < 12
    assert np.isclose(schedule.outcome.nodes["asleep"].sum(), (1e6 - 15) + (1e6 + 10 - 5))
