"""How texts are told apart: names and facts in a line, word diffs whose long shared runs are folded."""

import re
from collections.abc import Iterable

from rapidfuzz.distance import Indel
from textual.content import Content

from workbench.core.text import one_line
from workbench.core.words import words
from workbench.tui.widgets.content import MAX_DIFF, MUTED, assemble, body, highlight, word_diff

AROUND = 120
"""Characters of shared text that stand before and behind a change."""

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


def name(text: str) -> str:
    """Return a stored name (an id, a tag, an actor) as safe text for a line of facts."""
    return one_line(text[:400], 60)


def facts(names: Iterable[str]) -> Content:
    """Return facts in one muted line; each is made safe."""
    return Content.styled(" · ".join(name(n) for n in names if n), MUTED)


def heading(text: str, more: Content | None = None) -> Content:
    """Return the heading of a part, with a muted remark behind it."""
    title = Content.styled(text, "bold $text-accent")
    return title if more is None else title + Content("  ") + more


def muted(text: str) -> Content:
    return Content.styled(text, MUTED)


def diff_legend() -> Content:
    """Return how a word diff is marked."""
    return assemble([("[-removed-]", "$text-error"), (" ", ""), ("{+added+}", "$text-success")])


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
            head = at if at == 0 else max(plain.rfind(" ", at, at + around) + 1, 0) or at + around
            tail = start if start == len(plain) else max(plain.find(" ", start - around, start), 0) or start - around
            pieces += [difference[at:head], muted("…"), difference[tail:start]]
        pieces.append(difference[start:end])
        at = end
    return Content("").join(pieces)


def overlap(one: str, two: str) -> float:
    """Return which share of the words two texts have in common in the same order, from 0 to 1."""
    return Indel.normalized_similarity(words(one[:MAX_DIFF]), words(two[:MAX_DIFF]))


def told_apart(title: str, older: str, newer: str) -> list[Content]:
    """Return the word diff of two texts below its heading."""
    if older == newer:
        return [heading(title, muted("the same text"))]
    return [heading(title, diff_legend()), folded(word_diff(older, newer))]


def compared(existing: str, text: str) -> Content:
    """Return an existing text compared with another: as a word diff, or with the words they share.

    A text that is folded away is empty here, and the other one stands alone.
    """
    if not text:
        return body(existing)
    if overlap(existing, text) >= ALIKE:
        return word_diff(existing, text)
    shared = set(words(text[:MAX_DIFF])) - _COMMON
    found = (match.span() for match in _WORD.finditer(existing[:MAX_DIFF]) if match.group().lower() in shared)
    return highlight(existing, found, SHARED)
