"""What reports/oar-executions.md publishes is what its script prints."""

import pytest
from typer.testing import CliRunner

from harness.cli.study_command import load
from harness.disk.bundled import folder


@pytest.mark.data
@pytest.mark.slow
def test_the_page_is_what_the_script_prints(data) -> None:
    found = CliRunner().invoke(
        load("oar_executions").app, [str(data / "anchors" / "oar-grid5000"), "--format", "markdown"]
    )
    assert found.exit_code == 0, found.output
    page = (folder("reports") / "oar-executions.md").read_text()
    assert "P_ideal" in found.output
    assert found.output in page
