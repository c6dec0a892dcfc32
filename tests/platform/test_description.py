"""Platforms in TOML: what each key does, and the sentence about each mistake."""

import re
from pathlib import Path

import pandas as pd
import pytest
from shared.spec_form import CURVE, spec_row, spec_text

import harness
from harness import HarnessError, NodeType, PerformanceState, Platform, SleepState, read_platform
from harness.disk import bundled

README = (bundled.folder("platforms") / "README.md").read_text(encoding="utf-8")
INLINE, ASKED, PICKED = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)

OFF = '{ name = "off", watts = 2, down = 30, up = 90, down_energy = 900, up_energy = 9000 }'


@pytest.fixture
def described(written):
    """The platform that a TOML text describes, with a table of four rows beside it."""
    rows = [
        spec_row("Alpha 1", number="20110101-00001"),
        spec_row("Alpha 1", number="20110101-00002", processor="Fast 6000"),
        spec_row("Beta", number="20110101-00003", result="0"),
        spec_row("Gamma", number="20110101-00004", nodes="4", vendor="Other"),
    ]
    written(spec_text(*rows), "servers.csv")
    return lambda text: read_platform(written(text.encode(), "described.toml"))


def test_the_example_of_the_readme_is_what_it_says(described):
    thin, fat = described(INLINE).types
    assert (thin.count, thin.cores, thin.idle, thin.peak, thin.memory) == (2, 16, 90.0, 310.0, 64 * 1024.0**2)
    assert thin.performance == (PerformanceState(0.5, 70.0, 170.0), PerformanceState(0.8, 80.0, 240.0))
    assert (fat.count, fat.partition, fat.idle, fat.peak, len(fat.curve)) == (1, 1, 210.0, 700.0, 11)
    assert fat.sleep == (SleepState("off", 12.0, 40.0, 150.0, 6000.0, 60000.0),)


def test_the_example_of_what_jobs_may_ask_for(described):
    platform = described(ASKED)
    (node,) = platform.types
    assert platform.licences == (("matlab", 5),)
    assert node.features == ("bigmem", "a100")
    assert node.partitions == ("batch", "gpu")
    assert node.resources == (("gpu", 4), ("nvme_gb", 1600))


@pytest.mark.parametrize(
    ("keys", "complaint"),
    [
        ("resources = { gpu = -1 }", "gpu = -1; expected a whole number of at least 0"),
        ('features = ["big mem"]', "the feature 'big mem'; expected letters"),
        ("partitions = [-1]", "the partition -1; expected a name, or a number from 0"),
        (
            'partition = 2\npartitions = ["batch"]',
            "nodes 1: a node type: partition = 2 and partitions; expected it among",
        ),
    ],
)
def test_what_no_job_can_ask_for_is_refused(described, keys, complaint):
    with pytest.raises(HarnessError, match=re.escape(complaint)):
        described(f"[[nodes]]\ncores = 1\n{keys}")


def test_what_is_a_licence_and_what_nodes_have_is_not_asked_for_by_one_name(described):
    platform = described("licences = { gpu = 2 }\n[[nodes]]\ncores = 1\n[[nodes]]\ncores = 1\nresources = { gpu = 4 }")
    jobs = pd.DataFrame({"submit": [0], "run": [1], "procs": [1]})
    assert harness.simulate(harness.log_from_frame(jobs), platform).frame["start"].tolist() == [0]
    with pytest.raises(
        HarnessError, match="gpu is a licence and a resource of nodes, and the column needs_gpu of frame"
    ):
        harness.simulate(harness.log_from_frame(jobs.assign(needs_gpu=1)), platform)


def test_what_is_not_given_is_in_no_digest():
    """Digests that were published before nodes had features stay what they were."""
    assert Platform("one", (NodeType(1, 1),)).digest == Platform("one", (NodeType(1, 1, features=()),)).digest
    assert Platform("one", (NodeType(2, 4, 8.0),)).digest == KNOWN
    digests = {Platform("one", (NodeType(1, 1, **more),)).digest for more in ({}, *({k: v} for k, v in LATER.items()))}
    assert len(digests) == 1 + len(LATER)


#: Of two nodes of four cores, by the first release.
KNOWN = "4ab9b712948e33a58faf21fc7c38ca971075feb26c7d5c3c0260349264d6cff5"
LATER = {"features": ("big",), "resources": {"gpu": 1}, "partitions": (1, 2)}


@pytest.mark.data
def test_the_readme_picks_rows_of_the_real_table(data, described):
    many, few = described(PICKED).types
    assert (many.count, many.name, len(many.curve), many.sleep[0].name) == (32, "UCS C220 M3", 11, "off")
    assert (few.count, few.name, few.cores, few.partition) == (8, "Xserve3,1", 8, 1)


@pytest.mark.parametrize(
    "fact",
    ["row = 5", 'system = "Gamma"', 'vendor = "Other"', 'result = "20110101-00004"', 'row = 5\nsystem = "Gamma"'],
)
def test_a_row_is_picked_by_what_it_says(described, fact):
    (node,) = described(f'table = "servers.csv"\n[[nodes]]\ncount = 3\n{fact}').types
    assert (node.count, node.name, node.cores, node.peak) == (3, "Gamma (1 of 4 nodes)", 2, 55.0)


def test_other_keys_replace_what_the_row_says(described):
    text = f'table = "servers.csv"\n[[nodes]]\nrow = 2\nmemory_gb = 1\npartition = 7\nname = "mine"\nsleep = [{OFF}]'
    (node,) = described(text).types
    assert (node.memory, node.partition, node.name, node.curve) == (1024.0**2, 7, "mine", CURVE)
    assert node.sleep == (SleepState("off", 2.0, 30.0, 90.0, 900.0, 9000.0),)
    flat = [5.0] * 11
    (node,) = described(f'table = "servers.csv"\n[[nodes]]\nrow = 2\ncurve = {flat}').types
    assert (node.idle, node.peak) == (5.0, 5.0)


def test_a_bundled_table_by_name(described):
    first, last = described('table = "peas-table2"\n[[nodes]]\nrow = 2\nidle = 60\n[[nodes]]\nrow = 10').types
    assert (first.cores, first.idle, first.peak) == (4, 60.0, 118.0)
    assert (last.cores, last.peak) == (12, 272.0)


def test_a_table_below_the_data_folder(described, tmp_path, monkeypatch):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "servers.csv").rename(tmp_path / "deep" / "er" / "odd [1].csv")
    monkeypatch.setenv("HARNESS_DATA", f"/nonexistent:{tmp_path / 'deep'}")
    assert described('table = "odd [1].csv"\n[[nodes]]\nrow = 2').cores == 8
    assert described('table = "er/odd [1].csv"\n[[nodes]]\nrow = 2').cores == 8


def test_words_about_the_platform(described):
    platform = described('about = "two of them"\n[[nodes]]\ncores = 2')
    assert (platform.name, platform.about, platform.types) == ("described", "two of them", (NodeType(1, 2),))


TABLE = 'table = "servers.csv"\n[[nodes]]\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["expected the key 'nodes'"]),
        ("nodes = []", ["nodes"]),
        ("[nodes]\ncores = 4", ["expected a list of tables", "[[…nodes]]"]),
        ("[[nodes]", ["TOML", "line 1"]),
        ("[[node]]\ncores = 4", ["'node'", "did you mean 'nodes'"]),
        ("abuot = 3\n[[nodes]]\ncores = 4", ["the file", "did you mean 'about'"]),
        ("about = 3\n[[nodes]]\ncores = 4", ["about = 3", "expected a valid string"]),
        ("[[nodes]]\ncount = 2", ["nodes 1", "expected cores", "to select a row"]),
        ("[[nodes]]\ncores = 4\n[[nodes]]\ncors = 4", ["nodes 2", "'cors'", "did you mean 'cores'"]),
        ('[[nodes]]\ncores = "4"', ["nodes 1, cores = '4'", "expected a valid integer"]),
        ("[[nodes]]\ncores = true", ["nodes 1, cores = True", "integer"]),
        ("[[nodes]]\ncores = 4.5", ["nodes 1, cores = 4.5", "integer"]),
        ("[[nodes]]\ncores = 4\nidle = nan", ["nodes 1, idle = nan", "finite"]),
        ("[[nodes]]\ncores = 4\nidle = 9\npeak = 5", ["nodes 1", "9 W idle", "5 W"]),
        ("[[nodes]]\ncores = 0", ["nodes 1", "cores = 0"]),
        ("[[nodes]]\ncores = 4\ncurve = [1, 2]", ["nodes 1", "2 values", "expected 11"]),
        ('[[nodes]]\ncores = 4\ncurve = [1, "x"]', ["nodes 1, curve 2 = 'x'", "number"]),
        ("[[nodes]]\ncores = 4\nperformance = 3", ["nodes 1, performance", "list of tables"]),
        ("[[nodes]]\ncores = 4\n[[nodes.performance]]\nrate = 0.5", ["nodes 1, performance 1", "the key 'idle'"]),
        ("[[nodes]]\ncores = 4\n[[nodes.performance]]\nrat = 1\nidle = 2\npeak = 3", ["did you mean 'rate'"]),
        (f"[[nodes]]\ncores = 4\nsleep = [{OFF.replace('9000', '-9')}]", ["nodes 1", "'off'", "up_energy", "-9"]),
        (f"[[nodes]]\ncores = 4\nsleep = [{OFF.replace(', up_energy = 9000', '')}]", ["sleep 1", "'up_energy'"]),
        (f"[[nodes]]\ncores = 4\nsleep = [{OFF.replace('watts', 'wats')}]", ["nodes 1, sleep 1", "mean 'watts'"]),
        (f"[[nodes]]\ncores = 4\nidle = 1\npeak = 5\nsleep = [{OFF}]", ["'off'", "2 W asleep", "1 W idle"]),
        ("[[nodes]]\nrow = 2", ["nodes 1", "row selects a row", "expected a table of servers"]),
        ('table = "nowhere.csv"\n[[nodes]]\nrow = 2', ["table = 'nowhere.csv'", "no such platform file"]),
        ('table = "synthetic-11"\n[[nodes]]\nrow = 2', ["synthetic-11.toml", "expected a table of servers"]),
        ('table = "."\n[[nodes]]\nrow = 2', ["it is a folder"]),
        (TABLE + "row = 9", ["nodes 1", "row = 9", "known: 2 to 5"]),
        (TABLE + 'system = "Gama"', ["no such row", "did you mean 'Gamma'"]),
        (TABLE + 'system = "Gamma"\nvendor = "Otter"', ["vendor = 'Otter'", "did you mean 'Other'"]),
        (TABLE + 'system = "Alpha 1"', ["2 rows", "expected one", "2, 3"]),
        (TABLE + 'system = "Beta"', ["row 4", "no node type", "non-compliant"]),
        (TABLE + "row = 2\nidle = 50", ["idle = 50 W, but 60 W in its load curve"]),
        (TABLE + "row = 2\n[[nodes]]\ncores = 4", ["operations per second", "number 2"]),
    ],
)
def test_a_mistake_is_one_sentence(described, text, words):
    with pytest.raises(HarnessError) as error:
        described(text)
    said = str(error.value)
    assert [word for word in words if word not in said] == [], said
    assert "\n" not in said
    assert Path("described.toml").name in said or "described" in said


def test_bytes_that_are_no_text(written, tmp_path):
    with pytest.raises(HarnessError, match="cannot be read as TOML"):
        read_platform(written(b'about = "\xff"', "bad.toml"))
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(HarnessError, match="it is a folder"):
        read_platform(tmp_path / "folder.toml")
    marked = written(b"\xef\xbb\xbf[[nodes]]\r\ncores = 4\r\n", "marked.toml")
    assert read_platform(marked).cores == 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"nodes = {'[' * 20_000}{']' * 20_000}", ["cannot be read as TOML", "too deep"]),
        (f"[[nodes]]\ncores = 1{'0' * 5000}", ["cannot be read as TOML", "digits"]),
        (f"[[nodes]]\ncores = 1{'0' * 4000}", ["cores; expected at most 10,000,000,000"]),
        ("[[nodes]]\ncores = 4\ncount = 1000000000000", ["1,000,000,000,000 nodes; expected at most 2,000,000"]),
        (f"[[nodes]]\ncores = 4\npartition = {2**63}", ["partition = 9223372036854775808", "at most"]),
        (f"[[nodes]]\ncores = 4\nname = '{'x' * 5000}'\nidle = -1", ["nodes 1", "the idle power"]),
        (f"table = '{'x' * 5000}'\n[[nodes]]\nrow = 2", ["no such platform file"]),
        (f"{'x' * 5000} = 1\n[[nodes]]\ncores = 4", ["there is no key"]),
        (TABLE + f"row = 1{'0' * 4000}", ["no such row"]),
        ("[[nodes]]\ncores = 4\nops = 1e308\n[[nodes]]\ncores = 4\nops = 1.5e308", ["than can be added up"]),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_would_overwhelm_is_one_short_sentence(described, text, words):
    with pytest.raises(HarnessError) as error:
        described(text)
    said = str(error.value)
    assert [word for word in words if word not in said] == [], said
    assert len(said) < 600
    assert "\n" not in said


def test_a_platform_file_may_have_the_longest_name_there_is(tmp_path):
    path = tmp_path / f"{'p' * 250}.toml"
    path.write_text("[[nodes]]\ncores = 2\n")
    assert len(path.name) == 255
    assert read_platform(path).cores == 2
    with pytest.raises(HarnessError, match="the name is too long"):
        read_platform(tmp_path / f"{'p' * 251}.toml")
