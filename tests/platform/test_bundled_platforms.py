"""The platforms that come with the harness, and the small table in other hands."""

import pytest

import harness
from harness import HarnessError, PerformanceState, Platform, read_platform
from harness.disk import bundled
from harness.platform.finding import bundled_platforms

HEADER = "Vendor,Processor,#Chips,#Cores/Chip,RAM (GB),OPS@100%Load,Watts@100%Load\n"


@pytest.mark.parametrize("name", bundled_platforms())
def test_every_bundled_platform_is_read_by_name_and_says_what_it_is(name):
    platform = read_platform(name)
    assert platform.name == name
    assert platform.about
    assert platform.knows("peak")


def test_the_file_of_a_bundled_platform_is_documented_or_a_platform():
    names = {path.name for path in bundled.folder("platforms").iterdir()}
    assert names - {path.name for path in bundled_platforms().values()} == {"README.md"}


def test_the_service_rate_platform_in_both_readings():
    """80 cores; 2.0 and 2.66 GHz; e0 = 0.014 and 0.018, e = 0.041 and 0.034 kW a core, as printed or exchanged."""
    (printed,), (exchanged,) = read_platform("service-rate-80").types, read_platform("service-rate-80-exchanged").types
    assert (printed.count, printed.cores, printed.idle, printed.peak) == (80, 1, 18.0, 34.0)
    assert printed.performance == (PerformanceState(2.0 / 2.66, 14.0, 41.0),)
    assert (exchanged.count, exchanged.cores, exchanged.idle, exchanged.peak) == (80, 1, 18.0, 41.0)
    assert exchanged.performance == (PerformanceState(2.0 / 2.66, 14.0, 34.0),)


def test_the_synthetic_platform_has_all_there_is():
    platform = read_platform("synthetic-11")
    (node,) = platform.types
    assert platform.knows("curve")
    assert (len(node.performance), [state.name for state in node.sleep]) == (2, ["suspend", "off"])
    assert "synthetic" in platform.about


def test_whole_watts_are_those_of_a_core():
    exact, whole = read_platform("peas-table2"), read_platform("peas-table2(whole_watts=true)")
    assert [node.peak for node in exact.types[:2]] == [118.0, 170.0]
    assert [node.peak for node in whole.types[:2]] == [116.0, 168.0]  # 4 cores of 29 W, 8 cores of 21 W
    assert whole.name == "peas-table2(whole_watts=true)"


def test_whole_numbers_are_those_of_the_paper():
    """The operations per second of a core, their mean over all cores, and the runtimes on a node of the first kind."""
    exact, whole = read_platform("peas-table2"), read_platform("peas-table2(whole_numbers=true)")
    assert [node.peak for node in whole.types] == [
        node.peak for node in read_platform("peas-table2(whole_watts=true)").types
    ]
    assert all(node.ops == node.ops // node.cores * node.cores for node in whole.types)
    assert not all(node.ops == node.ops // node.cores * node.cores for node in exact.types)
    mean = sum(node.ops for node in whole.types) // whole.cores
    assert whole.speed(whole.types[0]) == whole.types[0].ops / whole.types[0].cores / mean
    assert whole.name == "peas-table2(whole_numbers=true)"
    assert whole.digest != Platform(whole.name, whole.types, whole.about).digest
    log = harness.prepare(harness.lublin(jobs=50, procs=20, seed=1))
    service = [harness.simulate(log, platform).frame["run"] for platform in (exact, whole)]
    assert (service[1] == service[1].round()).all()
    assert not (service[0] == service[0].round()).all()


def test_parentheses_in_a_file_name(written):
    assert read_platform(written(HEADER + "A,B,1,4,8,1000,90\n", "servers (1).csv")).cores == 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEADER + "A,B,1,4,8,1000\n", ["row 2", "Watts@100%Load", "not a number"]),
        (HEADER + "A,B,1,4,8,1000,90\nA,B,1,0,8,1000,90\n", ["row 3", "#Cores/Chip", "above 0"]),
        (HEADER + "A,B,1,4.5,8,1000,90\n", ["row 2", "whole numbers"]),
        (HEADER + "A,B,1e300,1e300,8,1000,90\n", ["row 2", "at most 10,000,000,000 cores"]),
        (HEADER + "A,B,1,4,8,n/a,90\n", ["row 2", "OPS@100%Load", "'n/a'"]),
        (HEADER.replace("RAM (GB)", "RAM (MB)") + "A,B,1,4,8,1000,90\n", ["RAM (MB)", "did you mean 'RAM (GB)'"]),
        (HEADER.replace("Vendor,", "") + "B,1,4,8,1000,90\n", ["expected a column 'Vendor'"]),
        ("", ["no rows"]),
    ],
)
def test_a_small_table_that_is_wrong(written, text, words):
    with pytest.raises(HarnessError) as error:
        read_platform(written(text))
    assert [word for word in ["servers.csv", *words] if word not in str(error.value)] == [], error.value


def test_names_that_are_nowhere(tmp_path):
    for name in ("service-rate-8", "service-rate-8.toml", tmp_path / "service-rate-8.csv"):
        with pytest.raises(HarnessError, match="did you mean 'service-rate-80'"):
            read_platform(name)
    with pytest.raises(HarnessError, match="no such platform file"):
        read_platform("x" * 5000 + ".toml")
    with pytest.raises(HarnessError, match="nodes; expected at most"):
        read_platform("9" * 5000)


@pytest.mark.parametrize("option", ["whole_watts", "whole_numbers"])
@pytest.mark.parametrize("value", ["yes", "1", "0.5", "whole"])
def test_options_of_a_table_are_true_or_false(option, value):
    with pytest.raises(HarnessError, match=f"{option} = .*: expected true or false"):
        read_platform(f"peas-table2({option}={value})")
