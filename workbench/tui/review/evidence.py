"""What a decision rests on, as text: cited memories, an earlier rejection, and what is most alike."""

import re
from collections.abc import Iterable
from datetime import datetime

from rapidfuzz.distance import Indel
from textual.content import Content

from workbench.core.playbook.book import Bullet
from workbench.core.review.contradiction import Contradiction
from workbench.core.review.lifecycle import Tombstone
from workbench.core.stream.memory import Memory
from workbench.core.text import printable
from workbench.core.words import words
from workbench.services.review.queue import Evidence
from workbench.services.review.rejection import rejection_of
from workbench.tui.review.impact import diff_legend, facts, heading, in_short, name
from workbench.tui.widgets.content import MAX_DIFF, MUTED, assemble, body, highlight, word_diff
from workbench.tui.widgets.figures import absolute, ago, scores, since

WARN = "bold $text-warning"
ALIKE = 0.45
"""From which share of common words (in order) a word diff reads well; below it the shared words are underlined."""

SHARED = "underline"
_SENTENCE = 300
_LEAST = 20
_WORD = re.compile(r"\w{5,}")
_COMMON = frozenset({
    "about", "above", "after", "again", "against", "because", "before", "being", "below", "between", "could",
    "doing", "during", "every", "first", "having", "itself", "might", "never", "other", "others", "please",
    "should", "since", "still", "their", "there", "these", "thing", "things", "those", "through", "under",
    "until", "where", "whether", "which", "while", "whose", "within", "without", "would",
})  # fmt: skip
"""English words that say nothing about what two texts share."""


def evidence_text(text: str, evidence: Evidence, cited: list[Content], now: datetime, note: str, width: int) -> Content:
    """Return everything a decision about a `text` rests on, `width` cells wide; the text is empty while it is folded.

    `cited` is what the item rests on as its kind draws it, `note` stands for what is not looked up yet.
    """
    blocks = [_rejected_before(one, text, now) for one in evidence.rejections]
    if evidence.against:
        blocks.append(_against(evidence.against, width, hidden=not text))
    blocks.append(_said_already(evidence))
    blocks.append(cited)
    if evidence.impact is not None:
        blocks.append(in_short(evidence.impact))
    if note:
        blocks.append([Content.styled(note, MUTED)])
    elif evidence.searched:
        blocks += _nearest(evidence, text, now)
    return Content("\n\n").join([Content("\n").join(block) for block in blocks if block])


def _rejected_before(earlier: Tombstone, text: str, now: datetime) -> list[Content]:
    rejected = earlier.rejected
    known = rejection_of(rejected)
    when = f"rejected {since(known.at, now)} ({absolute(known.at)})" if known.at else "rejected"
    when += "" if known.reason else ", no reason given"
    because = [assemble([("because ", MUTED), (printable(known.reason[:200]), "")])] if known.reason else []
    head = assemble([("✗ Similar to a rejected candidate  ", WARN), (f"{earlier.similarity:.2f}", "")])
    return [
        head,
        facts((rejected.id, when, f"made {since(rejected.created_at, now)}")),
        *because,
        _compared(rejected.content, text),
    ]


def _against(found: tuple[Contradiction, ...], width: int, *, hidden: bool) -> list[Content]:
    lines = [heading("≠ May contradict", Content.styled("judged by wording: check yourself", MUTED))]
    for one in found:
        lines.append(assemble([("≠ ", WARN), (name(one.other), "bold"), (f" · {printable(one.reason)}", "")]))
        if not hidden:
            lines += _said("this   ", one.mine, width)
        lines += _said("other  ", one.theirs, width)
    return lines


def _said_already(evidence: Evidence) -> list[Content]:
    """Name what is so much alike that it should be seen before the citations; both texts stand below them."""
    known = {one.other for one in evidence.against}
    alike: list[tuple[str, str, float]] = [(m.id, m.status, s) for m, s in evidence.near if s >= evidence.flag]
    alike += [(bullet.id, "bullet", s) for bullet, s in evidence.near_bullets if s >= evidence.flag]
    found = [one for one in alike if one[0] not in known]
    if not found:
        return []
    lines = [heading("≈ Possible duplicate", Content.styled("judged by similarity: compared below", MUTED))]
    for id, kind, similarity in found:
        figure = (f"{similarity:.2f}  ", "")
        lines.append(assemble([("≈ ", WARN), figure, (name(id), "bold"), (f" · {kind}", MUTED)]))
    return lines


def _said(who: str, sentence: str, width: int) -> list[Content]:
    rows = body(sentence[:_SENTENCE]).wrap(max(_LEAST, width - len(who) - 2))
    heads = [Content.styled(f"  {who}", MUTED), *[Content(" " * (len(who) + 2))] * (len(rows) - 1)]
    return [head + row for head, row in zip(heads, rows, strict=True)]


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
        blocks.append([Content.styled("No similar memory.", MUTED)])
    if found:
        found[0].insert(0, heading("Nearest bullets", _marks([b.content for b, _ in bullets], text)))
    return blocks + found


def _memory_facts(memory: Memory, now: datetime) -> Iterable[str]:
    return (memory.id, memory.status, memory.observation_type, ago(memory.created_at, now))


def _bullet_facts(bullet: Bullet) -> Iterable[str]:
    return (f"[{bullet.id}]", bullet.section, f"+{bullet.helpful_count} −{bullet.harmful_count}")


def _figure(figure: str) -> Content:
    return Content.styled(f"{figure}  ", "bold")


def _marks(existing: Iterable[str], text: str) -> Content:
    """Return what the marks in the compared texts mean, of those that occur."""
    if not text:
        return Content.styled("compared once it is open", MUTED)
    compared = [overlap(one, text) >= ALIKE for one in existing]
    diff = diff_legend() if any(compared) else Content("")
    shared = Content("") if all(compared) else Content.styled("shared words", f"{MUTED} {SHARED}")
    return Content("  ").join([part for part in (shared, diff) if part])


def _compared(existing: str, text: str) -> Content:
    """Return an existing text compared with the candidate's: as a word diff, or with the words they share.

    A text that is folded away is empty here, and the other one stands alone.
    """
    if not text:
        return body(existing)
    if overlap(existing, text) >= ALIKE:
        return word_diff(existing, text)
    shared = set(words(text[:MAX_DIFF])) - _COMMON
    found = (match.span() for match in _WORD.finditer(existing[:MAX_DIFF]) if match.group().lower() in shared)
    return highlight(existing, found, SHARED)


def overlap(one: str, two: str) -> float:
    """Return which share of the words two texts have in common in the same order, from 0 to 1."""
    return Indel.normalized_similarity(words(one[:MAX_DIFF]), words(two[:MAX_DIFF]))
