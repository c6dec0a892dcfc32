"""The process that a command is."""

import subprocess
import sys


def test_garbage_is_looked_for_neither_while_a_command_begins_nor_when_it_ends():
    code = (
        "import atexit, gc, sys\n"
        "from harness.__main__ import main\n"
        "gc.callbacks.append(lambda phase, info: looked.append(info['generation']))\n"
        "looked = []\n"
        "sys.argv = ['harness', 'list', 'orders']\n"
        "atexit.register(lambda: print(len(looked), file=sys.stderr))\n"
        "main()\n"
        "assert gc.isenabled()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == "0\n"
