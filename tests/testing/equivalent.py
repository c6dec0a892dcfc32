"""Faults that change nothing anybody could see, each with the reason: (file, statement, with the fault) → why."""

EQUIVALENT: dict[tuple[str, str, str], str] = {
    (
        "harness/ranking/ranking.py",
        "points = known[[criterion.name, ENERGY]].to_numpy() * (-1 if criterion.better == 'more' else 1, 1)",
        "points = known[[criterion.name, ENERGY]].to_numpy() * (-2 if criterion.better == 'more' else 1, 1)",
    ): "Who dominates whom does not depend on the scale.",
    (
        "harness/experiment/store.py",
        "self.session = int(self.database.execute(insert, values).lastrowid or 0)",
        "self.session = int(self.database.execute(insert, values).lastrowid or -1)",
    ): "After an insert there always is a last row.",
    (
        "harness/platform/description.py",
        "base = servers.pick(facts) if facts and servers else NodeType(1, nodes.cores or 1)",
        "base = servers.pick(facts) if facts and servers else NodeType(1, nodes.cores or 0)",
    ): "Where no row is picked, cores are given; those that are none are refused with either.",
    ("harness/experiment/execution.py", "look(0, jobs)", "look(-1, jobs)"): "Only whether to stop is asked.",
}
