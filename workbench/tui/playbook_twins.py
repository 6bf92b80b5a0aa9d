"""A group of bullets that may be one, in words: what would stay, how the others differ, what a merge adds up."""

from collections.abc import Callable, Sequence

from textual.content import Content

from workbench.bench.bookalike import BulletGroup
from workbench.core.playbook import Bullet
from workbench.core.text import one_line, printable
from workbench.tui.content import MUTED, assemble, body, word_diff
from workbench.tui.figures import number
from workbench.tui.review_candidate import diff_legend, folded, heading
from workbench.tui.review_evidence import ALIKE, overlap
from workbench.tui.widgets.row import Cell

SIGNS = {"exact": "=", "case": "≡", "near": "≈"}
WORDS = {"exact": "the same text", "case": "the same text but for case", "near": "near"}
APART, WARN = "≠", "$text-warning"
LEGEND = "= the same text   ≡ but for case   ≈ near   ≠ near, but something speaks against it"

Mask = Callable[[str], str]


def sign_of(group: BulletGroup) -> str:
    """Return the sign of a group."""
    return APART if group.kind == "near" and group.conflicts else SIGNS[group.kind]


def group_row(group: BulletGroup, width: int, mask: Mask) -> list[Cell]:
    """Return a group as one line: sign, similarity, how many, the text of the first, what speaks against it."""
    sign = sign_of(group)
    text = printable(" ".join(mask(group.bullets[0].content)[: 8 * width + 64].split()))
    cells = [
        Cell(sign, 1, WARN if sign == APART else "bold $text-accent"),
        Cell(f"{group.similarity:.3f}", 5, MUTED),
        Cell(f"{len(group.bullets)}×", 3, "", "right"),
        Cell(text),
    ]
    if width >= 100 and group.conflicts:
        cells.append(Cell(", ".join(group.conflicts), 30, WARN))
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


def equals_text(groups: Sequence[BulletGroup]) -> Content:
    """Return what merging groups of equal texts would do, a line each."""
    lines = []
    for group in groups:
        kept, gone = group.ids[0], ", ".join(group.ids[1:])
        up, down = (sum(getattr(b, name) for b in group.bullets) for name in ("helpful_count", "harmful_count"))
        lines.append(assemble([(f"{kept}", "bold"), (f" ← {gone}", ""), (f"   +{up} −{down}", MUTED)]))
    return Content("\n").join(lines)


def _summary(group: BulletGroup, keep: Bullet, after: Bullet) -> Content:
    gone = one_line(", ".join(b.id for b in group.bullets if b.id != keep.id), 300)
    live = "live on as names" if len(group.bullets) > 2 else "lives on as a name"
    helpful = " + ".join(str(b.helpful_count) for b in group.bullets)
    harmful = " + ".join(str(b.harmful_count) for b in group.bullets)
    kind = WORDS[group.kind] + (f" · similarity {group.similarity:.3f}" if group.kind == "near" else "")
    return assemble(
        [
            (f"{sign_of(group)} {kind}", "bold"),
            (f"\nMerged: helpful {helpful} = {number(after.helpful_count)}", ""),
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
    lines = [_heading("Goes into it", other, titles, pair.similarity if pair and group.kind == "near" else None)]
    if pair is not None and group.kind == "near":
        verdict = pair.verdict
        lines += [Content.styled("+ ", "bold $text-success") + body(reason) for reason in verdict.reasons_for]
        lines += [Content.styled(f"{APART} ", WARN) + body(reason, WARN) for reason in verdict.reasons_against]
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
