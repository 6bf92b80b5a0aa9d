"""What approving would do to the saved queries, in words: in short beside the evidence, in full as a dialog."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content

from workbench.core.change import Change
from workbench.core.record import WorkbenchError
from workbench.core.review.describe import Wording
from workbench.core.review.proposal import Proposal
from workbench.core.runtime import Cancelled
from workbench.core.stream.memory import Memory
from workbench.core.text import one_line
from workbench.services.review.kinds.lifecycle import CONTENT
from workbench.services.review.rewriting import rounds_of
from workbench.services.safety.masking import masked
from workbench.tui.app.actions import bindings
from workbench.tui.app.area import AreaScreen
from workbench.tui.review.actions import IMPACT
from workbench.tui.review.rows import flags_in_words
from workbench.tui.widgets.content import (
    MUTED,
    assemble,
    body,
    first_line_bold,
    key_of,
    keyed,
    says_the_same,
    word_diff,
)
from workbench.tui.widgets.dialog import TextDialog
from workbench.tui.widgets.figures import absolute, since

if TYPE_CHECKING:
    from workbench.services.review.impact import Impact, Moved, QueryImpact


# What Review shows of the item itself: a candidate in full, a merge as a diff, any other proposal as its changes.


AROUND = 120
"""Characters of shared text that stand before and behind a change of a merge."""

_COMPARED = 20
"""Memories of a merge that are each compared with the newest one."""

_FACT = 60
"""Cells a stored name may take in a line of facts."""


def candidate(proposal: Proposal, memory: Memory, now: datetime, hidden: Content | None = None) -> Content:
    """Return a candidate: its line, the facts, the flags, and the whole text, or what stands for a `hidden` one."""
    summed = bool(memory.summary) and not says_the_same(memory.summary, memory.content)
    parts = [body(memory.summary, "bold")] if summed and hidden is None else []
    parts.append(facts(candidate_facts(proposal, memory, now)))
    if proposal.flags:
        parts.append(flags_in_words(proposal.flags))
    text = hidden or body(memory.content, "" if memory.summary else "bold")
    if hidden is None and memory.summary and not summed:
        text = first_line_bold(text)
    return Content("\n").join([*parts, Content(""), text])


def merge(proposal: Proposal, said: Wording, group: Sequence[Memory], now: datetime) -> Content:
    """Return a merge: what speaks for and against it, a word diff with each older text, and what it would do.

    `group` holds the memories, the kept one last.
    """
    similarity = "" if proposal.similarity is None else f"similarity {proposal.similarity:.3f}"
    names = (similarity, f"importance {proposal.importance:.0f}", *_proposed(proposal, now))
    newest, kept = max(group, key=lambda m: (m.created_at, m.id)), group[-1]
    parts = [Content.styled(said.question, "bold"), facts(names), *arguments(proposal, "No objection found.")]
    others = [m for m in group if m.id != newest.id]
    for older in others[:_COMPARED]:
        title = "From the older to the newer" if len(group) == 2 else f"From {name(older.id)} to the newest"
        parts += [Content(""), *_told_apart(title, older.content, newest.content)]
    if len(others) > _COMPARED:
        more = f"… and {len(others) - _COMPARED} more; they are shown in full alongside."
        parts += [Content(""), Content.styled(more, MUTED)]
    gone = [m.id for m in group if m.id != kept.id]
    edited = proposal.operation.get(CONTENT)
    if isinstance(edited, str):
        parts += [Content(""), heading("The remaining text, as edited"), body(edited)]
    outcome = merge_outcome(
        kept=kept.id, text="above" if isinstance(edited, str) else f"of {name(newest.id)}", gone=gone
    )
    return Content("\n").join([*parts, Content(""), outcome, Content.styled(f"Rejected, {said.no}.", MUTED)])


def _told_apart(title: str, older: str, newest: str) -> list[Content]:
    if older == newest:
        return [heading(title, Content.styled("the same text", MUTED))]
    return [heading(title, diff_legend()), folded(word_diff(older, newest))]


def replacement(proposal: Proposal, said: Wording, old: Memory, text: str, now: datetime) -> Content:
    """Return what is to take the place of a memory: a word diff with what is known, and the new text in full."""
    parts = [Content.styled(said.question, "bold"), facts((said.label, *_proposed(proposal, now)))]
    parts += [*arguments(proposal), Content("")]
    parts += [heading(f"From {name(old.id)} to the proposed text", diff_legend()), folded(word_diff(old.content, text))]
    return Content("\n").join([*parts, Content(""), heading("In full"), body(text), Content(""), answers(said)])


def changes(
    proposal: Proposal, said: Wording, memory: Memory | None, now: datetime, hidden: Content | None = None
) -> Content:
    """Return any other proposal: what it asks, what speaks for and against it, its memory, what it would change."""
    parts = [Content.styled(said.question, "bold"), facts((said.label, *_proposed(proposal, now)))]
    if memory is None or proposal.title != memory.line:
        parts.append(body(proposal.title))
    parts += arguments(proposal)
    if memory is not None:
        parts += [Content(""), hidden or body(memory.content), facts((memory.id, memory.status))]
        parts.append(facts(memory_facts(memory, now)))
    parts += [Content(""), answers(said)]
    if proposal.changes:
        parts += [Content(""), heading("Approving would change"), *(_change(c) for c in proposal.changes)]
    return Content("\n").join(parts)


def answers(said: Wording) -> Content:
    yes, no = (f"{answer[:1].upper()}{answer[1:]}." for answer in (said.yes, said.no))
    return assemble([("Approve: ", "bold"), (f"{yes}\n", MUTED), ("Reject:  ", "bold"), (no, MUTED)])


def arguments(proposal: Proposal, nothing: str = "") -> list[Content]:
    """Return what speaks for a proposal and what against it, a line each; `nothing` stands for no objections."""
    lines = [Content.styled("+ ", "bold $text-success") + body(reason) for reason in proposal.reasons]
    if proposal.flags:
        return [*lines, flags_in_words(proposal.flags)]
    return [*lines, Content.styled(nothing, MUTED)] if nothing else lines


def fold(reasons: Iterable[str], key: str) -> Content:
    """Return what stands for a text that is folded away: why, and the key that opens it."""
    pieces = [("Folded: this text is not shown until you open it.\n", "bold $text-warning")]
    pieces += [(f"  ! {one_line(reason, 200)}\n", "$text-warning") for reason in reasons]
    return assemble([*pieces, (key, "bold $text-accent"), (" opens it. Rejecting works without.", MUTED)])


def folded(difference: Content, around: int = AROUND) -> Content:
    """Return a word diff in which long runs that both texts share are "…", with `around` characters beside changes."""
    plain, pieces, at = difference.plain, [], 0
    if not difference.spans:
        return difference
    for start, end in [*((s.start, s.end) for s in sorted(difference.spans)), (len(plain), len(plain))]:
        if start - at <= 3 * around:
            pieces.append(difference[at:start])
        else:
            head = at if at == 0 else _space(plain.rfind(" ", at, at + around) + 1, at + around)
            tail = start if start == len(plain) else _space(plain.find(" ", start - around, start), start - around)
            pieces += [difference[at:head], Content.styled("…", MUTED), difference[tail:start]]
        pieces.append(difference[start:end])
        at = end
    return Content("").join(pieces)


def _space(found: int, otherwise: int) -> int:
    return found if found > 0 else otherwise


def merge_outcome(*, kept: str, text: str, gone: Sequence[str]) -> Content:
    """Return what a merge does, in a sentence."""
    return assemble(
        [
            ("Merging keeps ", MUTED),
            (name(kept), ""),
            (" with the text ", MUTED),
            (text, ""),
            (", adds up the votes, and archives ", MUTED),
            (", ".join(map(name, gone)), ""),
            (" as merged. Undo separates them.", MUTED),
        ]
    )


def facts(names: Iterable[str]) -> Content:
    """Return facts in one muted line; each is made safe."""
    return Content.styled(" · ".join(name(n) for n in names if n), MUTED)


def name(text: str) -> str:
    """Return a stored name (an id, a tag, an actor) as safe text for a line of facts."""
    return one_line(text[:400], _FACT)


def heading(text: str, more: Content | None = None) -> Content:
    """Return the heading of a part, with a muted remark behind it."""
    title = Content.styled(text, "bold $text-accent")
    return title if more is None else title + Content("  ") + more


def diff_legend() -> Content:
    """Return how a word diff is marked."""
    return assemble([("[-removed-]", "$text-error"), (" ", ""), ("{+added+}", "$text-success")])


def candidate_facts(proposal: Proposal, memory: Memory, now: datetime) -> tuple[str, ...]:
    """Return what is known about a candidate besides its text."""
    rounds = len(rounds_of(memory)) - 1
    label, question = (str(memory.metadata.get(key, "")) for key in ("label", "question"))
    return (
        f"importance {proposal.importance:.0f}",
        *memory_facts(memory, now),
        "pinned once approved" if memory.pinned else "",
        f"by {proposal.actor}" + (f" ({name(label)})" if label and label != proposal.actor else ""),
        f"asked “{name(question)}”" if question else "",
        "" if not rounds else "1 round before this one" if rounds == 1 else f"{rounds} rounds before this one",
        f"put off until {absolute(memory.review_after)}" if memory.review_after and memory.review_after > now else "",
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


def _proposed(proposal: Proposal, now: datetime) -> tuple[str, ...]:
    return (f"proposed {since(proposal.created_at, now)} ({absolute(proposal.created_at)})", f"by {proposal.actor}")


def _change(change: Change) -> Content:
    head = Content.styled(f"{change.op} {name(change.id)} in {name(change.table)}", "bold")
    return Content("\n").join([head, *_fields(change.fields)])


def _fields(fields: Mapping[str, object]) -> list[Content]:
    lines = []
    for field, step in fields.items():
        before, after = getattr(step, "before", None), getattr(step, "after", None)
        if isinstance(before, str) and isinstance(after, str):
            shown = word_diff(before, after)
        else:
            shown = body(f"{_value(before)} → {_value(after)}")
        lines.append(Content.styled(f"  {name(field)}: ", MUTED) + shown)
    return lines


def _value(value: object) -> str:
    return "–" if value is None else value if isinstance(value, str) else repr(value)


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
    entered, left = impact.entered, impact.left
    count = len(impact.queries)
    which = "the saved query" if count == 1 else f"{count} saved queries"
    if not entered and not left:
        lines = [Content.styled(f"Approving changes the top {impact.k} of none of {which}.", MUTED)]
    else:
        lines = [heading(_headline(impact), Content.styled(f"top {impact.k} · {name(impact.profile)}", MUTED))]
        lines += [_one(query) for query in (*entered, *left)[:_SHORT]]
        if len(entered) + len(left) > _SHORT:
            lines.append(
                Content.styled(
                    f"… and {len(entered) + len(left) - _SHORT} more: {key_of('review.impact')} shows all", MUTED
                )
            )
    moved = sum(bool(query.moved) for query in impact.queries)
    if moved:
        lines.append(
            Content.styled(
                f"The range of a factor moves in {moved} of them: {key_of('review.impact')} shows how.", MUTED
            )
        )
    return lines


def in_full(impact: "Impact") -> Content:
    """Return every saved query with what would change there."""
    first = [*impact.entered, *impact.left]
    others = [query for query in impact.queries if query not in first and not _asked_before(query)]
    rest = [query for query in others if not _only_below(query)]
    below = len(others) - len(rest)
    before = sum(_asked_before(query) for query in impact.queries)
    blocks = [Content.styled(f"{_headline(impact)} · top {impact.k} · profile {name(impact.profile)}", "bold")]
    blocks += [Content("\n").join(_with_moves(query)) for query in first]
    if rest:
        blocks.append(Content("\n").join([line for query in rest for line in _with_moves(query)]))
    if below:
        stays = "1 query" if below == 1 else f"{below} queries"
        blocks.append(Content.styled(f"· In {stays} it would rank below the top {impact.k}; nothing moves.", MUTED))
    if before:
        asked = "1 query was" if before == 1 else f"{before} queries were"
        blocks.append(Content.styled(f"· {asked} asked before it was made.", MUTED))
    return Content("\n\n").join(blocks)


def _asked_before(query: "QueryImpact") -> bool:
    """Tell whether nothing is to be said of a query, because it was asked before the candidate was made."""
    return not query.leaves and query.place is None and query.query.now is not None and not query.moved


def _only_below(query: "QueryImpact") -> bool:
    """Tell whether a query's top stays as it is, because the candidate would only stand somewhere below it."""
    held = query.before is not None and query.before <= query.k
    return not (query.enters or query.leaves or held or query.moved) and query.place is not None


def _with_moves(query: "QueryImpact") -> list[Content]:
    return [_one(query), *(_moved(moved) for moved in query.moved)]


def _headline(impact: "Impact") -> str:
    count = len(impact.queries)
    asked = "query" if count == 1 else "queries"
    if not impact.entered and not impact.left:
        return f"Approved, it changes the top of none of {count} saved {asked}"
    parts = [f"enters {len(impact.entered)}"] if impact.entered else []
    parts += [f"leaves {len(impact.left)}"] if impact.left else []
    return f"Approved, it {' and '.join(parts)} of {count} saved {asked}"


def _one(query: "QueryImpact") -> Content:
    asked = f"“{one_line(query.query.text, _QUERY)}”"
    if query.leaves:
        return assemble([("− ", "bold $text-error"), (asked, ""), (f"  drops it (was {query.before})", MUTED)])
    if query.place is None:
        why = "asked before it was made" if query.query.now is not None else "it would not be served"
        return assemble([("· ", MUTED), (asked, ""), (f"  {why}", MUTED)])
    if not query.enters:
        held = query.before is not None and query.before <= query.k
        how = f"stays at {query.place} (was {query.before})" if held else f"would rank {query.place}, below the top"
        return assemble([("· ", MUTED), (asked, ""), (f"  {how}", MUTED)])
    out = query.displaced
    line = [("+ ", "bold $text-success"), (asked, ""), (f"  enters at {query.place}", "bold")]
    if out is not None:
        line += [(" and pushes out ", MUTED), (f"“{one_line(out.line, _QUERY)}”", ""), (f" {name(out.id)}", MUTED)]
    return assemble(line)


def _moved(moved: "Moved") -> Content:
    pairs = (("min", moved.low), ("max", moved.high))
    steps = [f"{what} {before:.3f} → {after:.3f}" for what, (before, after) in pairs if abs(after - before) >= 5e-4]
    return Content.styled(f"    {moved.factor}: {', '.join(steps)}", MUTED)


def show_impact(area: AreaScreen, proposal: Proposal, known: "Impact | None") -> None:
    """Open what approving would do to the saved queries; what is not known yet is worked out behind the dialog."""
    bench = area.bench
    mask = bench.safety.masked

    def rank(cancelled: Cancelled) -> Content:
        try:
            impact = bench.impact.of(proposal, cancelled)
        except WorkbenchError as error:
            return Content(str(error))
        return Content(NO_MEMORY) if impact is None else in_full(masked(impact, mask))

    text, find = Content.styled("Ranking the saved queries …", MUTED), None
    if not bench.library.queries:
        text = Content(keyed(NO_QUERIES))
    elif known is not None:
        text = in_full(masked(known, mask))
    elif not bench.retriever.ready:
        text = Content("The model is still loading. Ask again in a moment.")
    else:
        find = rank
    area.app.push_screen(ImpactDialog(f"If {mask(proposal.id)} is approved", text, IMPACT, find))


class ImpactDialog(TextDialog[None]):
    """What approving would do, as far as it is known."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(IMPACT)
