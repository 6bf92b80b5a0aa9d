"""What Review shows of the item itself: a candidate in full, a merge as a diff, any other proposal as its changes."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from textual.content import Content

from workbench.core.change import Change
from workbench.core.memory import Memory
from workbench.core.proposal import Proposal
from workbench.core.text import one_line
from workbench.tui.content import MUTED, assemble, body, word_diff
from workbench.tui.figures import absolute, ago
from workbench.tui.review_rows import flags_in_words

AROUND = 120
"""Characters of shared text that stand before and behind a change of a merge."""

_FACT = 60
"""Cells a stored name may take in a line of facts."""


def candidate(proposal: Proposal, memory: Memory, now: datetime) -> Content:
    """Return a candidate: its line, the facts, the flags, and the whole text."""
    parts = [body(memory.summary, "bold")] if memory.summary else []
    parts.append(facts(candidate_facts(proposal, memory, now)))
    if proposal.flags:
        parts.append(flags_in_words(proposal.flags))
    parts += [Content(""), body(memory.content, "" if memory.summary else "bold")]
    return Content("\n").join(parts)


def merge(proposal: Proposal, newer: Memory, older: Memory, now: datetime) -> Content:
    """Return a merge of two memories: what speaks against it, the word diff, and what it would do."""
    similarity = "" if proposal.similarity is None else f"similarity {proposal.similarity:.3f}"
    names = (similarity, f"importance {proposal.importance:.0f}", *_proposed(proposal, now))
    parts = [
        Content.styled("Do these two say the same?", "bold"),
        facts(names),
        flags_in_words(proposal.flags) if proposal.flags else Content.styled("Nothing speaks against it.", MUTED),
        Content(""),
        heading("From the older to the newer", diff_legend()),
        folded(word_diff(older.content, newer.content)),
        Content(""),
        merge_outcome(kept=older.id, newest=max(newer, older, key=lambda m: (m.created_at, m.id)), gone=newer.id),
    ]
    return Content("\n").join(parts)


def changes(proposal: Proposal, now: datetime) -> Content:
    """Return any other proposal: its title and every field that accepting it would change."""
    parts = [body(proposal.title, "bold"), facts((proposal.kind, *_proposed(proposal, now)))]
    if proposal.flags:
        parts.append(flags_in_words(proposal.flags))
    parts += [Content(""), heading("Approving would change"), *(_change(c) for c in proposal.changes)]
    return Content("\n").join(parts)


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


def merge_outcome(*, kept: str, newest: Memory, gone: str) -> Content:
    """Return what a merge does, in a sentence."""
    return assemble(
        [
            ("Merging keeps ", MUTED),
            (name(kept), ""),
            (" with the text of ", MUTED),
            (name(newest.id), ""),
            (", adds up the votes, and archives ", MUTED),
            (name(gone), ""),
            (" as merged. Undo parts them.", MUTED),
        ]
    )


def facts(names: Iterable[str]) -> Content:
    """Return facts in one muted line; each is made safe."""
    return Content.styled(" · ".join(name(n) for n in names if n), MUTED)


def name(text: str) -> str:
    """Return a stored name (an id, a tag, an actor) as safe text for a line of facts."""
    return one_line(text[:400], _FACT)


def since(at: datetime, now: datetime) -> str:
    """Return "3 d ago", or "just now"."""
    span = ago(at, now)
    return "just now" if span == "now" else span if at > now else f"{span} ago"


def heading(text: str, more: Content | None = None) -> Content:
    """Return the heading of a part, with a muted remark behind it."""
    title = Content.styled(text, "bold $text-accent")
    return title if more is None else title + Content("  ") + more


def diff_legend() -> Content:
    """Return how a word diff is marked."""
    return assemble([("[-taken away-]", "$text-error"), (" ", ""), ("{+added+}", "$text-success")])


def candidate_facts(proposal: Proposal, memory: Memory, now: datetime) -> tuple[str, ...]:
    """Return what is known about a candidate besides its text."""
    return (
        f"importance {proposal.importance:.0f}",
        memory.observation_type,
        memory.memory_type,
        f"made {since(memory.created_at, now)} ({absolute(memory.created_at)})",
        f"by {proposal.actor}",
        f"session {memory.session_id}" if memory.session_id else "",
        memory.source.file or "",
        " ".join(f"#{name(tag)}" for tag in memory.tags[:12]),
        f"put off until {absolute(memory.review_after)}" if memory.review_after and memory.review_after > now else "",
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
