"""Summaries of sessions that ran out of context, read by their sections: each thing that one tells, once."""

import re
from collections.abc import Iterator

from workbench.core.agents.transcript.lessons import Kind

_HEADING = re.compile(
    r"^\s{0,3}(?:#{1,4}\s*)?(?:\*\*)?(?:(?P<number>\d{1,2})[.)]\s+)?"
    r"(?P<title>[A-Z][\w &/,()’'-]{2,60}?)(?:\*\*)?:(?:\*\*)?\s*$"
)
_BULLET = re.compile(r"^(?P<indent>\s*)(?:[-*•]|\d+[.)])\s+(?P<text>.+)$")
_SECTIONS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("fix", re.compile(r"errors?\b|fix(?:es)?\b|bugs?\b|issues?\b", re.I)),
    ("decision", re.compile(r"decision|decided|design choice|user preference|preferences|constraints|feedback"
        r"|convention", re.I)),
    ("insight", re.compile(r"problem solving|learn|insight|discover|finding|gotcha|concepts?\b|notes?\b", re.I)),
    ("open-work", re.compile(r"pending|open (?:work|task|question|issue)|remaining|next steps?|todo", re.I)),
)  # fmt: skip
_SKIPPED = re.compile(
    r"user messages|current (?:work|state)|files? and code|primary request|analysis|optional next step", re.I
)
_NONE = re.compile(r"^\W*(?:none|n/a|nothing|no (?:errors|pending|open))\b", re.I)
_HOLDS = re.compile(
    r"\b(?:must|always|never|only|requires?d?|needs?|instead|unsupported|doesn'?t support|does not support"
    r"|not supported|can'?t"
    r"|cannot|should|avoid|prefer|because|max(?:imum)?|at most|gitignored|ignored|convention|pattern)\b|→", re.I,
)  # fmt: skip
_BINDS = re.compile(
    r"\b(?:must(?:n't)?|always|never|requires?|required|needs?|unsupported|(?:doesn'?t|does not) support"
    r"|not supported|should"
    r"|gitignored|only works?|cannot|can'?t)\b", re.I,
)  # fmt: skip
_BARRED = re.compile(r"\b(?:can'?t|cannot|unsupported|not supported|(?:doesn'?t|does not) support)\b", re.I)
_DONE = re.compile(
    r"(?:used|designed|handled|implemented|added|created|built|wrote|updated|refactored|moved|replaced|extended"
    r"|set up|ran"
    r"|fixed|removed|made|chose|extracted|introduced|committed|pushed|tested|verified|completed)\b", re.I,
)  # fmt: skip
_PASSING = re.compile(
    r"\bexpected (?:during|while|until)|\btypos?\b|undefined (?:function|variable|name)|unused|syntax error"
    r"|indentation|forgot"
    r"|before (?:defining|adding|creating)|before the attribute|(?:didn't|doesn't|did not|does not) exist yet|stale"
    r"|missing import|not (?:yet )?(?:defined|created|implemented)|re-?read|string to replace|file has not been read"
    r"|assertion|test (?:expected|asserted)|tests? fail", re.I,
)  # fmt: skip
_REST = r"\n(?:If you need specific details from before|Please continue the conversation)"
"""What stands below a summary."""

_LONGEST, _SHORTEST = 700, 5


def told_in(summary: str) -> Iterator[tuple[Kind, str, float]]:
    """Yield what a summary tells by its sections: the kind, the text, and how much more it counts than its kind.

    What somebody thought before they wrote it is no part of it, neither are listings of files and of what was asked.
    """
    body = summary.rpartition("\nSummary:")[2] if "\nSummary:" in summary else summary
    body = re.sub(r"<analysis>.*?</analysis>", "", body, flags=re.DOTALL)
    body = body[: found.start()] if (found := re.search(_REST, body)) else body
    seen: set[str] = set()
    for title, text in _items(body):
        kind = _kind_of(title)
        flat = _plain(text)
        if kind is None or len(flat.split()) < _SHORTEST or _NONE.match(flat) or flat.lower() in seen:
            continue
        seen.add(flat.lower())
        is_listed = "concept" in title.lower()
        if is_listed and not _BINDS.search(flat):
            continue  # a name in a list of what was worked with tells nothing
        yield kind, flat, 0.0 if kind == "open-work" else _extra(flat, is_listed=is_listed)


def _extra(text: str, *, is_listed: bool) -> float:
    """Return how much more a point counts than its kind: what holds for later does, what was done and is over less."""
    binds = bool(_BINDS.search(text))
    return (
        (6.0 if binds or _HOLDS.search(text) else -6.0)
        + (3.0 if _BARRED.search(text) else 0.0)
        - (20.0 if _PASSING.search(text) else 0.0)
        - (18.0 if _DONE.match(text) and not binds else 0.0)
        - (10.0 if is_listed else 0.0)
    )


def _kind_of(title: str) -> Kind | None:
    if _SKIPPED.search(title):
        return None
    return next((kind for kind, told in _SECTIONS if told.search(title)), None)


def _items(body: str) -> Iterator[tuple[str, str]]:
    """Yield each point of a section with the section's title: a bullet with what stands below it, or a paragraph."""
    title, item, depth, fenced = "", "", 0, False
    for line in body.splitlines():
        if line.strip().startswith("```"):
            fenced = not fenced
            continue
        if fenced:
            continue
        heading, bullet = _HEADING.match(line), _BULLET.match(line)
        if heading and (heading["number"] or not bullet):
            yield title, item
            title, item = heading["title"], ""
        elif bullet and (not item or len(bullet["indent"]) <= depth):
            yield title, item
            item, depth = bullet["text"], len(bullet["indent"])
        elif line.strip():
            item = f"{item} {line.strip().lstrip('-*• ')}".strip() if item else line.strip()
        elif item and not _BULLET.match(f"- {item}"):
            yield title, item
            item = ""
    yield title, item


def _plain(text: str) -> str:
    """Return a point without the marks of bold text, cut to what a memory is to hold."""
    flat = " ".join(text.replace("**", "").split())
    return flat if len(flat) <= _LONGEST else f"{flat[: _LONGEST - 1]}…"
