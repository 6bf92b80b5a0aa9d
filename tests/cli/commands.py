"""Commands in processes of their own that start in milliseconds; imported by them, so kept free of
test machinery.

They are forked from a process that has everything loaded: what is tried is the command, not the
start of Python.
"""

import multiprocessing
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from workbench.__main__ import main

STREAMS = ("out", "err")
PEAK = "peak"
MOST = 6 << 30
"""Bytes of memory, all told, that a command may ask for."""

LOADED = (
    "tests.cli.commands",
    "workbench.services.open",
    "workbench.services.files.importing",
    "workbench.services.files.exporting",
    "workbench.services.tuning.retriever",
    "workbench.services.stream.ingest",
    "workbench.services.safety.leaks",
    "workbench.services.health.purge",
    "workbench.services.review.review",
    "workbench.services.playbook.playbook",
    "workbench.cli.editing",
    "workbench.cli.status",
    "workbench.cli.health",
    "workbench.cli.importing",
    "workbench.cli.export",
    "workbench.cli.review",
    "workbench.cli.safety",
    "workbench.cli.playbook",
    "workbench.cli.reading",
    "workbench.store.maintenance.backup",
    "workbench.safety.scanning",
    "workbench.formats.opening",
)


class Command:
    """One run of the command line, with the environment of this moment and `more`, that can be
    killed at any time.

    `peak` is, once it has ended by itself, how many bytes of memory it had at most.
    """

    def __init__(self, arguments: Sequence[str], cwd: Path, **more: str) -> None:
        self.peak = 0
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(list(LOADED))
        self._streams = tempfile.mkdtemp()
        environment = {**os.environ, **more}
        self._process = context.Process(
            target=_run, args=(list(arguments), str(cwd), environment, self._streams)
        )
        self._process.start()

    @property
    def code(self) -> int | None:
        """The exit code; `None` while it runs, negative when a signal ended it."""
        return self._process.exitcode

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def ended(self, patience: float | None = None) -> tuple[int, str, str]:
        """Wait for its end, at most so many seconds; return the exit code, and what came on stdout
        and stderr.
        """
        self._process.join(patience)
        if self._process.exitcode is None:
            self.kill()
            self._process.join()
        out, err = (self._said(name) for name in STREAMS)
        self.peak = int(self._said(PEAK) or 0) * 1024
        shutil.rmtree(self._streams)
        code = self._process.exitcode
        assert code is not None
        return code, out, err

    def _said(self, name: str) -> str:
        """Return what was printed; nothing when it was killed before it could."""
        file = Path(self._streams, name)
        return file.read_text("utf-8", "replace") if file.exists() else ""


def _run(arguments: list[str], cwd: str, environment: dict[str, str], streams: str) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, name in enumerate(STREAMS, 1):
        handle = os.open(Path(streams, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(handle, number)
        os.close(handle)
    # Every line is there once it is printed, so that what was acknowledged is known.
    sys.stdout, sys.stderr = (
        open(n, "w", buffering=1, encoding="utf-8", closefd=False)  # noqa: SIM115
        for n in (1, 2)
    )
    resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))
    Path("/proc/self/clear_refs").write_text(
        "5"
    )  # the highest memory so far is that of the process it was forked from
    code = main(arguments)
    Path(streams, PEAK).write_text(
        re.findall(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[0]
    )
    sys.exit(code)
