"""Small files that unpack to much are refused in one sentence, in a process whose memory is limited."""

import bz2
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

HERE = Path(__file__).parent
#: The limit of `--max-size`, a sixteenth of the usual one, so that the files are made quickly; and the further memory
#: that the process may take.
LIMIT, MEMORY = "32MB", 1 << 30
MB = (1 << 20) >> 4

SWF = b"1 10 5 100 4 -1 -1 4 200 -1 1 7 8 9 2 3 -1 -1\n"
SACCT = b"JobIDRaw|Submit|Elapsed|State|NCPUS\n", b"1|2021-03-01T08:00:00|00:10:00|COMPLETED|4\n"
STATE = b"JOBID|STATE|SUBMIT_TIME|START_TIME|TIME_LIMIT|CPUS\n", b"1|PENDING|2021-03-01T08:00:00|N/A|1:00|4\n"
TABLE = b"submit,run,procs\n", b"1,2,3\n"
GAPS = b"interarrival,service,cores_used\n", b"1,2,3\n"
RAN = b"submit,start,end,procs\n", b"1,2,3,4\n"
PODS = b"cpu_milli,num_gpu,creation_time,scheduled_time\n", b"1,2,3,4\n"


def repeated(
    first: bytes, line: bytes, size: int = 9_000 * MB, pack: Callable[[bytes], bytes] = gzip.compress
) -> bytes:
    """Return packed data that unpacks to a line and about `size` bytes of the same other one."""
    part = line * (16 * MB // len(line))
    return pack(first) + pack(part) * (size // len(part))


def in_zip(line: bytes) -> bytes:
    """Return a zip whose only file unpacks to 9 GB."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    part = line * (16 * MB // len(line))
    content = (deflate.compress(part) + deflate.flush(zlib.Z_FULL_FLUSH)) * 560
    content += deflate.flush()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("log.swf", content)
    stored = bytearray(file.getvalue())
    for place in (8, stored.rindex(b"PK\1\2") + 10):  # the method: it was deflated already
        stored[place : place + 2] = (8).to_bytes(2, "little")
    for place in (22, stored.rindex(b"PK\1\2") + 24):
        stored[place : place + 4] = (len(part) * 200).to_bytes(4, "little")
    return bytes(stored)


def of_parquet(column: pa.Array, times: int, columns: int) -> bytes:
    """Return a Parquet file in which `columns` repeat one column so many times."""
    table = pa.table({("submit", "run", "procs", *SPARE)[k]: column for k in range(columns)})
    file = io.BytesIO()
    with parquet.ParquetWriter(file, table.schema) as writer:
        for _ in range(times):
            writer.write_table(table)
    return file.getvalue()


SPARE = tuple(f"x_{k}" for k in range(20))

#: The command and the file that it reads, by name.
BOMBS: dict[str, tuple[tuple[str, ...], Callable[[], bytes]]] = {
    "log.swf.gz": (("run", "FILE"), lambda: repeated(b"", SWF)),
    "log.swf.bz2": (("data", "show", "FILE"), lambda: repeated(b"", SWF, pack=bz2.compress)),
    "log.swf.xz": (("run", "FILE"), lambda: repeated(b"", SWF, pack=lzma.compress)),
    "log.swf.zip": (("run", "FILE"), lambda: in_zip(SWF)),
    "line.swf.gz": (("run", "FILE"), lambda: repeated(b"", b"1 ", 100 * MB)),
    "lines.swf.gz": (("run", "FILE", "--lenient"), lambda: repeated(b"", b"\n", 480 * MB)),
    "comments.swf.gz": (("run", "FILE"), lambda: repeated(b"", b";\n", 400 * MB)),
    "wrong.swf.gz": (("run", "FILE", "--lenient"), lambda: repeated(b"", b"1 2\n", 60 * MB)),
    "dump.log.gz": (("run", "FILE"), lambda: repeated(*SACCT, 2000 * MB)),
    "short.log.gz": (("run", "FILE", "--lenient"), lambda: repeated(SACCT[0], b"1\n", 100 * MB)),
    "state.txt.gz": (("run", "--state", "FILE", "--procs", "8"), lambda: repeated(*STATE, 2000 * MB)),
    "jobs.csv.gz": (("run", "FILE"), lambda: repeated(*TABLE, 2000 * MB)),
    "gaps.csv.gz": (("run", "FILE"), lambda: repeated(*GAPS, 2000 * MB)),
    "ran.csv.gz": (("verify", "FILE", "--promise", "fcfs", "--procs", "8"), lambda: repeated(*RAN, 2000 * MB)),
    "pods.csv.gz": (("run", "FILE"), lambda: repeated(*PODS, 2000 * MB)),
    "batsim.json.gz": (("run", "FILE"), lambda: repeated(b'{"jobs": [', b"[],", 1000 * MB)),
    "elastisim.json.gz": (("run", "FILE"), lambda: repeated(b'{"application_model": [', b"{},", 1000 * MB)),
    "state.json": (("run", "--state", "FILE", "--procs", "8"), lambda: b'{"jobs": [' + b"{},[]," * (150 * MB // 6)),
    "numbers.parquet": (("run", "FILE"), lambda: of_parquet(pa.array([0] * (1 << 18)), 10, 20)),
    "texts.parquet": (
        ("run", "FILE"),
        lambda: of_parquet(pa.array(["x" * 600]).take(pa.array([0] * (1 << 17), pa.int32())), 9, 1),
    ),
    "list.parquet": (("run", "FILE"), lambda: of_parquet(pa.array([[0] * (1 << 18)]), 400, 1)),
    "record.parquet": (("run", "FILE"), lambda: of_parquet(pa.array([{"a": 1}]), 1, 1)),
    "fixed.parquet": (("run", "FILE"), lambda: of_parquet(pa.array([b"x" * 16 * MB] * 30, pa.binary(16 * MB)), 2, 1)),
    "large.parquet": (("run", "FILE"), lambda: of_parquet(pa.array(["x" * 16 * MB] * 30, pa.large_string()), 2, 1)),
    "events.csv.gz": (
        ("run", "lublin(jobs=9)", "--events", "FILE"),
        lambda: repeated(b"time,event,subject\n", b"1,node-up,0\n", 1000 * MB),
    ),
    "kept.csv.gz": (
        ("run", "lublin(jobs=9)", "--reservations", "FILE"),
        lambda: repeated(b"begin,end\n", b"1,2\n", 1000 * MB),
    ),
    "servers.csv.gz": (
        ("run", "lublin(jobs=9)", "--platform", "FILE"),
        lambda: repeated(b"Vendor,Processor\n", b"1,2\n", 1000 * MB),
    ),
    "carbon.csv.gz": (
        ("run", "lublin(jobs=9)", "--signal", "FILE"),
        lambda: repeated(b"time,carbon\n", b"1,2\n", 2000 * MB),
    ),
    "nodes.toml": (
        ("run", "lublin(jobs=9)", "--platform", "FILE"),
        lambda: b"a = [" + b"[],\n" * (100 * MB // 4),
    ),
    "field.toml": (("tournament", "FILE", "--dry-run"), lambda: b"a = [" + b"[],\n" * (100 * MB // 4)),
    "gate.json": (("check", "FILE"), lambda: b'{"schema": 1, "field": [' + b"[]," * (150 * MB // 3)),
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What came of each file, in one process of limited memory."""
    place = tmp_path_factory.mktemp("bombs")
    for name, (_, content) in BOMBS.items():
        (place / name).write_bytes(content())
        assert (place / name).stat().st_size < 160 * MB
    calls = {name: [word.replace("FILE", name) for word in call] for name, (call, _) in BOMBS.items()}
    environment = os.environ | {
        "HARNESS_CACHE": str(place / "cache"),
        "NUMBA_DISABLE_JIT": "1",
        "HARNESS_MAX_SIZE": LIMIT,
    }
    code = (
        f"import sys, json, resource; sys.path.insert(0, {str(HERE)!r}); from fuzzing import outcome\n"
        "import harness, pandas, pyarrow.parquet\n"
        "taken = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        f"resource.setrlimit(resource.RLIMIT_AS, (taken + {MEMORY}, taken + {MEMORY}))\n"
        f"for name, call in json.loads({json.dumps(calls)!r}).items():\n"
        "    one = outcome(call)\n"
        "    print(json.dumps([name, one.kind, one.seen]), flush=True)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return {name: [kind, seen] for name, kind, seen in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_that_unpacks_to_much_is_refused_in_a_sentence(found: dict[str, list[str]], name: str) -> None:
    kind, seen = found[name]
    assert kind == "refused", seen
    assert "expected" in seen
    assert "not enough memory" not in seen
