"""Sentences of memories that could stand for themselves: statements, told apart from questions and
small talk.

A sentence is a run of the memory's own characters. Where several memories name who speaks ("Ines:
…"), a sentence from the middle of what somebody says carries that name in front, as the memory has
it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workbench.core.agents.transcript.summaries import is_standing
from workbench.core.duplicates.dedup import content_words
from workbench.core.stream.memory import Memory
from workbench.core.words import ENGLISH, words
from workbench.reflect.extractive.languages import (
    PHATIC,
    empty_for,
    is_latin,
    language_of,
    length,
    terms,
)

SHORTEST, LONGEST = 24, 320
"""Bounds of a sentence that can be proposed, in Latin letters (`scripts.length`) without the
speaker's name.
"""

MOST_PER_MEMORY = 40
"""Sentences that one memory takes part with: of a very long one the first."""

_EVIDENT, _TELLING = 2, 3
"""Meaningful words that a sentence needs to be evidence, and to be proposed."""

_SPEAKERS = 3
"""Memories that must name a speaker before the word in front of the colon counts as one."""

_USERS = frozenset(("user", "human"))
_MACHINES = frozenset(
    (
        "assistant",
        "ai",
        "chatgpt",
        "claude",
        "gpt",
        "bot",
        "copilot",
        "model",
        "agent",
        "system",
        "tool",
    )
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, the row of its memory in the request, and whether it may be proposed.

    `text` is what stands in the memory; `speaker` is empty, or who says it when `text` does not
    name them. `stems` are those of its words that carry meaning. `familiar` says whether it seems
    to be English, whose words the bundled model knows, `language` whose rules it is judged by.
    """

    text: str
    row: int
    speaker: str = ""
    proposable: bool = True
    stems: frozenset[str] = frozenset()
    familiar: bool = True
    language: str = ENGLISH

    @property
    def told(self) -> str:
        return f"{self.speaker}: {self.text}" if self.speaker else self.text


@dataclass(frozen=True, slots=True)
class _Turn:
    """A paragraph: who speaks in it ("" for nobody), what they say, and where it comes from."""

    speaker: str
    text: str
    row: int


def sentences_of(memories: Sequence[Memory]) -> list[Sentence]:
    """Return the statements of memories, in order.

    Only those of signals are proposable: what is confirmed or a reflection is known, but may be
    evidence, and so may what an assistant says in a conversation.
    """
    turns = [turn for row, memory in enumerate(memories) for turn in _turns(memory.content, row)]
    named = Counter(speaker for speaker, _ in {(turn.speaker, turn.row) for turn in turns})
    speakers = frozenset(name for name, count in named.items() if name and count >= _SPEAKERS)
    askers = _askers(turn for turn in turns if turn.speaker in speakers)
    names = frozenset(word for name in speakers for word in content_words(name))
    found: list[Sentence] = []
    taken = Counter[int]()
    for turn in turns:
        if turn.speaker in askers:
            continue
        memory = memories[turn.row]
        known = memory.is_synthetic or memory.status != "signal" or _says_machine(turn, memory)
        language = language_of(turn.text)
        for text, speaker in _spoken(turn, speakers):
            stems = meaningful(text, language) - names
            if taken[turn.row] < MOST_PER_MEMORY and len(stems) >= _EVIDENT and is_statement(text):
                taken[turn.row] += 1
                proposable = not known and len(stems) >= _TELLING
                familiar = language == ENGLISH and is_latin(text)
                found.append(
                    Sentence(text, turn.row, speaker, proposable, stems, familiar, language)
                )
    return found


def standing_of(memories: Sequence[Memory]) -> list[tuple[str, int]]:
    """Return the instructions for every time and the preferences that users state, each with the
    row of its memory.
    """
    return [
        (text, row)
        for row, memory in enumerate(memories)
        if memory.status == "signal" and not memory.is_synthetic
        for turn in _turns(memory.content, row)
        if _says_user(turn, memory)
        for text in split(LABEL.sub("", turn.text) if _who(turn) else turn.text)
        if len(text) <= LONGEST and is_standing(text)
    ]


def _who(turn: _Turn) -> str:
    """Return the side of a conversation that a label names as the speaker of a paragraph, in lower
    case.
    """
    name = turn.speaker.lower()
    return name if name in _USERS | _MACHINES else ""


def _says_user(turn: _Turn, memory: Memory) -> bool:
    return (_who(turn) or (memory.source.speaker or "").lower()) in _USERS


def _says_machine(turn: _Turn, memory: Memory) -> bool:
    """Tell whether it is said in a conversation; what an agent noted as an observation is no talk."""
    noted = memory.source.hook or memory.observation_type != "general"
    return (_who(turn) or ("" if noted else (memory.source.speaker or "").lower())) in _MACHINES


def meaningful(text: str, language: str = ENGLISH) -> frozenset[str]:
    """Return the stems of the words of a text that carry meaning; a name from code is one."""
    empty = empty_for(language)
    return frozenset(w for w in terms(text) if length(w) > 2 and w not in empty and not w.isdigit())


def split(text: str) -> list[str]:
    """Split a paragraph into its sentences; abbreviations, versions, paths and numbers do not end
    one.
    """
    parts, start = [], 0
    for match in _END.finditer(text):
        before = text[start : max(match.end(1), match.end(2))]
        if _ABBREVIATED.search(before):
            continue
        parts.append(before.strip())
        start = match.end()
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def is_statement(text: str) -> bool:
    """Tell whether a sentence says something: no question, greeting, thanks or bare log line, and
    of a fair length.
    """
    if not SHORTEST <= length(text) <= LONGEST or text.rstrip("\"')”’」』").endswith(_OPEN_ENDS):
        return False
    said = LABEL.sub("", text)
    if max(len(words(said)), len(terms(said))) < _WORDS or PHATIC.match(said):
        return False
    letters = sum(c.isalpha() for c in text)
    return letters / len(text) >= _LETTERS and not text.startswith(_CODE)


_WORDS = 4
"""Words that a sentence has at least."""

_OPEN_ENDS = ("?", "？", "؟", "…", "...", ":", "：")
_END = re.compile(
    r"([.!?…][\"')\]”’]*)\s+(?=\[|[\"'(“‘`„«¿¡]?[A-Z0-9`\u00c0-\u024f\u0370-\U0010ffff])|([。！？｡][」』）”\"]*)\s*"
)
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|etc|approx|no|nos|fig|mr|mrs|ms|dr|prof|st|jr|sr|inc|ltd|p|pp|vol)\.|\b[A-Z]\.)\Z",
    re.I,
)
LABEL = re.compile(r"\A([A-Z][\w.'’-]{0,30}(?: [A-Z][\w.'’-]{0,30}){0,2}): +")
"""Who speaks, where a paragraph begins so."""

_BULLET = re.compile(r"\A(?:[-*+•]|\d{1,3}[.)])\s+")
_TAGGED = re.compile(r"\A\[[A-Z][A-Z _-]{2,20}\]:?\s+")
"""A word in brackets in front, by which some logs say of what kind a note is."""

_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.M | re.S)
_INDENTED = ("    ", "\t", "  ")
_CODE = (
    "$ ",
    "> ",
    "| ",
    "{",
    "<",
    "@",
    "Traceback",
    'File "',
    "[",
    "at ",
    "#!",
    "def ",
    "class ",
    "import ",
    "from ",
)
_LETTERS = 0.6


def _turns(content: str, row: int) -> Iterator[_Turn]:
    """Yield the paragraphs of a memory, without fenced or indented code; a speaker speaks until the
    next one.
    """
    speaker = ""
    for line in _FENCE.sub("\n", content).splitlines():
        text = (
            _TAGGED.sub("", _BULLET.sub("", line.strip())) if not line.startswith(_INDENTED) else ""
        )
        if not text:
            continue
        label = LABEL.match(text)
        if label is not None:
            speaker = label[1]
        yield _Turn(speaker, text, row)


def _spoken(turn: _Turn, speakers: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield the sentences of a paragraph, each with its speaker when it does not begin with their
    name.
    """
    for place, text in enumerate(split(turn.text)):
        labelled = place == 0 and LABEL.match(text) is not None
        known = turn.speaker in speakers and not labelled
        yield text, turn.speaker if known else ""


def _askers(turns: Iterator[_Turn]) -> set[str]:
    """Return the speakers who mostly ask: most of their turns hold a question."""
    asks: dict[tuple[str, int], bool] = {}
    for turn in turns:
        place = (turn.speaker, turn.row)
        asks[place] = asks.get(place, False) or "?" in turn.text
    spoken = Counter(speaker for speaker, _ in asks)
    asked = Counter(speaker for (speaker, _), asking in asks.items() if asking)
    return {speaker for speaker, count in spoken.items() if asked[speaker] > count / 2}
