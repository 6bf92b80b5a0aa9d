"""How Review draws the proposals of each kind; the entries of `core.review.proposal` name these."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from textual.content import Content

from workbench.core.named import implementation
from workbench.core.record import WorkbenchError
from workbench.core.review.describe import Wording, describe
from workbench.core.review.kinds import ProposalKind, kind_of
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.core.text import one_line, printable
from workbench.services.open import Workbench
from workbench.services.playbook.curation import Card
from workbench.services.review.queue import MAX_CITED, Branch, Evidence
from workbench.services.review.rejection import rejection_of
from workbench.services.review.review import Cited
from workbench.services.safety.masking import masked
from workbench.services.safety.suspicion import FLAGS, suspicions
from workbench.tui.playbook.curation.cards import Mask, reasons, texts
from workbench.tui.review.impact import answers, arguments, candidate, changes, facts, heading, merge, name, replacement
from workbench.tui.stream.memory_view import REFLECTION
from workbench.tui.widgets.content import MUTED, assemble, body
from workbench.tui.widgets.figures import absolute, ago, number, since

if TYPE_CHECKING:
    from workbench.tui.app.host import Host


# Which items of Review stood on the screen, and which of those that are unsafe to look at were unfolded.


_UNSAFE = frozenset(FLAGS.values())


class Seen:
    """Remembers of every item the text that stood on the screen; when that changes, the item counts as unseen."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._read: dict[str, str] = {}
        self._unfolded: dict[str, str] = {}

    def holds(self, proposal: Proposal) -> bool:
        """Tell whether an item, as its text is now, stood on the screen, and unfolded."""
        return self._read.get(proposal.id) == self.text_of(proposal) and not self.is_folded(proposal)

    def note(self, proposal: Proposal) -> None:
        """Note that an item stands on the screen; a folded one stays folded."""
        self._read[proposal.id] = self.text_of(proposal)

    def unfold(self, proposals: Iterable[Proposal]) -> None:
        """Note that these were seen in full, whatever is in them."""
        for proposal in proposals:
            self._read[proposal.id] = self._unfolded[proposal.id] = self.text_of(proposal)

    def was_unfolded(self, proposal: Proposal) -> bool:
        """Tell whether somebody wanted to see all of an item, secrets too."""
        return proposal.id in self._unfolded

    def is_folded(self, proposal: Proposal) -> bool:
        """Tell whether the item's text is folded away as unsafe to look at."""
        if kind_of(proposal.kind).is_candidate and not _UNSAFE.intersection(proposal.flags):
            return False  # candidates carry what was found in them as flags
        memory = self._bench.review.memory(proposal)
        if memory is None or self._unfolded.get(proposal.id) == memory.content:
            return False
        return bool(suspicions(memory, self._bench.safety.sorts))

    def text_of(self, proposal: Proposal) -> str:
        """Return the words that an item is about."""
        memory = self._bench.review.memory(proposal)
        return proposal.title if memory is None else memory.content


# The citations of an item as a tree: what it cites in full, below each what that cites in turn.


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
        parts.append(Content.styled("It changes no existing bullet.", MUTED))
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
    from workbench.tui.safety import ask

    del proposal
    await ask(app)


async def _ask_documents(app: "Host", proposal: Proposal) -> None:
    from workbench.tui.agents.documents import DocumentsDialog

    folder = Path(str(proposal.operation.get("path", "")))
    await app.push_screen_wait(DocumentsDialog(app.bench, folder))


def _because(evidence: Evidence, how: Cites) -> list[Content]:
    """Draw what speaks for it; what it is about itself, the first of its evidence, stands in the other pane."""
    cited = evidence.cited
    if not cited:
        return [Content.styled("∅ No evidence cited.", WARN)]
    lines = []
    if len(cited) > 1 or cited[0].memory is None:
        rest = cited if cited[0].memory is None else cited[1:]
        lines = flat(f"Reason: {_memories(len(rest))}", rest, how.width, how.now, brief=how.brief)
    return _with_tree(lines, evidence, how)


def _going(evidence: Evidence, how: Cites) -> list[Content]:
    """Draw all of what would go."""
    return flat(
        f"{_memories(len(evidence.cited))} would be archived", evidence.cited, how.width, how.now, brief=how.brief
    )


def _cited_if_any(evidence: Evidence, how: Cites) -> list[Content]:
    """Draw what it cites, if anything: reasons and episodes stand beside its texts."""
    return _because(evidence, how) if evidence.cited else []


def _candidate_cited(evidence: Evidence, how: Cites) -> list[Content]:
    if not evidence.cited and evidence.messages:
        many = "one message" if evidence.messages == 1 else f"{number(evidence.messages)} messages"
        return [Content.styled(f"Captured from {many} of the session shown with it.", MUTED)]
    if not evidence.cited:
        return _because(evidence, how)
    rests = f"Evidence: {_memories(len(evidence.cited))}"
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


def _with_tree(lines: list[Content], evidence: Evidence, how: Cites) -> list[Content]:
    if not evidence.tree:
        return lines
    deeper = tree("Evidence of the evidence", evidence.tree, how.width, how.now, brief=how.brief)
    return [*lines, *([Content("")] if lines else []), *deeper]


def _memories(count: int) -> str:
    return "1 memory" if count == 1 else f"{count} memories"


def _nothing(evidence: Evidence, how: Cites) -> list[Content]:
    """Draw nothing: it rests on no memory."""
    del evidence, how
    return []


CHANGES = View(_item, _because)
FILE = View(_file_item, _nothing, promotable=False, compares=False)
PATTERN = View(_pattern_item, _cited_if_any, compares=False)
PATTERNS = View(_lines_item, _nothing, "This is already a merge: approve it.", promotable=False, compares=False)
GOING = View(_item, _going, "This does not concern a single memory.", promotable=False, compares=False)
TRUST = View(_item, _nothing, promotable=False, ask=_ask_trust, compares=False)
DOCUMENTS = View(_item, _nothing, promotable=False, ask=_ask_documents, compares=False)
REPLACES = View(_item, _both, "Approve keeps the newer memory; “keep old” keeps the older one.", promotable=False)
SUPERSEDE = View(_supersede_item, _because, promotable=False)
CANDIDATE = View(_candidate_item, _candidate_cited)
CURATOR = View(_curator_item, _cited_if_any)
MERGE = View(_merge_item, _merge_cited, "This is already a merge: approve it.", promotable=False)
