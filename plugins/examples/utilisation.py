"""Utilisation thresholds: nodes run slower while the machine is little used and few jobs wait.

Source: Etinski, Corbalan, Labarta and Valero (2010), Utilization driven power-aware parallel job scheduling, Computer
Science - Research and Development 25.

From the paper (by its abstract, because the text was not at hand): lower frequencies while utilisation is below a
threshold, on top of EASY. Our choices: two thresholds and their values, and full speed while many jobs wait. In the
paper a job keeps its first frequency. Here all nodes have one rate, also for running jobs.
"""

import harness


def utilisation(
    state, memory, everybody, low=0.5, high=0.8, slow=0.5, middle=0.75, many=4, period=600.0, half_life=0.0
):
    """Rate `slow` if recent utilisation is below `low`, `middle` if it is below `high`, else full.

    The rate is also full while more than `many` jobs wait. Utilisation is the mean over `period` seconds, or over a
    longer time without events. The rate is full until the first period is over. `half_life`: usage does not decay.
    """
    clock = state.clock
    if clock.instants == 1:
        memory[0] = clock.now  # start of the period
        memory[1] = 0.0  # usage until then
        memory[2] = 1.0  # the rate
    gone = clock.now - memory[0]
    if gone >= period:
        used = (everybody.usage - memory[1]) / (gone * clock.cores)
        memory[0] = clock.now
        memory[1] = everybody.usage
        memory[2] = slow if used < low else (middle if used < high else 1.0)
    if clock.queued + clock.running > 0:
        harness.call_again(state, memory[0] + period)
    return 1.0 if clock.queued > many else memory[2]


@harness.hookimpl
def set_rate():
    return [
        harness.Rate(
            "utilisation",
            utilisation,
            memory=3,
            rising=(("low", "high"), ("slow", "middle")),
            least={"low": 0, "slow": 1e-3, "many": 0, "period": 1, "half_life": 0},
            reads=("clock.instants", "clock.now", "clock.cores", "clock.queued", "clock.running"),
            most={"high": 1, "middle": 1, "half_life": 0},
        )
    ]
