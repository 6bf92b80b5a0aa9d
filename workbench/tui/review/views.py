"""How Review draws the proposals of each kind; the entries of `core.review.kinds` name these."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from textual.content import Content

from workbench.core.errors import WorkbenchError
from workbench.core.named import implementation
from workbench.core.review.describe import Wording, describe
from workbench.core.review.kinds import ProposalKind
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.core.text import one_line
from workbench.services.open import Workbench
from workbench.services.playbook.curation import Card
from workbench.services.review.evidence import Evidence
from workbench.services.safety.masking import masked
from workbench.tui.playbook.curation.card_text import Mask, reasons, texts
from workbench.tui.review.candidate import answers, arguments, candidate, changes, facts, heading, merge, replacement
from workbench.tui.review.tree import flat, tree
from workbench.tui.widgets.content import MUTED, body
from workbench.tui.widgets.figures import absolute, number, since

if TYPE_CHECKING:
    from workbench.tui.app.host import Host

WARN = "bold $text-warning"
_SIGNED = {"+": "$text-success", "-": "$text-error"}
"""The styles of what is added and what goes; the sign says it, too."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Look:
    """A look at one item: the memory it is about, and what stands for its text while that is folded away (`hidden`).

    An item that somebody wanted to see all of is `unfolded`: its secrets are shown, too.
    """

    bench: Workbench
    proposal: Proposal
    memory: Memory | None
    hidden: Content | None
    unfolded: bool

    @property
    def now(self) -> datetime:
        """Return the present moment."""
        return self.bench.context.now()

    def shown(self, value: T) -> T:
        """Return values as they are shown: without secrets, unless somebody wants to see them."""
        return value if self.unfolded else masked(value, self.bench.safety.masked)


@dataclass(frozen=True, slots=True)
class Cites:
    """How the citations of an item are drawn: when, how wide, and with `brief` as much of each as fits a screen."""

    now: datetime
    width: int
    brief: bool


@dataclass(frozen=True, slots=True)
class View:
    """How one kind is drawn: its item, and what it rests on.

    `no_merge` is said where a merge of it is asked for; what is about several memories is not `promotable`. `ask` is
    what approving one opens instead, where it is decided in a dialog that shows more. What `compares` is about one
    memory, and is told from others that are like it.
    """

    item: Callable[[Look], Content]
    cited: Callable[[Evidence, Cites], list[Content]]
    no_merge: str = "Only candidates merge."
    promotable: bool = True
    ask: "Callable[[Host, Proposal], Awaitable[None]] | None" = None
    compares: bool = True


def view_of(kind: ProposalKind) -> View:
    """Return how a kind is drawn; its module is imported then."""
    return cast(View, implementation(kind.view))


def _item(look: Look) -> Content:
    proposal, memory = look.shown((look.proposal, look.memory))
    return changes(proposal, describe(proposal), memory, look.now, look.hidden)


def _candidate_item(look: Look) -> Content:
    proposal, memory = look.shown((look.proposal, look.memory))
    return _item(look) if memory is None else candidate(proposal, memory, look.now, look.hidden)


def _merge_item(look: Look) -> Content:
    cited = look.bench.review.cited(look.proposal)
    proposal, group = look.shown((look.proposal, [c.memory for c in cited if c.memory is not None]))
    if len(group) < 2 or look.hidden is not None:
        return _item(look)
    return merge(proposal, describe(proposal), group, look.now)


def _supersede_item(look: Look) -> Content:
    proposal, memory = look.shown((look.proposal, look.memory))
    said = describe(proposal)
    text = proposal.operation.get("content")
    if memory is None or look.hidden is not None or not isinstance(text, str):
        return _item(look)
    return replacement(proposal, said, memory, text, look.now)


def _curator_item(look: Look) -> Content:
    mask, said = look.bench.safety.masked, describe(look.proposal)
    return suggestion(look.proposal, said, _card(look), look.now, mask)


def _card(look: Look) -> Card | None:
    """Return what a suggestion for a playbook would do, or `None` when that playbook is gone."""
    try:
        return look.bench.curating.card_of(look.proposal)
    except WorkbenchError:
        return None


def suggestion(proposal: Proposal, said: Wording, card: Card | None, now: datetime, mask: Mask) -> Content:
    """Return a suggestion: the question, who suggests it and why, what stands in its way, and the texts.

    Without a `card` it is about a playbook that is not there any more.
    """
    book = str(proposal.operation.get("book", ""))
    proposed = f"proposed {since(proposal.created_at, now)} ({absolute(proposal.created_at)})"
    parts = [Content.styled(said.question, "bold"), facts((proposal.actor, f"for {book}", proposed))]
    # As its bullets are now, the card shows them in full; without one, what they said is all there is.
    because = said.pro if card is None else proposal.reasons
    parts += [Content.styled("+ ", "bold $text-success") + body(mask(reason)) for reason in because]
    if card is None:
        return Content("\n").join([*parts, body(mask(proposal.title)), Content(""), answers(said)])
    parts += [*reasons(card), Content(""), heading(one_line(card.title[:400], 200)), *texts(card, mask)[1:]]
    if not card.touches and card.after:
        parts.append(Content.styled("It changes no bullet that is there.", MUTED))
    return Content("\n").join([*parts, Content(""), answers(said)])


def _file_item(look: Look) -> Content:
    """Draw what a changed file says now, record by record."""
    proposal = look.shown(look.proposal)
    said = describe(proposal)
    place = str(proposal.operation.get("path", ""))
    proposed = f"found {since(proposal.created_at, look.now)}"
    parts = [Content.styled(said.question, "bold"), body(place, MUTED), facts((said.label, proposed))]
    parts += [*arguments(proposal), Content("")]
    lines = proposal.operation.get("lines")
    for line in lines if isinstance(lines, list | tuple) else ():
        parts.append(body(str(line), _SIGNED.get(str(line)[:1], MUTED)))
    return Content("\n").join([*parts, Content(""), answers(said)])


def _lines_item(look: Look) -> Content:
    """Draw what its operation lists, a line each."""
    proposal = look.shown(look.proposal)
    said = describe(proposal)
    lines = proposal.operation.get("lines")
    parts = [Content.styled(said.question, "bold"), body(proposal.title), *arguments(proposal), Content("")]
    parts += [body(str(line)) for line in (lines if isinstance(lines, list | tuple) else ())]
    return Content("\n").join([*parts, Content(""), answers(said)])


def _pattern_item(look: Look) -> Content:
    """Draw a pattern that recurs: what it says and in which episodes it was."""
    proposal = look.shown(look.proposal)
    doc, episodes = proposal.operation.get("pattern"), proposal.operation.get("episodes")
    if not isinstance(doc, Mapping) or not isinstance(episodes, list | tuple):
        return _item(look)
    said = describe(proposal)
    parts = [Content.styled(said.question, "bold"), body(str(doc.get("name", "")), "bold")]
    parts += [facts((str(doc.get("category", "")), f"found {since(proposal.created_at, look.now)}"))]
    parts += [*arguments(proposal), Content(""), body(str(doc.get("description", ""))), Content(""), answers(said)]
    parts += [Content(""), heading("The episodes", Content.styled("✓ succeeded  ✗ did not", MUTED))]
    for one in episodes:
        sign, id, task = (*map(str, one), "", "", "")[:3]
        parts.append(body(f"{sign} {task}") + Content(" ") + facts((id,)))
    if more := proposal.operation.get("more"):
        parts.append(Content.styled(f"… and {more} more", MUTED))
    return Content("\n").join(parts)


async def _ask_trust(app: "Host", proposal: Proposal) -> None:
    from workbench.tui.safety.trust_dialog import ask

    del proposal
    await ask(app)


async def _ask_documents(app: "Host", proposal: Proposal) -> None:
    from workbench.tui.agents.documents.dialog import DocumentsDialog

    folder = Path(str(proposal.operation.get("path", "")))
    await app.push_screen_wait(DocumentsDialog(app.bench, folder))


def _because(evidence: Evidence, how: Cites) -> list[Content]:
    """Draw what speaks for it; what it is about itself, the first of its evidence, stands in the other pane."""
    cited = evidence.cited
    if not cited:
        return [Content.styled("∅ It cites nothing.", WARN)]
    lines = []
    if len(cited) > 1 or cited[0].memory is None:
        rest = cited if cited[0].memory is None else cited[1:]
        lines = flat(f"Because of {_memories(len(rest))}", rest, how.width, how.now, brief=how.brief)
    return _with_tree(lines, evidence, how)


def _going(evidence: Evidence, how: Cites) -> list[Content]:
    """Draw all of what would go."""
    return flat(f"{_memories(len(evidence.cited))} would go", evidence.cited, how.width, how.now, brief=how.brief)


def _pattern_cited(evidence: Evidence, how: Cites) -> list[Content]:
    """Draw what it cites, if anything: the episodes stand beside what it says."""
    return _because(evidence, how) if evidence.cited else []


def _candidate_cited(evidence: Evidence, how: Cites) -> list[Content]:
    if not evidence.cited and evidence.messages:
        many = "one message" if evidence.messages == 1 else f"{number(evidence.messages)} messages"
        return [Content.styled(f"Captured from {many} of the session named beside it.", MUTED)]
    if not evidence.cited:
        return _because(evidence, how)
    rests = f"Rests on {_memories(len(evidence.cited))}"
    return tree(rests, evidence.tree, how.width, how.now, brief=how.brief)


def _merge_cited(evidence: Evidence, how: Cites) -> list[Content]:
    count = len(evidence.cited)
    if not count:
        return _because(evidence, how)
    head = "The two in full, the newer first" if count == 2 else f"The {count} in full, the newest first"
    return _with_tree(flat(head, evidence.cited, how.width, how.now, brief=how.brief), evidence, how)


def _both(evidence: Evidence, how: Cites) -> list[Content]:
    """Draw two that contradict each other."""
    return flat("The two in full, the older first", evidence.cited, how.width, how.now, brief=how.brief)


def _curator_cited(evidence: Evidence, how: Cites) -> list[Content]:
    """Draw what it cites, if anything: its reasons stand beside its texts."""
    return _because(evidence, how) if evidence.cited else []


def _with_tree(lines: list[Content], evidence: Evidence, how: Cites) -> list[Content]:
    if not evidence.tree:
        return lines
    deeper = tree("What it rests on itself", evidence.tree, how.width, how.now, brief=how.brief)
    return [*lines, *([Content("")] if lines else []), *deeper]


def _memories(count: int) -> str:
    return "1 memory" if count == 1 else f"{count} memories"


def _nothing(evidence: Evidence, how: Cites) -> list[Content]:
    """Draw nothing: it rests on no memory."""
    del evidence, how
    return []


CHANGES = View(_item, _because)
FILE = View(_file_item, _nothing, promotable=False, compares=False)
PATTERN = View(_pattern_item, _pattern_cited, compares=False)
PATTERNS = View(_lines_item, _nothing, "This is a merge already: approve makes it.", promotable=False, compares=False)
MOVED = View(_lines_item, _going, "These are about no single memory.", promotable=False, compares=False)
GOING = View(_item, _going, "These are about no single memory.", promotable=False, compares=False)
TRUST = View(_item, _nothing, promotable=False, ask=_ask_trust, compares=False)
DOCUMENTS = View(_item, _nothing, promotable=False, ask=_ask_documents, compares=False)
REPLACES = View(_item, _both, "Approve keeps the new one of these, keep old the other.", promotable=False)
SUPERSEDE = View(_supersede_item, _because, promotable=False)
CANDIDATE = View(_candidate_item, _candidate_cited)
CURATOR = View(_curator_item, _curator_cited)
MERGE = View(_merge_item, _merge_cited, "This is a merge already: approve makes it.", promotable=False)
