"""Plugin files that cannot be loaded: what is wrong → the text of the file, and what its author reads."""

HEAD = """import harness

def score(job, clock):
    return job.submit

def begin(state):
    pass

"""


def _offering(policies: str, hook: str = "order_queue", before: str = "") -> str:
    return f"{HEAD}{before}\n@harness.hookimpl\ndef {hook}():\n    return {policies}\n"


def _order(arguments: str, before: str = "") -> str:
    return _offering(f"[harness.Order({arguments})]", before=before)


MALFORMED = {
    "is not Python": ("def score(job, clock:\n    return 1\n", "line 1"),
    "is not text": ("\x00\x01", "null bytes"),
    "imports what is not there": ("import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'"),
    "raises": ("1 / 0\n", "ZeroDivisionError: division by zero"),
    "is empty": ("", "has no hook: expected a function such as order_queue with @harness.hookimpl above it"),
    "marks nothing": (HEAD + "def order_queue():\n    return [harness.Order('a', score)]\n", "is not marked"),
    "misspells the hook": (_order("'a', score").replace("order_queue", "order_queues"), "did you mean 'order_queue'"),
    "asks the hook for arguments": (_order("'a', score").replace("order_queue()", "order_queue(state)"), "{'state'}"),
    "returns nothing": (_offering("None"), "returned None, expected a list of harness.Order"),
    "returns no list": (_offering("harness.Order('a', score)"), "expected a list of harness.Order"),
    "returns a function": (_offering("[score]"), "expected harness.Order"),
    "returns another kind": (_offering("[harness.Start('a', begin)]"), "returned Start(name='a'"),
    "raises when asked": (_offering("[1 / 0]"), "order_queue fails: ZeroDivisionError: division by zero"),
    "offers one name twice": (_offering("[harness.Order('a', score), harness.Order('a', score)]"), "'a' of"),
    "takes a name that is taken": (_order("'fcfs', score"), "'fcfs' of"),
    "has a space in its name": (_order("'my order', score"), "policy name 'my order': expected letters"),
    "is named by a keyword": (_order("'class', score"), "policy name 'class': expected letters"),
    "is named by a number": (_order("7, score"), "policy name 7: expected letters"),
    "misspells a kind": (
        _order("'a', score").replace("Order(", "Ordre("),
        "attribute Ordre; did you mean 'Order'?",
    ),
    "misspells a trait": (_order("'a', score, vary=True"), "did you mean 'varies'"),
    "gives a trait of another kind": (_order("'a', score, preemptive=True"), "harness.Order has no 'preemptive'"),
    "gives no function": (_order("'a', 3"), "expected a function, not 3"),
    "forgets the function": (_order("'a'"), "missing 1 required positional argument: 'function'"),
    "takes what it is not given": (_order("'a', lambda job, clock, state: 1.0"), "every parameter needs a default"),
    "takes too little": (_order("'a', lambda job: 1.0"), "should be written <lambda>(job, clock, …=default)"),
    "takes whatever comes": (_order("'a', lambda *given: 1.0"), "should be written"),
    "has a default of no kind": (_order("'a', lambda job, clock, depth=None: 1.0"), "the default of 'depth' is None"),
    "chooses for nobody": (_order("'a', score, choices={'mode': ('x', 'y')}"), "declares a parameter 'mode'"),
    "chooses out of letters": (
        _order("'a', lambda job, clock, mode=1: job.submit, choices={'mode': 'word'}"),
        "choices={'mode': 'word'}: expected the words of each parameter, as in {'first': ('narrow', 'wide')}",
    ),
    "learns by a number": (_order("'a', score, learn=3"), "policy 'a': learn=3: expected a function"),
    "bounds nobody": (_order("'a', score, least={'power': 1}"), "declares a parameter 'power'"),
    "orders nobody": (_order("'a', score, rising=(('low', 'high'),)"), "declares a parameter 'low'"),
    "wants a word of memory": (_order("'a', score, memory='two'"), "memory='two': expected a number of floats"),
    "wants less than no memory": (_order("'a', score, memory=-1"), "memory=-1: expected a number of floats"),
    "needs what no platform gives": (_order("'a', score, needs=('colour',)"), "needs 'colour'"),
    "guarantees a word": (
        _offering("[harness.Start('a', begin, guarantees='nobody overtakes')]", "start_jobs"),
        "guarantees='nobody overtakes': expected several",
    ),
    "ends everything": ("import sys\nsys.exit(0)\n", "SystemExit"),
    "is a subclass of nothing": (_order("'a', score").replace("Order(", "Policy("), "no kind of policy"),
}
