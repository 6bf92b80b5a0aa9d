"""What Review shows of a Curator's or a Reflector's suggestion: its bullet before and after, as the playbook is now."""

from datetime import datetime

from textual.content import Content

from workbench.bench.playbook.curation import Card
from workbench.core.review.describe import describe
from workbench.core.review.proposal import Proposal
from workbench.core.text import one_line
from workbench.tui.playbook.curation.card_text import Mask, reasons, texts
from workbench.tui.review.candidate import answers, facts, heading
from workbench.tui.widgets.content import MUTED, body
from workbench.tui.widgets.figures import absolute, since


def suggestion(proposal: Proposal, card: Card | None, now: datetime, mask: Mask) -> Content:
    """Return a suggestion: the question, who suggests it and why, what stands in its way, and the texts.

    Without a `card` it is about a playbook that is not there any more.
    """
    said = describe(proposal)
    book = str(proposal.operation.get("book", ""))
    proposed = f"proposed {since(proposal.created_at, now)} ({absolute(proposal.created_at)})"
    parts = [Content.styled(said.question, "bold"), facts((proposal.actor, f"for {book}", proposed))]
    because = [reason for reason in proposal.reasons if not _quotes(reason, card)]
    parts += [Content.styled("+ ", "bold $text-success") + body(mask(reason)) for reason in because]
    if card is None:
        return Content("\n").join([*parts, body(mask(proposal.title)), Content(""), answers(said)])
    parts += [*reasons(card), Content(""), heading(one_line(card.title[:400], 200)), *texts(card, mask)[1:]]
    if not card.touches and card.after:
        parts.append(Content.styled("It changes no bullet that is there.", MUTED))
    return Content("\n").join([*parts, Content(""), answers(said)])


def _quotes(reason: str, card: Card | None) -> bool:
    """Tell whether a reason only says what a bullet said then; as it is now, it is shown in full."""
    return card is not None and any(reason.startswith(f"{bullet.id} says: ") for bullet in card.touches)
