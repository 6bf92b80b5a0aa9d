"""A process that holds a store's lock and does not go on."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HOLD = """
import sys
from pathlib import Path
from workbench.store.journal.engine import Journal
from workbench.store.journal.database import utc_now

journal = Journal(Path(sys.argv[1]), utc_now)
with journal.exclusive():
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def stopped_holder(store: Path) -> Iterator["subprocess.Popen[str]"]:
    """A process that holds the store's lock and is stopped."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(store)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        process.send_signal(signal.SIGSTOP)
        yield process
    finally:
        process.kill()
        process.communicate()


def go_on(process: "subprocess.Popen[str]") -> None:
    """Let the holder run to its end."""
    process.send_signal(signal.SIGCONT)
    process.communicate("")
