"""Detect changes of a store by another program while a tournament runs."""

import hashlib

from harness.errors import HarnessError
from harness.experiment.store import Store


class Ledger:
    """Digests of the finished runs of a store. No tournament changes a finished run."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known = self._read("SELECT * FROM runs WHERE status = 'done'")

    def add(self, identity: str) -> None:
        """Add a run that was just written."""
        self._known |= {identity: "missing"} | self._read("SELECT * FROM runs WHERE identity = ?", identity)

    def refuse_changes(self) -> None:
        """Raise an error if runs were changed or removed; the changed ones are deleted, so that they are done again."""
        now = self._read("SELECT * FROM runs")
        changed = [identity for identity, digest in self._known.items() if now.get(identity) != digest]
        if not changed:
            return
        self._store.database.executemany("DELETE FROM runs WHERE identity = ?", [(identity,) for identity in changed])
        raise HarnessError(
            f"{self._store.path}: another program, perhaps a plugin, changed {len(changed)} finished runs while the "
            "tournament ran: expected that the tournament alone writes there; the same command does them again"
        )

    def _read(self, query: str, *given: str) -> dict[str, str]:
        rows = self._store.database.execute(query, given).fetchall()
        return {row[0]: hashlib.sha256(repr(row).encode()).hexdigest() for row in rows}
