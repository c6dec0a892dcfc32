"""Writing a table or a description for one test."""

import pytest


@pytest.fixture
def written(tmp_path):
    """Write a file for this test: text as Latin-1, or bytes."""

    def write(content, name="servers.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("latin-1"))
        return path

    return write
