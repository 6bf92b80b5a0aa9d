"""The only renderer of stored text: strings become `Content`, never markup, never control bytes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from functools import cache

from textual.content import Content, Span

from workbench.core.runtime import implementation
from workbench.core.text import MAX_KEPT, clip, one_line, printable
from workbench.core.words import CJK, THAI, marks
from workbench.tui.app.actions import Action, display_key, key_names, remapped

MAX_DIFF = 10_000
"""Characters of each side that a word diff compares at most."""

FOUND = "bold underline"
REMOVED = "strike $text-error"
ADDED = "bold $text-success"
MUTED = "$text-muted"
BLANK = Content("")

_PER_CELL = 8
"""Stored characters looked at per cell of a line: enough for combining marks, little for hostile
text.
"""

_SECRET = r"\[secret: [^\]\n]{1,40}\]"


def muted(text: str) -> Content:
    return Content.styled(text, MUTED)


def joined(*lines: Content) -> Content:
    """Return lines one below the other."""
    return Content("\n").join(lines)


def body(text: str, style: str = "") -> Content:
    """Return a whole stored text with its line breaks; the widget wraps it."""
    shown = Content.styled(_clean(text, MAX_KEPT), style)
    return shown + muted(_rest(text)) if len(text) > MAX_KEPT else shown


def line(text: str, width: int, style: str = "", align: str = "left") -> Content:
    """Return a stored text as exactly `width` cells: one line, clipped with "…" or padded."""
    if width <= 0:
        return Content("")
    looked_at = _PER_CELL * width + 64
    shown = (
        text[: width + 1]
        if _is_shown_as_it_is(text[: width + 1])
        else one_line(text[:looked_at], looked_at)
    )
    return fitted(
        Content.styled(shown, style, _cells_of(shown), strip_control_codes=False), width, align
    )


def clipped(text: str, width: int) -> str:
    """Return a stored text as `line` does, without a style."""
    seen = text[: width + 1]
    if width > 0 and _is_shown_as_it_is(seen):
        return seen.ljust(width) if len(seen) <= width else f"{seen[: width - 1]}…"
    return line(text, width).plain


def _is_shown_as_it_is(seen: str) -> bool:
    """Tell whether a stored text is one printable line already, a cell for a character, without
    spaces to collapse.
    """
    return seen.isascii() and seen.isprintable() and "  " not in seen and seen.strip() == seen


def _cells_of(text: str) -> int | None:
    """Return how many cells a printable text takes where that is known at once."""
    return len(text) if text.isascii() else None


def fitted(content: Content, width: int, align: str = "left") -> Content:
    """Return one line of content as exactly `width` cells."""
    if width <= 0:
        return Content("")
    shown = cut(content, width)
    room = width - shown.cell_length
    if room <= 0:
        return shown
    return shown.pad_left(room) if align == "right" else shown.truncate(width, pad=True)


def cut(content: Content, width: int) -> Content:
    """Return one line of content in at most `width` cells, the last one "…" if anything is lost."""
    if content.cell_length <= width:
        return content
    text = clip(content.plain, width)
    spans = [
        Span(start, min(end, len(text)), style)
        for start, end, style in content.spans
        if start < len(text)
    ]
    return Content(text, spans, strip_control_codes=False)


def highlight(text: str, spans: Iterable[tuple[int, int]], style: str = FOUND) -> Content:
    """Return a stored text with the given character ranges (of `text`) marked; overlapping ones are
    joined.
    """
    last, left = min(len(text), MAX_KEPT), _rest(text)
    parts: list[tuple[str, str]] = []
    at = 0
    for start, end in _joined(spans, last):
        parts += [(_clean(text[at:start]), ""), (_clean(text[start:end]), style)]
        at = end
    return assemble([*parts, (_clean(text[at:last]), ""), (left, MUTED)])


def first_line_bold(content: Content) -> Content:
    """Return a text with its first line that is not blank in bold, instead of a title that says the
    same.
    """
    plain = content.plain
    start = len(plain) - len(plain.lstrip())
    end = plain.find("\n", start)
    return content.stylize("bold", start, len(plain) if end < 0 else end)


def says_the_same(line: str, text: str) -> bool:
    """Tell whether a line is the first line of a text that is not blank."""
    return line.strip() == next((part for raw in text.splitlines() if (part := raw.strip())), "")


def find_words(text: str, words: Iterable[str]) -> list[tuple[int, int]]:
    """Return where the words stand in a text, in any letter case, as ranges for `highlight`."""
    wanted = sorted({w for w in words if w.strip()}, key=len, reverse=True)
    if not wanted:
        return []
    pattern = re.compile("|".join(re.escape(w) for w in wanted), re.IGNORECASE)
    return [found.span() for found in pattern.finditer(text[:MAX_KEPT])]


def word_diff(old: str, new: str, around: int | None = None) -> Content:
    """Return `new` with what it adds as {+…+} and what it takes from `old` as [-…-], word by word.

    With `around`, of what is the same only so many words and spaces beside each difference.
    """
    before, after = (_tokens().findall(text[:MAX_DIFF]) for text in (old, new))
    parts: list[tuple[str, str]] = []
    changes = list(_changes(before, after))
    for number, (removed, added, kept) in enumerate(changes, 1):
        if removed:
            parts.append((f"[-{_clean(removed)}-]", REMOVED))
        if added:
            parts.append((f"{{+{_clean(added)}+}}", ADDED))
        first, last = (
            (0, 0)
            if around is None
            else (around * bool(removed or added), around * (number < len(changes)))
        )
        parts.append((_clean(_beside(kept, first, last)), ""))
    if max(len(old), len(new)) > MAX_DIFF:
        parts.append(("\n… the rest is not compared", MUTED))
    return assemble(parts)


@cache
def _tokens() -> re.Pattern[str]:
    """What a diff is made of: words, letters of scripts without spaces, each with its marks, and
    white space.
    """
    single, signs = f"[{CJK}{THAI}]", f"[{marks()}]*"
    return re.compile(rf"{_SECRET}|\s+|{single}{signs}|(?:(?!{single})\w{signs})+|[^\w\s]")


def _beside(kept: str, first: int, last: int) -> str:
    """Return the first and last so many words and spaces of a text; all of one that nothing stands
    beside.
    """
    tokens = _tokens().findall(kept)
    if len(tokens) <= first + last + 1 or not first + last:
        return kept
    return f"{''.join(tokens[:first])} … {''.join(tokens[len(tokens) - last :])}"


def assemble(parts: Iterable[tuple[str, str]]) -> Content:
    """Join (text, style) pairs whose texts are already safe."""
    text, at = "", 0
    spans: list[Span] = []
    for piece, style in parts:
        if style and piece:
            # Neighbours of one style become one span: fewer pieces for the terminal.
            joins = bool(spans) and spans[-1].end == at and spans[-1].style == style
            start = spans.pop().start if joins else at
            spans.append(Span(start, at + len(piece), style))
        text += piece
        at += len(piece)
    return Content(text, spans, None if "\n" in text else _cells_of(text))


def _clean(text: str, limit: int | None = None) -> str:
    return printable(text[:limit], keep_newlines=True)


def _rest(text: str) -> str:
    """Return how much of a text is not shown, on a line of its own; nothing where all of it is."""
    left = len(text) - MAX_KEPT
    return f"\n… {left:,} more characters".replace(",", "\u00a0") if left > 0 else ""


def _joined(spans: Iterable[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted((max(0, s), min(length, e)) for s, e in spans):
        if start >= end:
            continue
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _changes(before: Sequence[str], after: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return (removed, added, kept after them); white space between two changes belongs to both."""
    changes: list[tuple[str, str, str]] = [("", "", "")]
    from rapidfuzz.distance import Indel  # not before a diff is shown: the first screen needs none

    for code in Indel.opcodes(before, after):
        old = "".join(before[code.src_start : code.src_end])
        new = "".join(after[code.dest_start : code.dest_end])
        removed, added, kept = changes[-1]
        if code.tag == "equal":
            changes[-1] = (removed, added, kept + old)
        elif kept.strip() or not (removed or added):
            changes.append((old, new, ""))
        else:
            changes[-1] = (removed + kept + old, added + kept + new, "")
    return changes


# What a key is called in a sentence: as the person's keymap has it, by the id of the action that it
# runs.


AREAS = "workbench.tui.app.areas:AREAS"
"""What has every action of the app; it imports all their tables, so it is looked up when a key is
first named.
"""

_KEYMAP: ContextVar[Mapping[str, str]] = ContextVar("keymap")
_ID = re.compile(r"\{([a-z][a-z-]*\.[a-z][a-z-]*)\}")


def use_keymap(keymap: Mapping[str, str]) -> None:
    """Let sentences of the app that begins here name its keys: those of a checked keymap, by action
    id.
    """
    _KEYMAP.set(keymap)


def key_of(action_id: str) -> str:
    """Return the first key of an action as a person has it. Raises `KeyError` for an unknown id."""
    keys = _KEYMAP.get({}).get(action_id) or _default_keys()[action_id]
    return display_key(key_names(keys)[0])


@cache
def _default_keys() -> dict[str, str]:
    every: Iterable[Action] = implementation(AREAS).every_action()
    return {action.id: action.keys for action in every}


def remapped_ids(ids: Iterable[str]) -> tuple[Action, ...]:
    """Return the actions with these ids, in the order of their tables, as a person has their keys."""
    every: Iterable[Action] = implementation(AREAS).every_action()
    wanted = frozenset(ids)
    return remapped((action for action in every if action.id in wanted), _KEYMAP.get({}))


def key_line(action: str, text: str) -> Content:
    """Say what the key of an action does."""
    return assemble([(f"{key_of(action):<6}", "bold $text-accent"), (text, "")])


def undo() -> str:
    """Return the key that takes back what was done last."""
    return key_of("app.undo")


def keyed(sentence: str) -> str:
    """Return a constant sentence with the key of each action whose id stands in braces: `{app.undo}
    takes it back.`
    """
    return _ID.sub(lambda found: key_of(found[1]), sentence)
