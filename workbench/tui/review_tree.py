"""The citations of an item as a tree: what it cites in full, below each what that cites in turn."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from textual.content import Content

from workbench.bench.citations import MAX_CITED, Branch
from workbench.bench.rejection import rejection_of
from workbench.bench.review import Cited
from workbench.core.text import printable
from workbench.tui.content import MUTED, assemble, body
from workbench.tui.figures import ago
from workbench.tui.review_candidate import facts, heading, name

GONE_STYLE = "$text-error"
STEP = 2
"""Cells that a level is indented by."""

_LINES = 4
"""Lines of a text that something cited cites in turn; what the item itself cites stands in full."""

_LEAST = 24
"""Cells that a text keeps, however deep it stands."""


def tree(title: str, branches: Sequence[Branch], width: int, now: datetime) -> list[Content]:
    """Return the lines of a tree of citations, `width` cells wide at most."""
    deepest = max(branch.depth for branch in branches) + 1
    more = Content.styled(f"down {deepest} levels", MUTED) if deepest > 1 else None
    lines = [heading(title, more)]
    for place, branch in enumerate(branches):
        if place and branch.depth == 0:
            lines.append(Content(""))
        lines += _branch(branch, width, now)
    if len(branches) == MAX_CITED:
        lines.append(Content.styled(f"… only the first {MAX_CITED} citations are shown.", MUTED))
    return lines


def flat(title: str, cited: Iterable[Cited], width: int, now: datetime) -> list[Content]:
    """Return the lines of citations that have nothing below them."""
    return tree(title, [Branch(one, 0) for one in cited], width, now)


def _branch(branch: Branch, width: int, now: datetime) -> list[Content]:
    indent = min(STEP * branch.depth, max(0, width - _LEAST))
    head, text = _cited(branch, now)
    lead = Content(" " * (indent - STEP)) + Content.styled("└ ", MUTED) if indent else Content("")
    room = max(_LEAST, width - indent)
    rows = [lead + row if at == 0 else Content(" " * indent) + row for at, row in enumerate(head.wrap(room))]
    if text is None or branch.again:
        return rows
    wrapped = text.wrap(room)
    if branch.depth and len(wrapped) > _LINES:
        wrapped = [*wrapped[: _LINES - 1], Content.styled("…", MUTED)]
    return rows + [Content(" " * indent) + row for row in wrapped]


def _cited(branch: Branch, now: datetime) -> tuple[Content, Content | None]:
    """Return the line that names what is cited, and its text."""
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
        sign = "⇄ " if cited.merged else "◇ " if memory.is_synthetic else "◆ "
        return Content.styled(sign, "$text-accent") + details, body(memory.content)
    reason = rejection_of(memory).reason
    why = f"{gone}: {printable(reason[:200])}" if reason else gone
    head = assemble([("✗ ", f"bold {GONE_STYLE}"), (f"{why} · ", GONE_STYLE)]) + details
    return head, body(memory.content, MUTED)
