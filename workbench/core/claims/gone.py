"""What a text names that is not there any more: what it became, how that is known, and the text with the new names."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from workbench.core.claims.names import Name
from workbench.core.record import minute


@dataclass(frozen=True, slots=True)
class Gone:
    """A name whose thing is not in the working tree, and what became of it.

    `now` is its new name as far as one is known, and is there. `commit` is the one that took it away, made `at` a time;
    both empty where the change is in the working tree only. `place` is the file in which that was.
    """

    name: Name
    now: str = ""
    commit: str = ""
    at: datetime | None = None
    place: str = ""


def why(gone: Gone) -> str:
    """Return what became of a name, in words."""
    what = f"{gone.name.tool} " if gone.name.kind == "target" else ""
    happened = f"is {what}{gone.now} now" if gone.now else "is not there any more"
    place = f" in {gone.place}" if gone.place and gone.name.kind != "path" else ""
    by = f"commit {gone.commit[:10]}" if gone.commit else "not committed yet"
    when = f" of {minute(gone.at)[:10]}" if gone.at else ""
    return f"{what}{gone.name.written} {happened} ({by}{when}{place})"


def corrected(text: str, found: Iterable[Gone]) -> str:
    """Return a text with the new names of what has one, each put in wherever it stands by itself."""
    for gone in found:
        if gone.now:
            text = re.sub(rf"(?<![\w/-]){re.escape(gone.name.written)}(?![\w/-]|\.\w)", lambda _: gone.now, text)  # noqa: B023
    return text
