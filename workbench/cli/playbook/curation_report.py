"""What `workbench curate` prints of the replies: each suggestion with its difference and what stands in its way."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.cli.output import plain, say
from workbench.cli.safety.flags import Shown
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from workbench.services.open import Workbench
    from workbench.services.playbook.curation import Card, Reply
    from workbench.services.playbook.curation_asking import Asked, CurationPlan

TEXT = 200
"""Cells of a suggestion's text."""


@dataclass(frozen=True, slots=True)
class Curated:
    """A curation: what was asked, what came of it with the cards of each reply, and how many went into Review."""

    plan: "CurationPlan"
    asked: "Asked"
    looked: "tuple[tuple[Reply, tuple[Card, ...]], ...]"
    fresh: int
    dry: bool


def print_curation(bench: "Workbench", done: Curated) -> None:
    """Print each reply with its suggestions, what became of them, and what was used."""
    mask, limit = bench.safety.masked, done.plan.limit
    for reply, cards in done.looked:
        said = f": {one_line(mask(reply.said), 400)}" if reply.said else ""
        say(f"The {reply.actor}{said}")
        for card in cards:
            _print_card(card, mask)
        say()
    say(_sum(done))
    month = f"; {bench.curation.runs.spent():,} of {limit:,} this month" if limit else ""
    say(f"Used {done.asked.usage.input:,} tokens in and {done.asked.usage.output:,} out{month}.")


def curation_json(bench: "Workbench", done: Curated) -> dict[str, object]:
    """Return a curation for `--json`."""
    plan, asked, shown = done.plan, done.asked, Shown(bench)
    return {
        "book": plan.book,
        "told": len(plan.told),
        "since": plan.since,
        "unknown_bullets": plan.unknown,
        "dry_run": done.dry,
        "replies": [
            {"actor": reply.actor, "said": reply.said, "suggestions": [shown(_card_json(card)) for card in cards]}
            for reply, cards in done.looked
        ],
        "into_review": done.fresh,
        "problem": None if asked.problem is None else asked.problem.message,
        "unread": [one.reply for one in asked.unread],
        "usage": {**_object(asked.usage), "month": bench.curation.runs.spent(), "limit": plan.limit},
    }


def difference(card: "Card", mask: Callable[[str], str]) -> str:
    """Return a card's text: as a word diff where one bullet changes, as it came where it cannot be read."""
    from workbench.cli.worddiff import word_diff

    if card.suggested is None:
        return mask(card.raw)
    if card.before == card.after:
        return ""
    return word_diff(mask(card.before), mask(card.after)) if card.before and card.after else mask(card.after)


def _print_card(card: "Card", mask: Callable[[str], str]) -> None:
    say(f"  {'!' if card.problem else '·'} {one_line(card.title, TEXT)}")
    facts = (("", difference(card, mask)), ("because ", card.reason), ("not possible: ", card.problem))
    for label, text in facts:
        if text:
            say(f"      {label}{one_line(text, TEXT)}")


def _sum(done: Curated) -> str:
    count, fresh = sum(len(reply.parts) for reply in done.asked.replies), done.fresh
    if not count:
        return "Nothing is suggested." if done.asked.replies else "No reply could be read."
    if done.dry:
        return f"{counted(count, 'suggestion')}; nothing was put into Review."
    known = f", {count - fresh:,} of them waited or were decided already" if fresh < count else ""
    return f"{counted(count, 'suggestion')}{known}; {fresh:,} new in Review. `workbench undo` takes them out again."


def _card_json(card: "Card") -> dict[str, object]:
    kept = {k: v for k, v in _object(card).items() if k in ("title", "raw", "reason", "problem", "before", "after")}
    return {**kept, "touches": [bullet.id for bullet in card.touches]}


def _object(value: object) -> dict[str, object]:
    doc = plain(value)
    assert isinstance(doc, dict)
    return doc
