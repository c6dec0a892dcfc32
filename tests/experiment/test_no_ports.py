"""A tournament on threads listens nowhere: SECURITY.md says so."""

import subprocess
import sys
from pathlib import Path

FIELD = """
workloads = "poisson(jobs=30, procs=16)"
seeds = [1, 2]

[[scheduler]]
order = ["fcfs", "spf"]
start = "easy"
"""

#: Python tells a hook of every socket that is bound, whoever asks for it; such a hook cannot be taken off again.
ALONE = """
import socket, sys

bound = []
sys.addaudithook(lambda event, given: bound.append(given[1]) if event == "socket.bind" else None)

import harness

field, folder = sys.argv[1:]
harness.tournament(field, folder, workers=2)
print("during the tournament:", bound)
with socket.socket() as mine:
    mine.bind(("127.0.0.1", 0))
print("of its own:", bound)
"""


def test_a_tournament_on_threads_listens_nowhere(tmp_path: Path) -> None:
    (tmp_path / "field.toml").write_text(FIELD)
    command = [sys.executable, "-c", ALONE, str(tmp_path / "field.toml"), str(tmp_path / "out")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said == "during the tournament: []\nof its own: [('127.0.0.1', 0)]\n"
