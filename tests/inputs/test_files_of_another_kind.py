"""What a file holds that is not in the expected format is not shown: at most a name of it, and the number of a line."""

from pathlib import Path

import pytest
from fuzzing import outcome
from shared.readers import readers

#: Files that are none of ours, with secrets among their values; names of keys and columns may be shown.
FILES = {
    "shadow": "root:$6$hunter2$xyz:19000:0:99999:7:::\nbin:*hunter2:19000:0:99999:7:::\n",
    "key": "-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2b3BlbnNzaC1rZXkt\n-----END OPENSSH PRIVATE KEY-----\n",
    "toml": 'password = "hunter2"\n[database]\nkey = "hunter2"\nport = 5432\n',
    "environment": "PASSWORD=hunter2\nTOKEN=hunter2\n",
    "json": '{"password": "hunter2", "list": ["hunter2", {"key": "hunter2"}], "jobs": "hunter2", "schema": "hunter2"}',
    "lists": '{"jobs": [{"id": "hunter2", "job_state": "hunter2", "type": "hunter2"}], "nb_res": "hunter2"}',
    "csv": "user,password,pass$word\nann,hunter2,1\nbob,hunter2\n",
    "csv of one line": "ann,hunter2!,9\n",
    "semicolons": "user;password\nann;hunter2\nbob;hunter2;3\n",
    "bars": "user|State|password\nann|hunter2|1\n",
    "words": "hunter2! correct horse battery staple\n1 2 hunter2!\n",
    "one word": "hunter2!\n",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("made")


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_no_reader_shows_what_is_in_a_file_of_another_kind(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = []
    for reader in readers(made):
        if not reader.file or reader.name in ("store, cells", "Parquet, columns"):
            continue
        for turn, (name, text) in enumerate(FILES.items()):
            found = outcome(reader.arguments(Path(), text.encode(), turn))
            if "hunter2" in found.seen or found.kind not in ("refused", "accepted"):
                shown.append((reader.name, name, found.kind, found.seen[-400:]))
    assert shown == []
