"""What the lesson rules of a language are made of: patterns of how it instructs, corrects, and tells of moments.

They are judgments, tried on transcripts of interviews, on conversations and on the notes of coding agents. A language
that has none (`languages`) is judged by the types of its memories alone.
"""

import re
from typing import NamedTuple

Pattern = re.Pattern[str]

NAMED = r"(?:[A-Z][\w.'’ -]{0,40}: )?"
"""Who says it, where a sentence begins so."""

NUMBERED = r"\b(?:pr #?\d+|#\d+|inc-\d+|v?\d+\.\d+\.\d+|[0-9a-f]{7,40})\b|\d{4}-\d\d-\d\d"
"""Numbers of one request, one incident, one release or one commit, and dates: the same in any language."""


class Rules(NamedTuple):
    """How one language says what holds, and what passes; all patterns ignore case unless they say otherwise."""

    instructs: Pattern
    corrects: Pattern
    generalises: Pattern
    habit: Pattern
    """What tells of somebody that holds beyond a day."""
    labelled: Pattern
    """How notes on the work in hand begin."""
    state: Pattern
    plan: Pattern
    once: Pattern
    """Dates, and numbers of one run, one request or one commit."""
    first_person: Pattern
    """How somebody begins to tell what they did."""
    answers: Pattern
    """What answers somebody, or is about what they said."""
    thanks: Pattern
    """What tells of a feeling at that moment, of gratitude or praise."""
    past: Pattern
    holds: Pattern
    """Verbs of what holds at any time."""
    about_before: Pattern
    """How a sentence begins that is about something in the sentence before."""
    unresolved: Pattern
    """What points at something that was said or shown before."""
    selves: frozenset[str]
    """Words by which somebody speaks of themselves."""
    ours: frozenset[str]
    """Words by which several do: notes on work use them, too."""
    lasting: frozenset[str]
    passing: frozenset[str]
    leaning: Pattern
    """How a sentence begins that leans on the one before."""
    filling: Pattern
    hedged: Pattern
    pointing: frozenset[str]
    addressing: frozenset[str]
