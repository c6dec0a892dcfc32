"""Utilisation thresholds: nodes run slower while the machine is little used and few jobs wait.

Source: Etinski, Corbalan, Labarta and Valero (2010), Utilization driven power-aware parallel job scheduling, Computer
Science - Research and Development 25.

The paper's, by its abstract (the text was not at hand): lower frequencies while less of the machine was used than a
threshold, on top of EASY. Ours: two thresholds and their values, and that many who wait turn it off. There a job
keeps the frequency with which it began; here all nodes have one rate, which holds for the jobs that run, too.
"""

import harness


def utilisation(
    state, memory, everybody, low=0.5, high=0.8, slow=0.5, middle=0.75, many=4, period=600.0, half_life=0.0
):
    """Rate `slow` if less than `low` of the processors were used lately, `middle` if less than `high`, else full.

    It is full, too, as long as more than `many` jobs wait. What was used is looked at every `period` seconds, and is
    the mean of that time, or of the whole time since then if nothing happened meanwhile. Full until the first such time
    is over. `half_life`: usage does not decay.
    """
    clock = state.clock
    if clock.instants == 1:
        memory[0] = clock.now  # when the period began
        memory[1] = 0.0  # what had been used by then
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
            most={"high": 1, "middle": 1, "half_life": 0},
        )
    ]
