"""What went wrong in hooks: a small file in the user's state folder, since a hook never says so to its agent."""

import contextlib
import json
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from workbench.core.files.atomic import write_file
from workbench.core.record import iso

FILE_NAME = "failures.jsonl"
LONGEST = 65_536
"""Bytes from which on the older half of the file goes."""


class HookFailure(NamedTuple):
    """One thing that went wrong: when, at which event of which agent, and what it was, in a sentence."""

    at: str
    agent: str
    event: str
    problem: str


def note(captures: Path, at: datetime, agent: str, event: str, problem: str) -> bool:
    """Note a failure; tell whether that could be done."""
    line = json.dumps({"at": iso(at), "agent": agent[:40], "event": event[:40], "problem": problem[:400]}) + "\n"
    path = captures / FILE_NAME
    with contextlib.suppress(OSError):
        captures.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        handle = os.open(path, flags, 0o600)
        with os.fdopen(handle, "ab") as file:
            file.write(line.encode("ascii"))
        if path.stat().st_size > LONGEST:
            lines = path.read_bytes()[-LONGEST // 2 :].split(b"\n", 1)[-1]
            write_file(path, lines, durable=False)
        return True
    return False


def failures(captures: Path, most: int = 20) -> tuple[HookFailure, ...]:
    """Return the latest failures, newest first."""
    try:
        lines = (captures / FILE_NAME).read_bytes().splitlines()
    except OSError:
        return ()
    found = []
    for raw in reversed(lines):
        with contextlib.suppress(ValueError, RecursionError):
            doc = json.loads(raw)
            if isinstance(doc, Mapping):
                found.append(HookFailure(*(str(doc.get(name, "")) for name in HookFailure._fields)))
        if len(found) == most:
            break
    return tuple(found)
