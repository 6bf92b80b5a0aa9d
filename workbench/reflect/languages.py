"""Languages as the offline reflector knows them: the rules of some, everyday words, and what stands
for words.

English is known best. Of the languages that are told apart (`core.words`) the stop words are known,
so that articles and prepositions make no two sentences alike; of any other the words that stand in
too many sentences are left out.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from workbench.core.agents.transcript.summaries import is_standing
from workbench.core.duplicates.dedup import (
    conflicts,
    contained_in_recent,
    content_words,
    negations,
    opposites,
)
from workbench.core.stream.memory import Memory
from workbench.core.words import ENGLISH, LATIN, latin_language, stop_words, words

# The rules are judgments, tried on transcripts of interviews, on conversations and on the notes of
# coding agents. A language that has none is judged by the types of its memories alone.


class Rules(NamedTuple):
    """How one language says what holds, and what passes, as `languages.toml` has it."""

    instructs: re.Pattern[str]
    corrects: re.Pattern[str]
    generalises: re.Pattern[str]
    habit: re.Pattern[str]
    """What tells of somebody that holds beyond a day."""
    labelled: re.Pattern[str]
    """How notes on the work in hand begin."""
    state: re.Pattern[str]
    plan: re.Pattern[str]
    once: re.Pattern[str]
    """Dates, and numbers of one run, one request or one commit."""
    first_person: re.Pattern[str]
    """How somebody begins to tell what they did."""
    answers: re.Pattern[str]
    """What answers somebody, or is about what they said."""
    thanks: re.Pattern[str]
    """What tells of a feeling at that moment, of gratitude or praise."""
    past: re.Pattern[str]
    holds: re.Pattern[str]
    """Verbs of what holds at any time."""
    about_before: re.Pattern[str]
    """How a sentence begins that is about something in the sentence before."""
    unresolved: re.Pattern[str]
    """What points at something that was said or shown before."""
    selves: frozenset[str]
    """Words by which somebody speaks of themselves."""
    ours: frozenset[str]
    """Words by which several do: notes on work use them, too."""
    lasting: frozenset[str]
    passing: frozenset[str]
    leaning: re.Pattern[str]
    """How a sentence begins that leans on the one before."""
    filling: re.Pattern[str]
    hedged: re.Pattern[str]
    pointing: frozenset[str]
    addressing: frozenset[str]


_PARTS = {
    "(?&named)": r"(?:[A-Z][\w.'’ -]{0,40}: )?",
    "(?&numbered)": r"\b(?:pr #?\d+|#\d+|inc-\d+|v?\d+\.\d+\.\d+|[0-9a-f]{7,40})\b|\d{4}-\d\d-\d\d",
}


@cache
def rules_for(language: str) -> Rules | None:
    """Return the rules of a language, or `None` where there are none."""
    table = tomllib.loads(Path(__file__).with_name("languages.toml").read_text("utf-8")).get(
        language
    )
    if table is None:
        return None
    found: dict[str, Any] = {name: frozenset(words(text)) for name, text in table["words"].items()}
    for name, pattern in table["patterns"].items():
        for part, meant in _PARTS.items():
            pattern = pattern.replace(part, meant)
        found[name] = re.compile(pattern, re.I)
    return Rules(**found)


def language_of(text: str) -> str:
    """Return the language of a text (`core.words`), told by a single word where there is no more;
    else English.
    """
    said = frozenset(words(text))
    most = max((ENGLISH, *LATIN), key=lambda language: len(said & stop_words(language)))
    return latin_language(text, said) or most


_EVERYDAY = """
able ago always april august back come day december even ever every february first friday get go going gone good got
great hour hours january july june know last let like lot made make many march mine minutes monday month months much
never new next nice november now october one per really saturday september since still sunday sure thing things think
thursday time today tomorrow tuesday use utc want way wednesday week weeks well year years yes yesterday yet
"""


@cache
def empty_for(language: str = ENGLISH) -> frozenset[str]:
    """Return the stems that say nothing about what a sentence is about."""
    said = {*words(_EVERYDAY), *stop_words(), *stop_words(language)}
    return frozenset(stem for word in said for stem in content_words(word))


PHATIC = re.compile(
    r"\s*(?:hi|hey|hello|howdy|yo|wow|aww+|haha\w*|oh|congrat\w*|thanks|thank you|thx|bye|goodbye|see you|take care|"
    r"(?:good|nice|great|glad|happy|lovely) to (?:see|hear|meet|know|be)|good (?:morning|evening|night|luck)|"
    r"(?:i'm|i am) (?:so |really |very )?(?:glad|happy|sorry|excited) (?:to hear|for you|you)|you're welcome|"
    r"(?:that|it) (?:sounds?|looks?|must)|that(?:'s| is|’s) (?:\w+ ){0,2}(?:great|good|awesome|amazing|cool|nice|"
    r"wonderful|fantastic|interesting|so|a)\b|sounds|sure|yeah|yep|yes|nope?|so far,?|yup|no, |"
    r"no problem|of course|absolutely|definitely|"
    r"no worries|let me know|keep (?:it )?up|appreciate|i (?:really )?appreciate your|what an?|how|"
    r"danke\w*|vielen dank|hallo|guten (?:morgen|tag|abend)|gern geschehen|tschüss|merci|bonjour|bonsoir|salut|"
    r"de rien|gracias|hola|buen[oa]s (?:días|tardes|noches)|de nada|grazie|ciao|buongiorno|obrigad[oa]|olá|bom dia)\b|"
    r"\s*(?:ありがとう|おはよう|こんにちは|こんばんは|お疲れ|すみません|すごい|はい、|いいえ|谢谢|謝謝|你好|早上好|감사합니다|안녕하세요)",
    re.I,
)
"""How greetings, thanks, congratulations and bare answers begin."""


# Scripts that put no space between words: what stands for words there, and how much of a text is
# how long.
#
# Chinese, Japanese and the scripts of South-East Asia are written without spaces. What carries
# meaning is taken in pieces: a run of katakana is a word, and of Han characters or Thai letters
# every two neighbours are one. Hiragana are mostly endings and particles and are left out. No
# dictionary is needed, and no text is changed.


_HAN = "\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KATAKANA = "\u30a1-\u30fa\u30fc\u31f0-\u31ff"
_HIRAGANA = "\u3041-\u309f"
_SOUTH = "\u0e01-\u0e5b\u0e81-\u0edf\u1000-\u109f\u1780-\u17ff"
"""Thai, Lao, Burmese, Khmer."""

UNSPACED = f"{_HAN}{_KATAKANA}{_HIRAGANA}{_SOUTH}"
"""All of them, for a class of characters in a regular expression."""

_RUN = re.compile(f"([{_KATAKANA}]{{2,}})|([{_HAN}]+)|([{_SOUTH}]+)")
_ANY = re.compile(f"[{UNSPACED}]")


def terms(text: str) -> tuple[str, ...]:
    """Return the stems of the words of a text, as `content_words`, and the pieces of what has no
    spaces.
    """
    if text.isascii() or not _ANY.search(text):
        return content_words(text)
    return (*content_words(_ANY.sub(" ", text)), *_pieces(text))


def length(text: str) -> int:
    """Return how many Latin letters it takes to say about as much: two for a character of these
    scripts' words.
    """
    return len(text) if text.isascii() else len(text) + len(_ANY.findall(text))


def is_latin(text: str) -> bool:
    """Tell whether at least half of the letters of a text are Latin."""
    letters = [char for char in text if char.isalpha()] if not text.isascii() else []
    return 2 * sum(char < "\u0250" for char in letters) >= len(letters)


def _pieces(text: str) -> list[str]:
    found: list[str] = []
    for word, *runs in _RUN.findall(text):
        run = next((run for run in runs if run), "")
        found += [word] if word else [run[at : at + 2] for at in range(max(1, len(run) - 1))]
    return found


# Whether a sentence is known: something that a person has confirmed, is asked about, or rejected
# says it already.


COVERED = 0.8
"""Share of a sentence's words that a known text must hold to say it."""

NEARLY = 0.85
"""Share of the words of either text that the other must hold for both to be nearly equal."""


class _Known(NamedTuple):
    text: str
    stems: frozenset[str]
    negations: frozenset[str]


class KnownTexts:
    """Texts that need not be proposed again."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._known = [_read(text) for text in dict.fromkeys(texts)]

    def says(self, sentence: str, covered: float = COVERED) -> bool:
        """Tell whether a known text holds the sentence, or nearly all of its words without turning
        it round.
        """
        asked = _read(sentence)
        return any(_holds(known, asked, covered) for known in self._known)

    def same(self, text: str) -> list[str]:
        """Return the known texts that are equal to a text or nearly so, without contradicting it."""
        asked = _read(text)
        near = (
            known
            for known in self._known
            if _holds(known, asked, NEARLY) and _holds(asked, known, NEARLY)
        )
        return [known.text for known in near if not conflicts(known.text, text)]


def _read(text: str) -> _Known:
    return _Known(text, frozenset(terms(text)), frozenset(negations(text)))


def _holds(known: _Known, asked: _Known, covered: float) -> bool:
    if not asked.stems or len(asked.stems & known.stems) < covered * len(asked.stems):
        return False
    if contained_in_recent(asked.text, [known.text]):
        return True
    # What the known text negates elsewhere says nothing about this sentence.
    negated = {stems for stems in known.negations if not stems or stems.split()[0] in asked.stems}
    return asked.negations == negated and not opposites(asked.text, known.text)


# Sentences of memories that could stand for themselves: statements, told apart from questions and
# small talk. A sentence is a run of the memory's own characters. Where several memories name who
# speaks ("Ines: …"), a sentence from the middle of what somebody says carries that name in front,
# as the memory has it.


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


class Sentence(NamedTuple):
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


class _Turn(NamedTuple):
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
