"""How Review draws the proposals of each kind, and what a decision rests on; `core.review.kinds`
names the views.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from textual.content import Content

from workbench.core.change import Change
from workbench.core.record import WorkbenchError, as_list
from workbench.core.review.describe import Wording, describe
from workbench.core.review.kinds import ProposalKind, kind_of
from workbench.core.review.proposal import Proposal
from workbench.core.runtime import Cancelled
from workbench.core.stream.memory import Memory
from workbench.core.text import one_line, printable
from workbench.services.open import Workbench
from workbench.services.review.kinds import CONTENT
from workbench.services.review.queue import MAX_CITED, Branch, Cited, Evidence
from workbench.services.review.rewriting import rejection_of, rounds_of
from workbench.services.safety.suspicion import FLAGS, suspicions
from workbench.tui.actions import IMPACT
from workbench.tui.app.actions import bindings
from workbench.tui.playbook.curation import reasons, texts
from workbench.tui.review.inbox import (
    ALIKE,
    SHARED,
    answers,
    compared,
    diff_legend,
    facts,
    flags_in_words,
    fold,
    heading,
    name,
    overlap,
    told_apart,
)
from workbench.tui.widgets.content import (
    BLANK,
    MUTED,
    assemble,
    body,
    first_line_bold,
    joined,
    key_of,
    keyed,
    muted,
    says_the_same,
    word_diff,
)
from workbench.tui.widgets.dialog import TextDialog
from workbench.tui.widgets.figures import absolute, ago, amount, scores, since

if TYPE_CHECKING:
    from workbench.services.review.queue import Impact, QueryImpact
    from workbench.tui.app.area import AreaScreen
    from workbench.tui.app.host import Host

GONE_STYLE = "$text-error"
WARN = "bold $text-warning"
_COMPARED = 20
"""Memories of a merge that are each compared with the newest one."""

_SIGNED = {"+": "$text-success", "-": "$text-error"}
"""The styles of what is added and what goes; the sign says it, too."""

T = TypeVar("T")


# Which items stood on the screen, and which of those that are unsafe to look at were unfolded.


class Seen:
    """Remembers of every item the text that stood on the screen; when that changes, the item counts
    as unseen.
    """

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._read: dict[str, str] = {}
        self._unfolded: dict[str, str] = {}

    def holds(self, proposal: Proposal) -> bool:
        """Tell whether an item, as its text is now, stood on the screen, and unfolded."""
        return self._read.get(proposal.id) == self._text_of(proposal) and not self.is_folded(
            proposal
        )

    def note(self, proposal: Proposal) -> None:
        """Note that an item stands on the screen; a folded one stays folded."""
        self._read[proposal.id] = self._text_of(proposal)

    def unfold(self, proposals: Iterable[Proposal]) -> None:
        """Note that these were seen in full, whatever is in them."""
        for proposal in proposals:
            self._read[proposal.id] = self._unfolded[proposal.id] = self._text_of(proposal)

    def was_unfolded(self, proposal: Proposal) -> bool:
        """Tell whether somebody wanted to see all of an item, secrets too."""
        return proposal.id in self._unfolded

    def is_folded(self, proposal: Proposal) -> bool:
        """Tell whether the item's text is folded away as unsafe to look at."""
        if kind_of(proposal.kind).is_candidate and not set(FLAGS.values()).intersection(
            proposal.flags
        ):
            return False  # candidates carry what was found in them as flags
        memory = self._bench.review.memory(proposal)
        if memory is None or self._unfolded.get(proposal.id) == memory.content:
            return False
        return bool(suspicions(memory, self._bench.safety.sorts))

    def _text_of(self, proposal: Proposal) -> str:
        memory = self._bench.review.memory(proposal)
        return proposal.title if memory is None else memory.content


# The item itself: a candidate in full, a merge as a diff, any other proposal as its changes.


@dataclass(frozen=True, slots=True)
class Look:
    """A look at one item: the memory it is about, and what stands for its text while that is folded
    away (`hidden`).

    Secrets of an item that somebody wanted to see all of (`unfolded`) are shown, too.
    """

    bench: Workbench
    proposal: Proposal
    memory: Memory | None
    hidden: Content | None = None
    unfolded: bool = False

    def shown(self, value: T) -> T:
        return value if self.unfolded else self.bench.safety.shown(value)

    @property
    def now(self) -> datetime:
        return self.bench.context.now()


class At(NamedTuple):
    """What a decision rests on, as of a moment, to be drawn at a width."""

    evidence: Evidence
    now: datetime
    width: int


@dataclass(frozen=True, slots=True)
class View:
    """How one kind is drawn: its item, and what it rests on, at a width.

    `no_merge` is said where a merge of it is asked for; what is about several memories is not
    `promotable`. `ask` is what approving one opens instead, where it is decided in a dialog that
    shows more. What `compares` is about one memory, and is told from others that are like it.
    """

    item: Callable[[Look], Content]
    cited: Callable[[At], list[Content]]
    no_merge: str = "Only candidates merge."
    promotable: bool = True
    ask: "Callable[[Host, Proposal], Awaitable[None]] | None" = None
    compares: bool = True


def view_of(kind: ProposalKind) -> View:
    """Return how a kind is drawn."""
    return VIEWS.get(kind.id, CHANGES)


def item_text(bench: Workbench, seen: Seen, proposal: Proposal, key: str) -> Content:
    """Return an item as it may be shown; `key` opens a text that is folded away."""
    memory, hidden = bench.review.memory(proposal), None
    if memory is not None and seen.is_folded(proposal):
        hidden = fold(suspicions(memory, bench.safety.sorts), key)
    look = Look(bench, proposal, memory, hidden, seen.was_unfolded(proposal))
    look = replace(
        look, proposal=look.shown(proposal), memory=None if memory is None else look.shown(memory)
    )
    return view_of(kind_of(proposal.kind)).item(look)


def _framed(
    look: Look, *middle: Content, about: Sequence[str] = (), title: bool = True, nothing: str = ""
) -> Content:
    """Return what a proposal asks, who proposed it and why, then `middle`, and what the answers do."""
    proposal, said = look.proposal, describe(look.proposal)
    proposed = f"proposed {since(proposal.created_at, look.now)} ({absolute(proposal.created_at)})"
    parts = [
        Content.styled(said.question, "bold"),
        facts((said.label, *about, proposed, f"by {proposal.actor}")),
    ]
    parts += [body(proposal.title)] if title else []
    parts += [
        Content.styled("+ ", "bold $text-success") + body(reason) for reason in proposal.reasons
    ]
    if proposal.flags:
        parts.append(flags_in_words(proposal.flags))
    elif nothing:
        parts.append(muted(nothing))
    return joined(*parts, BLANK, *middle, BLANK, _answers(said))


def _answers(said: Wording) -> Content:
    return answers(*(f"{answer[:1].upper()}{answer[1:]}." for answer in (said.yes, said.no)))


def _item(look: Look) -> Content:
    proposal, memory = look.proposal, look.memory
    parts = (
        [heading("Approving would change"), *map(_change, proposal.changes)]
        if proposal.changes
        else []
    )
    if memory is not None:
        about = facts(memory_facts(memory, look.now))
        parts = [
            look.hidden or body(memory.content),
            facts((memory.id, memory.status)),
            about,
            *parts,
        ]
    return _framed(look, *parts, title=memory is None or proposal.title != memory.line)


def _change(change: Change) -> Content:
    lines = [Content.styled(f"{change.op} {name(change.id)} in {name(change.table)}", "bold")]
    for field, step in change.fields.items():
        before, after = step.before, step.after
        texts = isinstance(before, str) and isinstance(after, str)
        shown = (
            word_diff(str(before), str(after))
            if texts
            else body(f"{_value(before)} → {_value(after)}")
        )
        lines.append(muted(f"  {name(field)}: ") + shown)
    return joined(*lines)


def _value(value: object) -> str:
    return "–" if value is None else value if isinstance(value, str) else repr(value)


def candidate_text(look: Look) -> Content:
    """Draw a candidate: its line, the facts, the flags, and the whole text, or what stands for a
    hidden one.
    """
    proposal, memory, hidden = look.proposal, look.memory, look.hidden
    if memory is None:
        return _item(look)
    summed = bool(memory.summary) and not says_the_same(memory.summary, memory.content)
    parts = [body(memory.summary, "bold")] if summed and hidden is None else []
    parts.append(facts(_candidate_facts(proposal, memory, look.now)))
    if proposal.flags:
        parts.append(flags_in_words(proposal.flags))
    text = hidden or body(memory.content, "" if memory.summary else "bold")
    if hidden is None and memory.summary and not summed:
        text = first_line_bold(text)
    return joined(*parts, BLANK, text)


def _candidate_facts(proposal: Proposal, memory: Memory, now: datetime) -> tuple[str, ...]:
    rounds = len(rounds_of(memory)) - 1
    label, question = (str(memory.metadata.get(key, "")) for key in ("label", "question"))
    return (
        f"importance {proposal.importance:.0f}",
        *memory_facts(memory, now),
        "pinned once approved" if memory.pinned else "",
        f"by {proposal.actor}" + (f" ({name(label)})" if label and label != proposal.actor else ""),
        f"asked “{name(question)}”" if question else "",
        f"{amount(rounds, 'round')} before this one" if rounds else "",
        f"put off until {absolute(memory.review_after)}"
        if memory.review_after and memory.review_after > now
        else "",
    )


def memory_facts(memory: Memory, now: datetime) -> tuple[str, ...]:
    """Return what is known about any memory besides its text."""
    return (
        memory.observation_type,
        memory.memory_type,
        f"made {since(memory.created_at, now)} ({absolute(memory.created_at)})",
        f"session {memory.session_id}" if memory.session_id else "",
        f"said by {memory.source.speaker}" if memory.source.speaker else "",
        memory.source.file or "",
        " ".join(f"#{name(tag)}" for tag in memory.tags[:12]),
    )


def _merge_item(look: Look) -> Content:
    """Draw a word diff with each older text, and what merging would do; the kept memory comes last."""
    proposal = look.proposal
    group = [
        look.shown(c.memory) for c in look.bench.review.cited(proposal) if c.memory is not None
    ]
    if len(group) < 2 or look.hidden is not None:
        return _item(look)
    newest, kept, parts = max(group, key=lambda m: (m.created_at, m.id)), group[-1], list[Content]()
    others = [m for m in group if m is not newest]
    for older in others[:_COMPARED]:
        title = (
            "From the older to the newer"
            if len(group) == 2
            else f"From {name(older.id)} to the newest"
        )
        parts += [*told_apart(title, older.content, newest.content), BLANK]
    if len(others) > _COMPARED:
        parts += [
            muted(f"… and {len(others) - _COMPARED} more; they are shown in full alongside."),
            BLANK,
        ]
    edited = proposal.operation.get(CONTENT)
    text = f"of {name(newest.id)}"
    if isinstance(edited, str):
        text = "above"
        parts += [heading("The remaining text, as edited"), body(edited), BLANK]
    gone = ", ".join(name(m.id) for m in group if m is not kept)
    outcome = f"Merging keeps {name(kept.id)} with the text {text}, adds up the votes, and archives {gone} as merged."
    similarity = "" if proposal.similarity is None else f"similarity {proposal.similarity:.3f}"
    about = (similarity, f"importance {proposal.importance:.0f}")
    return _framed(
        look, *parts, muted(outcome), about=about, title=False, nothing="No objection found."
    )


def _supersede_item(look: Look) -> Content:
    """Draw what is to take the place of a memory: a word diff with what is known, and the new text
    in full.
    """
    text, memory = look.proposal.operation.get("content"), look.memory
    if memory is None or look.hidden is not None or not isinstance(text, str):
        return _item(look)
    difference = told_apart(f"From {name(memory.id)} to the proposed text", memory.content, text)
    return _framed(look, *difference, BLANK, heading("In full"), body(text), title=False)


def _curator_item(look: Look) -> Content:
    """Draw a suggestion for a playbook as a card; of a playbook that is gone, what its bullets
    said.
    """
    about = (f"for {look.proposal.operation.get('book', '')}",)
    try:
        card = look.bench.safety.shown(look.bench.curating.card_of(look.proposal))
    except WorkbenchError:
        said = (
            Content.styled("+ ", "bold $text-success") + body(reason)
            for reason in describe(look.proposal).pro
        )
        return _framed(look, *said, about=about)
    parts = [*reasons(card), BLANK, heading(one_line(card.title, 200)), *texts(card)[1:]]
    if not card.touches and card.after:
        parts.append(muted("It changes no existing bullet."))
    return _framed(look, *parts, about=about, title=False)


def _lines_item(look: Look) -> Content:
    """Draw what its operation lists, a line each, as of a file that changed."""
    operation = look.proposal.operation
    lines = [body(str(operation["path"]), MUTED)] if "path" in operation else []
    lines += [
        body(str(one), _SIGNED.get(str(one)[:1], "")) for one in as_list(operation.get("lines"))
    ]
    return _framed(look, *lines)


def _pattern_item(look: Look) -> Content:
    """Draw a pattern that recurs: what it says and in which episodes it was."""
    operation = look.proposal.operation
    doc = operation.get("pattern")
    if not isinstance(doc, Mapping):
        return _item(look)
    parts = [body(str(doc.get("name", "")), "bold"), body(str(doc.get("description", ""))), BLANK]
    parts.append(heading("The episodes", muted("✓ succeeded  ✗ did not")))
    for one in as_list(operation.get("episodes")):
        sign, id, task = (*map(str, cast(Sequence[object], one)), "", "", "")[:3]
        parts.append(body(f"{sign} {task} ") + facts((id,)))
    if more := operation.get("more"):
        parts.append(muted(f"… and {more} more"))
    return _framed(look, *parts, about=(str(doc.get("category", "")),), title=False)


async def _ask_trust(app: "Host", _proposal: Proposal) -> None:
    from workbench.tui.safety import ask

    await ask(app)


async def _ask_documents(app: "Host", proposal: Proposal) -> None:
    from workbench.tui.agents.documents import DocumentsDialog

    await app.push_screen_wait(
        DocumentsDialog(app.bench, Path(str(proposal.operation.get("path", ""))))
    )


# The citations of an item as a tree: what it cites in full, below each what that cites in turn.


STEP = 2
"""Cells that a level is indented by."""

_LINES = 4
"""Lines of a text that something cited cites in turn; what the item itself cites stands in full."""

_LEAST = 24
"""Cells that a text keeps, however deep it stands."""


def tree(title: str, branches: Sequence[Branch], now: datetime, width: int) -> list[Content]:
    """Return the lines of a tree of citations, `width` cells wide at most."""
    deepest = max(branch.depth for branch in branches) + 1
    lines = [heading(title, muted(f"down {deepest} levels") if deepest > 1 else None)]
    for place, branch in enumerate(branches):
        lines += [BLANK] if place and branch.depth == 0 else []
        lines += _branch(branch, now, width)
    if len(branches) == MAX_CITED:
        lines.append(muted(f"… only the first {MAX_CITED} citations are shown."))
    return lines


def _branch(branch: Branch, now: datetime, width: int) -> list[Content]:
    indent = min(STEP * branch.depth, max(0, width - _LEAST))
    room, space = max(_LEAST, width - indent), Content(" " * indent)
    head, text = _cited(branch, now)
    rows = head.wrap(room)
    if text is not None and not branch.again:
        wrapped = text.wrap(room)
        rows += (
            [*wrapped[: _LINES - 1], muted("…")]
            if branch.depth and len(wrapped) > _LINES
            else wrapped
        )
    lead = Content(" " * (indent - STEP)) + muted("└ ") if indent else BLANK
    return [(lead if at == 0 else space) + row for at, row in enumerate(rows)]


def _cited(branch: Branch, now: datetime) -> tuple[Content, Content | None]:
    """Return the line that names what is cited, and its text."""
    cited, memory, gone = branch.cited, branch.cited.memory, branch.cited.gone
    if memory is None:
        return assemble(
            [("✗ ", f"bold {GONE_STYLE}"), (name(cited.id), ""), (f" · {gone}", GONE_STYLE)]
        ), None
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
        sign = "∪ " if cited.merged else "· "
        return Content.styled(sign, "$text-accent") + details, body(memory.content)
    reason = rejection_of(memory).reason
    why = f"{gone}: {printable(reason[:200])}" if reason else gone
    head = assemble([("✗ ", f"bold {GONE_STYLE}"), (f"{why} · ", GONE_STYLE)]) + details
    return head, body(memory.content, MUTED)


def _memories(count: int) -> str:
    return amount(count, "memory", "memories")


def _because(at: At) -> list[Content]:
    """Draw what speaks for it; what it is about itself, the first of its evidence, stands in the
    other pane.
    """
    cited = at.evidence.cited
    if not cited:
        return [Content.styled("No evidence cited.", WARN)]
    rest = cited if cited[0].memory is None else cited[1:]
    return _with_tree(f"Reason: {_memories(len(rest))}", rest, at)


def _with_tree(title: str, cited: Sequence[Cited], at: At) -> list[Content]:
    lines = tree(title, [Branch(one, 0) for one in cited], at.now, at.width) if cited else []
    if at.evidence.tree:
        deeper = tree("Evidence of the evidence", at.evidence.tree, at.now, at.width)
        lines += [*([BLANK] if lines else []), *deeper]
    return lines


def _cited_if_any(at: At) -> list[Content]:
    """Draw what it cites, if anything: reasons and episodes stand beside its texts."""
    return _because(at) if at.evidence.cited else []


def _going(at: At) -> list[Content]:
    """Draw all of what would go."""
    cited = at.evidence.cited
    return _with_tree(f"{_memories(len(cited))} would be archived", cited, at)


def _candidate_cited(at: At) -> list[Content]:
    evidence = at.evidence
    if evidence.cited:
        branches = evidence.tree or [Branch(one, 0) for one in evidence.cited]
        return tree(f"Evidence: {_memories(len(evidence.cited))}", branches, at.now, at.width)
    if evidence.messages:
        messages = amount(evidence.messages, "message")
        return [muted(f"Captured from {messages} of the session shown with it.")]
    return _because(at)


def _merge_cited(at: At) -> list[Content]:
    count = len(at.evidence.cited)
    head = "The two in full, the newer first"
    if count != 2:
        head = f"The {count} in full, the newest first"
    return _with_tree(head, at.evidence.cited, at) if count else _because(at)


def _both(at: At) -> list[Content]:
    """Draw two that contradict each other."""
    alone = at._replace(evidence=at.evidence._replace(tree=()))
    return _with_tree("The two in full, the older first", at.evidence.cited, alone)


def _nothing(_: At) -> list[Content]:
    return []


CHANGES = View(_item, _because)
FILE = View(_lines_item, _nothing, promotable=False, compares=False)
PATTERN = View(_pattern_item, _cited_if_any, compares=False)
PATTERNS = View(
    _lines_item, _nothing, "This is already a merge: approve it.", promotable=False, compares=False
)
GOING = View(
    _item, _going, "This does not concern a single memory.", promotable=False, compares=False
)
TRUST = View(_item, _nothing, promotable=False, ask=_ask_trust, compares=False)
DOCUMENTS = View(_item, _nothing, promotable=False, ask=_ask_documents, compares=False)
REPLACES = View(
    _item,
    _both,
    "Approve keeps the newer memory; “keep old” keeps the older one.",
    promotable=False,
)
SUPERSEDE = View(_supersede_item, _because, promotable=False)
CANDIDATE = View(candidate_text, _candidate_cited)
CURATOR = View(_curator_item, _cited_if_any)
MERGE = View(_merge_item, _merge_cited, "This is already a merge: approve it.", promotable=False)


# What a decision rests on: an earlier rejection, what contradicts it, what it cites, and what is
# most alike.


_SENTENCE, _ROOM = 300, 20
"""Characters of a sentence that are quoted, and cells that it has at least."""


def evidence_text(
    bench: Workbench, proposal: Proposal, evidence: Evidence, text: str, note: str, width: int
) -> Content:
    """Return everything a decision about a `text` rests on; it is empty while it is folded.

    `note` stands for what is not looked up yet.
    """
    view, now = view_of(kind_of(proposal.kind)), bench.context.now()
    text, evidence = bench.safety.masked(text), bench.safety.shown(evidence)
    blocks = [
        _rejected_before(one.rejected, one.similarity, text, now) for one in evidence.rejections
    ]
    blocks += [
        _against(evidence, width, hidden=not text),
        _said_already(evidence),
        view.cited(At(evidence, now, width)),
    ]
    blocks.append([] if evidence.impact is None else in_short(evidence.impact))
    if note:
        blocks.append([muted(note)])
    elif evidence.searched and view.compares:
        blocks += _nearest(evidence, text, now)
    return Content("\n\n").join([joined(*block) for block in blocks if block])


def _rejected_before(
    rejected: Memory, similarity: float, text: str, now: datetime
) -> list[Content]:
    known = rejection_of(rejected)
    when = f"rejected {since(known.at, now)} ({absolute(known.at)})" if known.at else "rejected"
    when += "" if known.reason else ", no reason given"
    return [
        assemble([("✗ Similar to a rejected candidate  ", WARN), (f"{similarity:.2f}", "")]),
        facts((rejected.id, when, f"made {since(rejected.created_at, now)}")),
        *([muted("because ") + body(known.reason[:200])] if known.reason else []),
        compared(rejected.content, text),
    ]


def _against(evidence: Evidence, width: int, *, hidden: bool) -> list[Content]:
    if not evidence.against:
        return []
    lines = [heading("≠ May contradict", muted("judged by wording: check yourself"))]
    for one in evidence.against:
        lines.append(
            assemble([("≠ ", WARN), (name(one.other), "bold"), (f" · {printable(one.reason)}", "")])
        )
        for who, sentence in (("  this   ", "" if hidden else one.mine), ("  other  ", one.theirs)):
            rows = body(sentence[:_SENTENCE]).wrap(max(_ROOM, width - len(who))) if sentence else []
            lines += [
                (Content(" " * len(who)) if at else muted(who)) + row for at, row in enumerate(rows)
            ]
    return lines


def _said_already(evidence: Evidence) -> list[Content]:
    """Name what is so much alike that it should be seen before the citations; both texts stand
    below them.
    """
    known = {one.other for one in evidence.against}
    alike: list[tuple[str, str, float]] = [(m.id, m.status, s) for m, s in evidence.near]
    alike += [(bullet.id, "bullet", s) for bullet, s in evidence.near_bullets]
    found = [one for one in alike if one[2] >= evidence.flag and one[0] not in known]
    lines = (
        [heading("≈ Possible duplicate", muted("judged by similarity: compared below"))]
        if found
        else []
    )
    for id, kind, similarity in found:
        figure = (f"{similarity:.2f}  ", "")
        lines.append(assemble([("≈ ", WARN), figure, (name(id), "bold"), (f" · {kind}", MUTED)]))
    return lines


def _nearest(evidence: Evidence, text: str, now: datetime) -> list[list[Content]]:
    memories = [
        ((m.id, m.status, m.observation_type, ago(m.created_at, now)), m.content, s)
        for m, s in evidence.near
    ]
    bullets = [
        ((f"[{b.id}]", b.section, f"+{b.helpful_count} −{b.harmful_count}"), b.content, s)
        for b, s in evidence.near_bullets
    ]
    figures = iter(scores([one[2] for one in (*memories, *bullets)]))
    blocks = [] if memories else [[muted("No similar memory.")]]
    for title, found in (("Nearest memories", memories), ("Nearest bullets", bullets)):
        head = [heading(title, _marks([content for _, content, _ in found], text))]
        for about, content, _ in found:
            figure = Content.styled(f"{next(figures)}  ", "bold")
            blocks.append([*head, figure + facts(about), compared(content, text)])
            head = []
    return blocks


def _marks(existing: Iterable[str], text: str) -> Content:
    """Return what the marks in the compared texts mean, of those that occur."""
    if not text:
        return muted("compared once it is open")
    diffs = [overlap(one, text) >= ALIKE for one in existing]
    shared = [] if all(diffs) else [Content.styled("shared words", f"{MUTED} {SHARED}")]
    return Content("  ").join([*shared, *([diff_legend()] if any(diffs) else [])])


# What approving would do to the saved queries: in short beside the evidence, in full as a dialog.


NO_QUERIES = (
    "No queries are saved in this store yet.\n\n"
    "In Tune (4) ask something, then {tune.save-query} saves the query. From then on every candidate says which of "
    "the saved queries it would enter, and what it would push out."
)
NO_MEMORY = "No memory is affected, so no query changes."
_SHORT = 4
"""How many queries are named beside the evidence."""

_QUERY = 80


def in_short(impact: "Impact") -> list[Content]:
    """Return the lines that stand beside the evidence."""
    found = (*impact.entered, *impact.left)
    lines = [heading(_headline(impact), muted(f"top {impact.k} · {name(impact.profile)}"))]
    lines += [_one(query) for query in found[:_SHORT]]
    if len(found) > _SHORT:
        lines.append(
            muted(f"… and {len(found) - _SHORT} more: {key_of('review.impact')} shows all")
        )
    if moved := sum(bool(query.moved) for query in impact.queries):
        how = f"{key_of('review.impact')} shows how"
        lines.append(muted(f"The range of a factor moves in {moved} of them: {how}."))
    return lines


def in_full(impact: "Impact") -> Content:
    """Return every saved query with what would change there."""
    first = [*impact.entered, *impact.left]
    others = [query for query in impact.queries if query not in first]
    before = [query for query in others if _asked_before(query)]
    below = [query for query in others if query not in before and _only_below(query)]
    rest = [
        line
        for query in others
        if query not in before and query not in below
        for line in _with_moves(query)
    ]
    blocks = [
        Content.styled(
            f"{_headline(impact)} · top {impact.k} · profile {name(impact.profile)}", "bold"
        )
    ]
    blocks += [joined(*_with_moves(query)) for query in first]
    blocks += [joined(*rest)] if rest else []
    if below:
        stays = amount(len(below), "query", "queries")
        blocks.append(muted(f"· In {stays} it would rank below the top {impact.k}; nothing moves."))
    if before:
        blocks.append(
            muted(f"· {amount(len(before), 'query was', 'queries were')} asked before it was made.")
        )
    return Content("\n\n").join(blocks)


def _asked_before(query: "QueryImpact") -> bool:
    """Tell whether nothing is to be said of a query, because it was asked before the candidate was
    made.
    """
    return (
        not query.leaves and query.place is None and query.query.now is not None and not query.moved
    )


def _only_below(query: "QueryImpact") -> bool:
    """Tell whether a query's top stays as it is, because the candidate would only stand somewhere
    below it.
    """
    held = query.before is not None and query.before <= query.k
    return not (query.enters or query.leaves or held or query.moved) and query.place is not None


def _headline(impact: "Impact") -> str:
    of = f"of {amount(len(impact.queries), 'saved query', 'saved queries')}"
    parts = [f"enters {len(impact.entered)}"] if impact.entered else []
    parts += [f"leaves {len(impact.left)}"] if impact.left else []
    return f"Approved, it {' and '.join(parts) or 'changes the top of none'} {of}"


def _with_moves(query: "QueryImpact") -> list[Content]:
    lines = [_one(query)]
    for moved in query.moved:
        pairs = (("min", moved.low), ("max", moved.high))
        steps = [
            f"{what} {before:.3f} → {after:.3f}"
            for what, (before, after) in pairs
            if abs(after - before) >= 5e-4
        ]
        lines.append(muted(f"    {moved.factor}: {', '.join(steps)}"))
    return lines


def _one(query: "QueryImpact") -> Content:
    asked, place, before = f"“{one_line(query.query.text, _QUERY)}”", query.place, query.before
    if query.leaves:
        return assemble(
            [("− ", "bold $text-error"), (asked, ""), (f"  drops it (was {before})", MUTED)]
        )
    if query.enters:
        line = [("+ ", "bold $text-success"), (asked, ""), (f"  enters at {place}", "bold")]
        if (out := query.displaced) is not None:
            line += [
                (" and pushes out ", MUTED),
                (f"“{one_line(out.line, _QUERY)}”", ""),
                (f" {name(out.id)}", MUTED),
            ]
        return assemble(line)
    if place is None:
        how = (
            "asked before it was made" if query.query.now is not None else "it would not be served"
        )
    elif before is not None and before <= query.k:
        how = f"stays at {place} (was {before})"
    else:
        how = f"would rank {place}, below the top"
    return assemble([("· ", MUTED), (asked, ""), (f"  {how}", MUTED)])


class ImpactDialog(TextDialog[None]):
    """What approving would do, as far as it is known."""

    BINDINGS = bindings(IMPACT)


def show_impact(area: "AreaScreen", proposal: Proposal, known: "Impact | None") -> None:
    """Open what approving would do to the saved queries; what is not known yet is worked out behind
    the dialog.
    """
    bench = area.bench

    def rank(cancelled: Cancelled) -> Content:
        try:
            impact = bench.impact.of(proposal, cancelled)
        except WorkbenchError as error:
            return body(str(error))
        return Content(NO_MEMORY) if impact is None else in_full(bench.safety.shown(impact))

    text, find = muted("Ranking the saved queries …"), None
    if not bench.library.queries:
        text = Content(keyed(NO_QUERIES))
    elif known is not None:
        text = in_full(bench.safety.shown(known))
    elif not bench.retriever.ready:
        text = Content("The model is still loading. Ask again in a moment.")
    else:
        find = rank
    about = one_line(bench.safety.masked(proposal.title), 80)
    area.app.push_screen(ImpactDialog(f"If “{about}” is approved", text, IMPACT, find))


VIEWS = {
    "reflection": CANDIDATE, "merge": MERGE, "pattern": PATTERN, "curator": CURATOR, "supersede": SUPERSEDE,
    "replaces": REPLACES, "stale": SUPERSEDE, "file": FILE, "trust": TRUST, "documents": DOCUMENTS,
    "instructions": GOING, "pattern-merge": PATTERNS, "pattern-change": PATTERNS,
}  # fmt: skip
"""How each kind is drawn that is more than its changes."""
