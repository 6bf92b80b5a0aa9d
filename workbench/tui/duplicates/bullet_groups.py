"""A group of bullets that may be one, in words: what would stay, how the others differ, what a merge adds up."""

from collections import Counter
from collections.abc import Callable, Sequence

from textual.content import Content

from workbench.core.duplicates.identity import Conflict
from workbench.core.playbook.book import Bullet
from workbench.core.text import one_line, printable
from workbench.services.duplicates.bullet_groups import BulletGroup, Kind
from workbench.tui.review.evidence import ALIKE, overlap
from workbench.tui.review.impact import diff_legend, folded, heading
from workbench.tui.widgets.content import MUTED, assemble, body, undo, word_diff
from workbench.tui.widgets.figures import amount, number
from workbench.tui.widgets.lists.row import Cell

SIGNS: dict[Kind, str] = {"exact": "=", "case": "≡", "near": "≈", "opposed": "⇄", "apart": "≠"}
WORDS: dict[Kind, str] = {
    "exact": "the same text",
    "case": "the same text but for case",
    "near": "near: nothing speaks against making them one",
    "opposed": "opposites: no duplicates, and one of them may be wrong",
    "apart": "alike, but something speaks against making them one",
}
AGAINST, WARN = "≠", "$text-warning"
LISTED = 12
"""Groups, or objections, that a question names at most; half as many groups with the beginning of their text."""

Mask = Callable[[str], str]


def counted(groups: Sequence[BulletGroup], kept: int = 0) -> Content:
    """Return how many groups of each kind there are, and what merging those would save against which nothing speaks.

    `kept` is how many pairs somebody keeps apart.
    """
    count = Counter(group.kind for group in groups)
    fewer = sum(len(group.bullets) - 1 for group in groups if group.ordinary)
    ordinary = (
        f"= {number(count['exact'])} equal   ≡ {number(count['case'])} but for case   ≈ {number(count['near'])} near"
    )
    odd = f"⇄ {number(count['opposed'])} opposites   ≠ {number(count['apart'])} alike, but they differ"
    parts = [(ordinary, "bold"), (f"   merged: {fewer_bullets(fewer)}\n", ""), (odd, WARN)]
    if kept:
        parts.append((f"   {amount(kept, 'pair')} kept apart", MUTED))
    return assemble(parts)


def fewer_bullets(count: int) -> str:
    """Return "1 bullet fewer", "3 bullets fewer"."""
    return f"{amount(count, 'bullet')} fewer"


def group_row(group: BulletGroup, width: int, mask: Mask) -> list[Cell]:
    """Return a group as one line: sign, similarity, how many, the text of the first, what speaks against it."""
    text = printable(" ".join(mask(group.bullets[0].content)[: 8 * width + 64].split()))
    cells = [
        Cell(SIGNS[group.kind], 1, "bold $text-accent" if group.ordinary else WARN),
        Cell(f"{group.similarity:.3f}", 5, MUTED),
        Cell(f"{len(group.bullets)}×", 3, "", "right"),
        Cell(text),
    ]
    if width >= 100 and not group.ordinary:
        # Judging every two of a large group takes a while; the first two tell what it is about.
        told = [why for why in group.pairs[0].verdict.conflicts if why is not Conflict.CONTRADICTION]
        cells.append(Cell(mask(", ".join(told)), 34, WARN))
    return cells


def group_text(
    group: BulletGroup, kept: int, proposed: str | None, after: Bullet, titles: dict[str, str], mask: Mask
) -> Content:
    """Return a group in full.

    `kept` is the place of the bullet whose id stays, `proposed` another text than its own, `after` what a merge
    would leave, `titles` those of the sections.
    """
    keep = group.bullets[kept]
    content = keep.content if proposed is None else proposed
    label = "Stays" if proposed is None else "Stays, with the new text"
    parts = [_summary(group, keep, after), Content(""), _heading(label, keep, titles), body(mask(content))]
    if proposed is not None:
        parts += [Content.styled("instead of  ", MUTED) + diff_legend(), _difference(keep.content, proposed, mask)]
    for other in group.bullets:
        if other.id != keep.id:
            parts += [Content(""), *_other(group, keep, content, other, titles, mask)]
    return Content("\n").join(parts)


def equals_text(groups: Sequence[BulletGroup], mask: Mask) -> Content:
    """Return what merging groups of equal texts would do: who stays, who goes, the votes; of few, how they begin."""
    lines = []
    for group in groups[:LISTED]:
        kept, gone = printable(group.ids[0]), one_line(", ".join(group.ids[1:]), 60)
        up, down = (sum(getattr(b, name) for b in group.bullets) for name in ("helpful_count", "harmful_count"))
        lines.append(assemble([(f"{kept}", "bold"), (f" ← {gone}", ""), (f"   +{up} −{down}", MUTED)]))
        if len(groups) <= LISTED // 2:
            lines.append(Content.styled("  " + one_line(mask(group.bullets[0].content)[:400], 60), MUTED))
    if len(groups) > LISTED:
        lines.append(Content.styled(f"… and {number(len(groups) - LISTED)} more groups", MUTED))
    return Content("\n").join(lines)


def objections(group: BulletGroup, mask: Mask) -> Content:
    """Return what speaks against merging a group, a line each, and what would be lost."""
    lines = [Content.styled(f"{AGAINST} ", WARN) + body(mask(told)) for told in group.conflicts[:LISTED]]
    return Content("\n").join(
        [*lines, Content.styled(f"\nOnly the text that stays is kept. {undo()} takes it back.", MUTED)]
    )


def _summary(group: BulletGroup, keep: Bullet, after: Bullet) -> Content:
    gone = one_line(", ".join(b.id for b in group.bullets if b.id != keep.id), 300)
    live = "live on as names" if len(group.bullets) > 2 else "lives on as a name"
    helpful = " + ".join(str(b.helpful_count) for b in group.bullets)
    harmful = " + ".join(str(b.harmful_count) for b in group.bullets)
    known = "" if group.kind in ("exact", "case") else f" · similarity {group.similarity:.3f}"
    return assemble(
        [
            (f"{SIGNS[group.kind]} {WORDS[group.kind]}", "bold" if group.ordinary else f"bold {WARN}"),
            (known, MUTED),
            (f"\n{'Merged' if group.ordinary else 'If merged'}: helpful {helpful} = {number(after.helpful_count)}", ""),
            (f" · harmful {harmful} = {number(after.harmful_count)}", ""),
            (
                f" · {gone} {live} of {keep.id}",
                MUTED,
            ),
        ]
    )


def _other(
    group: BulletGroup, keep: Bullet, content: str, other: Bullet, titles: dict[str, str], mask: Mask
) -> list[Content]:
    pair = group.between(keep.id, other.id)
    compared = group.kind not in ("exact", "case")
    lines = [_heading("Goes into it", other, titles, pair.similarity if pair and compared else None)]
    if pair is not None and compared:
        verdict = pair.verdict
        lines += [Content.styled("+ ", "bold $text-success") + body(mask(reason)) for reason in verdict.reasons_for]
        lines += [Content.styled(f"{AGAINST} ", WARN) + body(mask(told), WARN) for told in verdict.reasons_against]
    if other.content == content:
        return [*lines, Content.styled("(the same text)", MUTED)]
    lines.append(body(mask(other.content)))
    if overlap(content, other.content) >= ALIKE:
        lines += [Content.styled("difference  ", MUTED) + diff_legend(), _difference(content, other.content, mask)]
    return lines


def _difference(one: str, other: str, mask: Mask) -> Content:
    return folded(word_diff(mask(one), mask(other)))


def _heading(label: str, bullet: Bullet, titles: dict[str, str], similarity: float | None = None) -> Content:
    known = "" if similarity is None else f" · similarity {similarity:.3f}"
    told = f"+{bullet.helpful_count} −{bullet.harmful_count} · {one_line(titles.get(bullet.section, ''), 60)}{known}"
    return heading(label, assemble([(printable(bullet.id), "bold"), (f"  {told}", MUTED)]))
