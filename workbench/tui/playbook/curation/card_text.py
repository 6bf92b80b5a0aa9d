"""A suggestion for a playbook as text: what would happen, and both texts with their difference."""

from collections.abc import Callable
from typing import Literal

from textual.content import Content

from workbench.core.playbook.book import Bullet
from workbench.core.text import one_line, printable
from workbench.services.playbook.curation import Card
from workbench.tui.review.candidate import diff_legend, heading
from workbench.tui.review.evidence import ALIKE, overlap
from workbench.tui.widgets.content import MUTED, assemble, body, word_diff

Decision = Literal["", "accept", "skip"]
SIGNS: dict[Decision, tuple[str, str]] = {
    "": ("·", MUTED),
    "accept": ("✓", "bold $text-success"),
    "skip": ("✗", MUTED),
}
PROBLEM = ("!", "bold $text-warning")

Mask = Callable[[str], str]


def card_text(card: Card, decision: Decision, mask: Mask) -> Content:
    """Return a card in full: what would happen, why, what stands in its way, and the texts."""
    parts = [heading(one_line(card.title[:400], 200))]
    if decision:
        parts.append(Content.styled({"accept": "✓ accepted", "skip": "✗ left out"}[decision], SIGNS[decision][1]))
    return Content("\n").join([*parts, *reasons(card), *texts(card, mask)])


def reasons(card: Card) -> list[Content]:
    """Return what stands in the way of a card, and why it is suggested."""
    parts = []
    if card.problem:
        parts.append(Content.styled("! ", "bold $text-warning") + body(card.problem, "$text-warning"))
    if card.reason:
        parts.append(Content.styled("because  ", MUTED) + body(card.reason))
    return parts


def texts(card: Card, mask: Mask) -> list[Content]:
    """Return the difference from each text that it is alike enough to, the new text, and the bullets as they are."""
    if card.suggested is None:
        return [Content(""), heading("As it came"), body(mask(card.raw))]
    parts = []
    for bullet in card.touches:
        before = bullet.content
        if card.after and card.after != before and overlap(before, card.after) >= ALIKE:
            title = (
                "The difference" if len(card.touches) == 1 else f"From {one_line(bullet.id[:100], 60)} to the new text"
            )
            parts += [Content(""), heading(title, diff_legend()), word_diff(mask(before), mask(card.after))]
    if card.after and card.after != card.before:
        parts += [Content(""), heading("The new text"), body(mask(card.after))]
    for bullet in card.touches:
        parts += [Content(""), _as_it_is(bullet), body(mask(bullet.content))]
    return parts


def _as_it_is(bullet: Bullet) -> Content:
    marks = f"+{bullet.helpful_count} −{bullet.harmful_count}"
    return heading("Now", assemble([(printable(bullet.id), "bold"), (f"  {marks}", MUTED)]))
