"""Files of JSON objects, one a line, to which a program is still adding."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO

from workbench.core.agents.transcript.events import Event
from workbench.core.record import parse_time

_LONGEST = 64 * 1024 * 1024

Doc = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Line:
    """A line that was read: the events in it, where the next one begins, and the session that it says it is of.

    `is_broken` says that it is no JSON object.
    """

    events: tuple[Event, ...]
    end: int
    session: str = ""
    is_broken: bool = False


def lines(
    file: BinaryIO,
    offset: int,
    events: Callable[[Doc], Iterable[Event]],
    is_noise: Callable[[bytes], bool] = lambda _: False,
) -> Iterator[Line]:
    """Yield the lines from an offset on, what `is_noise` unparsed; one that is still being written is not read yet.

    Raises `OSError`.
    """
    file.seek(offset)
    while raw := file.readline(_LONGEST):
        if not raw.endswith(b"\n") and len(raw) < _LONGEST and object_in(raw) is None:
            return
        offset += len(raw)
        if is_noise(raw):
            yield Line((), offset)
            continue
        doc = object_in(raw)
        if doc is None:
            yield Line((), offset, is_broken=bool(raw.strip()))
            continue
        yield Line(tuple(events(doc)), offset, str(doc.get("sessionId") or ""))


def object_in(raw: bytes | str) -> Doc | None:
    """Return the JSON object that a text is; `None` for anything else."""
    try:
        doc = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return doc if isinstance(doc, dict) else None


def time_of(doc: Mapping[str, Any]) -> datetime | None:
    """Return when a line was written, as far as it says so."""
    try:
        return parse_time(str(doc.get("timestamp")))
    except ValueError:
        return None
