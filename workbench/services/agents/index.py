"""An overview of a store in Markdown, for people and for agents: counts, what was confirmed lately,
top patterns.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench.core.files.format import Format, Parsed
from workbench.core.record import WorkbenchError
from workbench.core.stream.confidence import effective_importance
from workbench.core.stream.memory import STATUSES, Memory, is_served
from workbench.core.text import one_line
from workbench.core.tuning.profile import WORKBENCH
from workbench.services.agents.serving import as_served
from workbench.services.context import Context
from workbench.services.promotion.placements import places_of
from workbench.services.safety.safety import Safety

if TYPE_CHECKING:
    from workbench.services.files.exporting import Exporter, ExportPreview, Written


RECENT, TOP = 10, 10
"""How many memories are listed that were confirmed lately, and how many patterns."""

_PATTERNS = ("pattern", "convention", "insight")
_LINE = 200


def overview(
    memories: Sequence[Memory],
    told: Iterable[Memory],
    now: datetime,
    unreviewed: Collection[str] = (),
) -> str:
    """Return the overview: all memories are counted, and only what is `told` is spoken of, with its
    ids and lines.

    The lines of those that are `unreviewed`, by their ids as they are told, say so: agents read
    this, too.
    """
    told = [m for m in told if is_served(m, now)]
    confirmed = sorted(
        (m for m in told if m.status in ("confirmed", "promoted")), key=_newest, reverse=True
    )
    patterns = [m for m in told if m.observation_type in _PATTERNS or m.is_synthetic]
    patterns.sort(
        key=lambda m: (
            -effective_importance(m, now, WORKBENCH.feedback, WORKBENCH.feedback_half_life),
            m.id,
        )
    )
    statuses = Counter(m.status for m in memories)
    held = ", ".join(f"{statuses[status]:,} {status}" for status in STATUSES if statuses[status])
    parts = [
        "# Memory index",
        f"{len(memories):,} memories: {held or 'none'}",
        _counts("By type", (m.observation_type for m in told)),
        _counts("By category", (m.category for m in told if m.category)),
        _listed("Confirmed lately", confirmed[:RECENT], unreviewed),
        _listed("Top patterns", patterns[:TOP], unreviewed),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _newest(memory: Memory) -> tuple[datetime, str]:
    return memory.created_at, memory.id


def _counts(title: str, names: Iterable[str]) -> str:
    rows = [f"- {one_line(name, 60)}: {count:,}" for name, count in Counter(names).most_common()]
    return "\n".join((f"## {title}", "", *rows)) if rows else ""


def _listed(title: str, memories: Sequence[Memory], unreviewed: Collection[str]) -> str:
    marks = dict.fromkeys(unreviewed, ", unreviewed")
    rows = [
        f"- {one_line(m.line, _LINE)} ({m.id}, {m.created_at:%Y-%m-%d} UTC{marks.get(m.id, '')})"
        for m in memories
    ]
    return "\n".join((f"## {title}", "", *rows)) if rows else ""


# The overview as a file, `memory-index.md`: written by the store alone, and never over what
# somebody else wrote.


def _as_it_is(_parsed: Parsed, original: str | None) -> str:
    """Return the file as it is: an overview is made of a whole store, and of no records that a file
    could hold.
    """
    return original or ""


OUTLET = Format("memory-index", "memory index", write=_as_it_is, suffix=".md")
"""What the file is noted as: another export does not replace it, and this one replaces nothing
else.
"""


class IndexText(NamedTuple):
    """An overview, and how many memories in it are counted and not told, because they are held back
    from agents.
    """

    text: str
    withheld: int


class IndexFile:
    """Makes the overview of a store, and writes it to a file."""

    def __init__(
        self, context: Context, safety: Safety, exporter: "Callable[[], Exporter]"
    ) -> None:
        self._context = context
        self._safety = safety
        self._exporter = exporter

    def made(self) -> IndexText:
        """Return the overview as it is now."""
        memories = self._context.library.memories.all()
        withheld = {memory.id for memory in memories if self._safety.held_from_agents(memory)}
        given = [memory for memory in memories if memory.id not in withheld]
        served, blocks = as_served(self._context, given, self._safety)
        told = [replace(shown, id=blocks.name(shown.id)) for shown in served]
        both = zip(told, given, strict=True)
        unreviewed = {shown.id for shown, stored in both if not blocks.origins[stored.id].approved}
        return IndexText(overview(memories, told, self._context.now(), unreviewed), len(withheld))

    def preview(self, path: Path) -> "ExportPreview":
        """Compare the overview with the file that it would replace. Raises `WorkbenchError` for
        what is no text.
        """
        return self._exporter().preview(path, self.made().text, kind=OUTLET)

    def write(self, path: Path, *, force: bool = False) -> "Written":
        """Write the file in one step; with `force` also over one that somebody else wrote, of which
        a copy is kept.

        Raises `NotReplaced` without `force`, `NotTrusted`, and `WorkbenchError` when it cannot be
        written.
        """
        return self._exporter().write(self.preview(path), force=force)

    def follow(self) -> None:
        """Write the file that the settings name (`reflection.index`), if they do; raises as `write`
        does.
        """
        name = self._context.settings.index_file
        if not name:
            return
        project = places_of(self._context.library.folder).project
        path = Path(name).expanduser()
        if not path.is_absolute():
            if project is None:
                message = f"The overview {name} cannot be placed: this store belongs to no project."
                raise WorkbenchError(
                    message, "Give reflection.index an absolute path, or leave it empty."
                )
            path = project / path
        self.write(path)
