"""Patterns that say the same, as merges that nobody made yet."""

from collections.abc import Sequence
from hashlib import blake2b

from workbench.core.agents.patterns.combining import Likeness
from workbench.core.agents.patterns.duplicates import PatternGroup, pattern_groups
from workbench.core.agents.patterns.pattern import Pattern
from workbench.core.duplicates.groups import text_mark
from workbench.core.review.proposal import Proposal
from workbench.core.text import one_line
from workbench.services.context import Context
from workbench.services.duplicates.plan import WORKBENCH
from workbench.services.review.finders.finder import Cancelled, Finder, Parts

KIND = "pattern-merge"

_CELLS = 300


def _find(parts: Parts, cancelled: Cancelled) -> tuple[Proposal, ...]:
    del cancelled
    return merges(parts.context)


def merges(context: Context) -> tuple[Proposal, ...]:
    """Return what merging the patterns that say the same would ask, a proposal for each group, decided or not."""
    return tuple(_proposal(context, group) for group in pattern_groups(context.library.table(Pattern).all()))


def marks_of(patterns: Sequence[Pattern]) -> tuple[str, ...]:
    """Return what tells the texts of patterns: an answer holds as long as these are the same."""
    return tuple(text_mark(pattern.content) for pattern in patterns)


def _proposal(context: Context, group: PatternGroup) -> Proposal:
    patterns = group.patterns
    ids, texts = [one.id for one in patterns], marks_of(patterns)
    name = blake2b("\n".join((*ids, *texts)).encode("utf-8", "replace"), digest_size=8).hexdigest()
    return Proposal(
        f"{KIND}-{name}", KIND, WORKBENCH, one_line(group.stands.name, _CELLS), context.now(), texts=texts,
        importance=10 * max(one.score for one in group.others) - 3,
        reasons=tuple(map(_likeness, group.others)),
        operation={"patterns": ids, "lines": [_said(one) for one in patterns]},
    )  # fmt: skip


def _likeness(one: Likeness) -> str:
    parts = ", ".join(f"{name} {part:.0%}" for name, part in one.parts.items())
    return f"{one.pattern.id} is {one.score:.0%} alike: {parts}"


def _said(one: Pattern) -> str:
    where = f"{one.category}, {one.status.replace('_', ' ')}, {one.usage_count:,}× used"
    return one_line(f"{one.id}: {one.name[:_CELLS]} — {one.line[: 2 * _CELLS]} ({where})", 3 * _CELLS)


PATTERNS = Finder(_find)
