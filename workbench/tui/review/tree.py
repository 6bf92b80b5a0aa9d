"""The citations of an item as a tree: what it cites in full, below each what that cites in turn."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from textual.content import Content

from workbench.core.text import printable
from workbench.services.review.citations import MAX_CITED, Branch
from workbench.services.review.rejection import rejection_of
from workbench.services.review.review import Cited
from workbench.tui.review.candidate import facts, heading, name
from workbench.tui.stream.memory_view import REFLECTION
from workbench.tui.widgets.content import MUTED, assemble, body
from workbench.tui.widgets.figures import ago

GONE_STYLE = "$text-error"
STEP = 2
"""Cells that a level is indented by."""

_LINES = 4
"""Lines of a text that something cited cites in turn; what the item itself cites stands in full."""

BRIEF = 1_500
"""Characters of a cited text that are shown until another thread has wrapped all of it."""

BRIEF_LINES = 60
"""Lines of it that are shown until then."""

_BRIEF_TEXTS = 12
"""Cited texts that are shown until then: a merge may have a hundred, and no more of them are in sight."""

_LEAST = 24
"""Cells that a text keeps, however deep it stands."""


def tree(title: str, branches: Sequence[Branch], width: int, now: datetime, *, brief: bool = False) -> list[Content]:
    """Return the lines of a tree of citations, `width` cells wide at most; `brief` cuts what is beyond a screenful."""
    deepest = max(branch.depth for branch in branches) + 1
    more = Content.styled(f"down {deepest} levels", MUTED) if deepest > 1 else None
    lines = [heading(title, more)]
    for place, branch in enumerate(branches[:_BRIEF_TEXTS] if brief else branches):
        if place and branch.depth == 0:
            lines.append(Content(""))
        lines += _branch(branch, width, now, brief=brief)
    if len(branches) == MAX_CITED:
        lines.append(Content.styled(f"… only the first {MAX_CITED} citations are shown.", MUTED))
    return lines


def flat(title: str, cited: Iterable[Cited], width: int, now: datetime, *, brief: bool = False) -> list[Content]:
    """Return the lines of citations that have nothing below them."""
    return tree(title, [Branch(one, 0) for one in cited], width, now, brief=brief)


def _branch(branch: Branch, width: int, now: datetime, *, brief: bool) -> list[Content]:
    indent = min(STEP * branch.depth, max(0, width - _LEAST))
    # What is cut away anyway is neither made safe nor wrapped before.
    room = max(_LEAST, width - indent)
    most = _LINES * room if branch.depth else BRIEF if brief else 0
    head, text = _cited(branch, now, most)
    lead = Content(" " * (indent - STEP)) + Content.styled("└ ", MUTED) if indent else Content("")
    rows = [lead + row if at == 0 else Content(" " * indent) + row for at, row in enumerate(head.wrap(room))]
    if text is None or branch.again:
        return rows
    wrapped = text.wrap(room)
    if branch.depth and len(wrapped) > _LINES:
        wrapped = [*wrapped[: _LINES - 1], Content.styled("…", MUTED)]
    return rows + [Content(" " * indent) + row for row in wrapped]


def _beginning(text: str, most: int, style: str) -> Content:
    """Return so much of a text as there is room for, all of it for a `most` of 0."""
    cut = text[:most] if most else text
    if most and cut.count("\n") > BRIEF_LINES:
        cut = "\n".join(cut.split("\n", BRIEF_LINES)[:BRIEF_LINES])
    return body(cut, style) + Content.styled("…", MUTED) if len(cut) < len(text) else body(text, style)


def _cited(branch: Branch, now: datetime, most: int) -> tuple[Content, Content | None]:
    """Return the line that names what is cited, and so many characters of its text (0: all)."""
    cited, memory, gone = branch.cited, branch.cited.memory, branch.cited.gone
    if memory is None:
        return assemble([("✗ ", f"bold {GONE_STYLE}"), (name(cited.id), ""), (f" · {gone}", GONE_STYLE)]), None
    details = facts((
        memory.id,
        f"was {cited.id}, merged into it" if cited.merged else "",
        memory.observation_type,
        "a reflection itself" if memory.is_synthetic else "",
        f"importance {memory.importance_score:.0f}",
        ago(memory.created_at, now),
        "shown above" if branch.again else "",
    ))  # fmt: skip
    if not gone:
        sign = "∪ " if cited.merged else f"{REFLECTION} " if memory.is_synthetic else "· "
        return Content.styled(sign, "$text-accent") + details, _beginning(memory.content, most, "")
    reason = rejection_of(memory).reason
    why = f"{gone}: {printable(reason[:200])}" if reason else gone
    head = assemble([("✗ ", f"bold {GONE_STYLE}"), (f"{why} · ", GONE_STYLE)]) + details
    return head, _beginning(memory.content, most, MUTED)
