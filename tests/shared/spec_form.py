"""SPEC's export in small, with all its oddities of form."""

#: As SPEC spells them: padded, one without blanks around the @, and two names too many at the end.
HEADER = [
    "Benchmark",
    "Hardware Vendor\t",
    "System",
    "Nodes\t",
    "Result",
    "ssj_ops @ 100% of target load\t",
    *(f"Average watts @ {load}% of target load\t" for load in range(100, 10, -10)),
    "Average watts@10% of target load\t",
    "Average watts @ active idle\t",
    "# Cores",
    "# Chips ",
    "# Cores Per Chip ",
    "Processor ",
    "Memory (GB)",
    "Disclosure",
    "Disclosure URL",
    "Disclosures",
]

#: Watts from idle to full load.
CURVE = (60.0, 80.0, 95.0, 108.0, 120.0, 132.0, 145.0, 160.0, 178.0, 198.0, 220.0)
WATTS = tuple(map(str, CURVE))


def spec_row(
    system="Alpha 1",
    *,
    nodes="1",
    result="1000",
    ops="400000",
    watts=WATTS,
    cores="8",
    chips="2",
    per_chip="4",
    memory="32.0",
    number="20110101-00001",
    vendor="Maker, Inc.",
    processor="Fast 5000",
):
    """A row, its watts given from idle to full load."""
    url = f'http://www.spec.org/res/power_ssj2008-{number}.html"<A HREF=""/res/{number}.html"">HTML</A>'
    quoted = [f'"{text}"' for text in ("power_ssj2008", vendor, system, nodes, result, ops, *reversed(watts))]
    quoted += [f'"{text}"' for text in (cores, chips, per_chip, processor, memory)]
    return ",".join([*quoted, url])


def spec_text(*rows):
    """A whole table, with the line ends of Windows."""
    return "\r\n".join([",".join(HEADER), *rows, ""])
