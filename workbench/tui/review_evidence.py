"""What a decision rests on, as text: cited memories, an earlier rejection, and what is most alike."""

import re
from collections.abc import Iterable
from datetime import datetime

from rapidfuzz.distance import Indel
from textual.content import Content

from workbench.bench.review import Cited, Evidence, rejection_of
from workbench.core.memory import Memory
from workbench.core.playbook import Bullet
from workbench.core.proposal import Proposal
from workbench.core.text import printable, words
from workbench.tui.content import MAX_DIFF, MUTED, assemble, body, highlight, word_diff
from workbench.tui.figures import absolute, ago, scores
from workbench.tui.review_candidate import diff_legend, facts, heading, name, since

WARN = "bold $text-warning"
ALIKE = 0.45
"""From which share of common words (in order) a word diff reads well; below it the shared words are underlined."""

SHARED = "underline"
_WORD = re.compile(r"\w{5,}")
_COMMON = frozenset({
    "about", "above", "after", "again", "against", "because", "before", "being", "below", "between", "could",
    "doing", "during", "every", "first", "having", "itself", "might", "never", "other", "others", "please",
    "should", "since", "still", "their", "there", "these", "thing", "things", "those", "through", "under",
    "until", "where", "whether", "which", "while", "whose", "within", "without", "would",
})  # fmt: skip
"""English words that say nothing about what two texts share."""


def evidence_text(proposal: Proposal, memory: Memory | None, evidence: Evidence, now: datetime, note: str) -> Content:
    """Return everything a decision rests on; `note` stands for what is not looked up yet."""
    text = memory.content if memory is not None else proposal.title
    blocks: list[list[Content]] = []
    if evidence.tombstone is not None:
        similarity = evidence.tombstone.similarity
        blocks.append(_rejected_before(evidence.tombstone.rejected, similarity, text, now))
    blocks.append(_cited(proposal, evidence.cited, now))
    if note:
        blocks.append([Content.styled(note, MUTED)])
    elif evidence.searched:
        blocks += _nearest(evidence, text, now)
    return Content("\n\n").join([Content("\n").join(block) for block in blocks])


def _rejected_before(rejected: Memory, similarity: float, text: str, now: datetime) -> list[Content]:
    known = rejection_of(rejected)
    when = f"rejected {since(known.at, now)} ({absolute(known.at)})" if known.at else "rejected"
    because = printable(known.reason[:200]) if known.reason else "no reason was given"
    head = assemble([("✗ Much like one rejected before  ", WARN), (f"{similarity:.2f}", "")])
    return [
        head,
        facts((rejected.id, when, f"made {since(rejected.created_at, now)}")),
        assemble([("because ", MUTED), (because, "" if known.reason else MUTED)]),
        _compared(rejected.content, text),
    ]


def _cited(proposal: Proposal, cited: tuple[Cited, ...], now: datetime) -> list[Content]:
    if not cited:
        return [Content.styled("∅ It cites nothing.", WARN)]
    count = "1 memory" if len(cited) == 1 else f"{len(cited)} memories"
    titles = {"reflection": f"Rests on {count}", "merge": "The two in full, the newer first"}
    lines = [heading(titles.get(proposal.kind, f"About {count}"))]
    for place, one in enumerate(cited):
        if place:
            lines.append(Content(""))
        lines += _cited_one(one, now)
    return lines


def _cited_one(cited: Cited, now: datetime) -> list[Content]:
    memory, gone = cited.memory, cited.gone
    if memory is None:
        return [assemble([("✗ ", "bold $text-error"), (name(cited.id), ""), (f" · {gone}", "$text-error")])]
    details = (
        memory.id,
        memory.observation_type,
        f"importance {memory.importance_score:.0f}",
        ago(memory.created_at, now),
    )
    if not gone:
        return [assemble([("◆ ", "$text-accent")]) + facts(details), body(memory.content)]
    reason = rejection_of(memory).reason
    why = f"{gone}: {printable(reason[:200])}" if reason else gone
    head = assemble([("✗ ", "bold $text-error"), (f"{why} · ", "$text-error")]) + facts(details)
    return [head, body(memory.content, MUTED)]


def _nearest(evidence: Evidence, text: str, now: datetime) -> list[list[Content]]:
    near, bullets = evidence.near, evidence.near_bullets
    figures = scores([s for _, s in (*near, *bullets)])
    blocks = [
        [_figure(figure) + facts(_memory_facts(memory, now)), _compared(memory.content, text)]
        for (memory, _), figure in zip(near, figures, strict=False)
    ]
    found = [
        [_figure(figure) + facts(_bullet_facts(bullet)), _compared(bullet.content, text)]
        for (bullet, _), figure in zip(bullets, figures[len(near) :], strict=True)
    ]
    if blocks:
        blocks[0].insert(0, heading("Nearest memories", _marks([m.content for m, _ in near], text)))
    else:
        blocks.append([Content.styled("No other memory is like it.", MUTED)])
    if found:
        found[0].insert(0, heading("Nearest bullets"))
    return blocks + found


def _memory_facts(memory: Memory, now: datetime) -> Iterable[str]:
    return (memory.id, memory.status, memory.observation_type, ago(memory.created_at, now))


def _bullet_facts(bullet: Bullet) -> Iterable[str]:
    return (f"[{bullet.id}]", bullet.section, f"+{bullet.helpful_count} −{bullet.harmful_count}")


def _figure(figure: str) -> Content:
    return Content.styled(f"{figure}  ", "bold")


def _marks(existing: Iterable[str], text: str) -> Content:
    """Return what the marks in the compared texts mean, of those that occur."""
    compared = [overlap(one, text) >= ALIKE for one in existing]
    diff = diff_legend() if any(compared) else Content("")
    shared = Content("") if all(compared) else Content.styled("shared words", f"{MUTED} {SHARED}")
    return Content("  ").join([part for part in (shared, diff) if part])


def _compared(existing: str, text: str) -> Content:
    """Return an existing text compared with the candidate's: as a word diff, or with the words they share."""
    if overlap(existing, text) >= ALIKE:
        return word_diff(existing, text)
    shared = set(words(text[:MAX_DIFF])) - _COMMON
    found = (match.span() for match in _WORD.finditer(existing[:MAX_DIFF]) if match.group().lower() in shared)
    return highlight(existing, found, SHARED)


def overlap(one: str, two: str) -> float:
    """Return which share of the words two texts have in common in the same order, from 0 to 1."""
    return Indel.normalized_similarity(words(one[:MAX_DIFF]), words(two[:MAX_DIFF]))
