"""What a sentence is as a lesson: whether it corrects, instructs or generalises, or only tells of a passing moment.

The rules know English; of a sentence in another language the type of its memory speaks alone. What passes, a state, a
plan that was carried out, something that happened once, a command that was a mistake, is no lesson, however often the
memories come back to it.
"""

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from workbench.core.stream.memory import Memory
from workbench.core.text import words

Kind = Literal["corrects", "instructs", "generalises"]

_TYPES: Mapping[str, tuple[Kind, ...]] = {
    "correction": ("corrects",), "instruction": ("instructs",), "convention": ("instructs",),
    "gotcha": ("generalises",), "insight": ("generalises",), "pattern": ("generalises",),
}  # fmt: skip
"""What the sentences of a memory are by its type, unless they tell of something else."""

_INSTRUCTS = re.compile(
    r"\A(?:[A-Z][\w.'’ -]{0,40}: )?(?:please |always |never |only )?(?:use|never|always|do not|don['’]t|avoid|keep|run|"
    r"check|make sure|ensure|set|prefer|store|ask|rotate|delete|list|write|read|call|put|add|pass|pin|wrap|treat|leave|"
    r"verify|test|import|log|commit|deploy|name|start|stop|wait|look|give|return|send|backfill)\b(?! (?:of|is|was)\b)|"
    r"\b(?:must(?! have)|should(?! have)|shall|ha(?:s|ve) to|needs? to|may not|(?:are|is) not allowed|forbidden|"
    r"required|mandatory)\b|\b(?:nobody|no one) (?:may|should|calls?|writes?|edits?|touches)\b",
    re.I,
)
_CORRECTS = re.compile(
    r"\b(?:instead of|rather than|and not|, not|but not|not \w+ but|no longer|contrary to|misses|misleading|in fact|"
    r"hides?|mistaken|is wrong|only looks)\b|\bnever (?:before|inside)\b",
    re.I,
)
_GENERALISES = re.compile(
    r"\b(?:every|each|any|all|whenever|when|if|unless|until|without|because|since|so that|otherwise|by default|"
    r"defaults? to|usually|generally|means|causes|leads? to|breaks|prevents|depends on)\b",
    re.I,
)
_HABIT = re.compile(
    r"\b(?:i|we|they|he|she)(?:['’]ve)? (?:(?:really|also|just|always|still|truly) )*(?:love|enjoy|like|prefer|value|"
    r"believe|hate|care|loves|enjoys|likes|prefers|values|believes|hates|cares)\b|\bmy (?:\w+ )?(?:dream|goal|"
    r"favou?rite|passion|values?)\b|\bi (?:study|teach|work|live|play|practi[cs]e|speak|own|volunteer)\b|"
    r"\b(?:passionate about|important|always|usually|often|every|never|help(?:s|ed) me)\b",
    re.I,
)
"""What tells of somebody that holds beyond a day."""

_LABELLED = re.compile(
    r"\A(?:states?|status|left|next|next steps?|todo|plan|done|wip|owner|suspicion|alternatives?|tried|considered|"
    r"result|reproduced|measured|reminder|note to self|open|not an action|what (?:went|did)|new decision|agreed|first|"
    r"release notes?|cost measured|design)\b[^:.]{0,40}(?::| )",
    re.I,
)
"""How notes on the work in hand begin."""

_STATE = re.compile(
    r"\b(?:is|are|was|were|be|stays?) (?:now |still |all |not |currently )?(?:unaffected|fine|green|red|done|back|due|"
    r"open|closed|waiting|blocked|ready|live|down|up|away|merged|verified|released|finished|complete|pending|unchanged|"
    r"half done|in progress|in place|on hold|out of date|promised|scheduled|planned)\b|"
    r"\b(?:half done|not started|in progress|waits? (?:for|until)|is to be|so far|for now|at the moment|by then|"
    r"(?:to be|will be) \w+ed (?:on|by|in)|going to|plan unchanged|as of|nowadays|these days|currently|right now)\b|"
    r"\b(?:i|we)(?:['’]m|['’]re|['’]ve been| am| are| have been) (?:(?:still|so|really|just) )*\w+ing\b",
    re.I,
)
_PLAN = re.compile(
    r"\Afirst\b.*\bthen\b|\bpick up the new\b|\b(?:has|have) (?:run|landed|shipped)\b|"
    r"\b(?:will|won['’]t|shall) (?:\w+ )?(?:be|go|move|add|ship|start|come|try|need|have|get|do|look|make|take)\b|"
    r"\b(?:moves? (?:to|from)|is moved|starts? on|ends? on)\b",
    re.I,
)
_ONCE = re.compile(
    r"\b(?:today|yesterday|tomorrow|tonight|just now|"
    r"(?:next|this|last) (?:week(?:end)?|month|year|sprint|release|summer|winter|spring|fall|night|time)|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:\d{1,2}(?:st|nd|rd|th)? )?(?:january|february|march|april|june|"
    r"july|august|september|october|november|december)(?: \d{1,2})?|pr #?\d+|#\d+|inc-\d+|runs? \d+|"
    r"v?\d+\.\d+\.\d+|[0-9a-f]{7,40})\b|\d{4}-\d\d-\d\d|\b\d+ passed\b",
    re.I,
)
"""Dates, and numbers of one run, one request or one commit."""

_FIRST_PERSON = re.compile(
    r"\A(?:[A-Z][\w.'’ -]{0,40}: )?I (?!(?:love|like|enjoy|prefer|value|believe|always|never)\b)"
)
_ANSWERS = re.compile(
    r"\A(?:[A-Z][\w.'’ -]{0,40}: )?(?:luckily|fortunately|obviously|yes|no|yeah|honestly|well)\b[,.]|"
    r"\b(?:looks|sounds|seems) (?:like|so)\b|\bmoments? like th(?:is|ese)\b|\b(?:is|are) so (?!important)|"
    r"\bi (?:really )?(?:love|like) (?:the|that|this|your|how)\b",
    re.I,
)
"""What answers somebody, or is about what they said."""

_PAST = re.compile(
    r"\b(?:was|were|did|had|ran|made|got|came|took|went|gave|found|saw|said|told|asked|wrote|fixed|added|removed|moved|"
    r"changed|created|reported|suggested|proposed|preferred|tried|returned|failed|stopped|dropped|merged|deployed|"
    r"rotated|cost|helped|passed|turned|ended|happened|produced|verified|booked|pushed|started|showed|processed|"
    r"considered|decided|discussed|rejected|met|bought|visited|won|lost|left|\w+ed by|ended as)\b",
    re.I,
)
_HOLDS = re.compile(
    r"(?<![\w-])(?:is|are|isn['’]t|aren['’]t|must|should|can|cannot|can['’]t|may|needs?|ha[sv]e? to|do not|don['’]t|"
    r"does|doesn['’]t|never|always|means|gets?|goes|runs?|takes?|keeps?|holds?|loses?|returns?|answers?|defaults?|ignores?|"
    r"breaks?|causes?|reads?|writes?|uses?|wants?|loves?|likes?|enjoys?)\b",
    re.I,
)
"""Verbs of what holds at any time."""

_OUTCOMES = frozenset((
    "code_change", "test_result", "tool_output", "test_success", "test_failure", "file_read", "error", "failure",
    "bug_fix", "refactoring", "feature_implementation",
))  # fmt: skip
"""Types of memories that tell what came of something: a lesson of theirs says in words what to do."""

_ABOUT_BEFORE = re.compile(
    r"\A(?:the (?:new |old |first |second |other |same |slow )?(?:job|script|file|index|handler|test|change|fix|call|"
    r"query|column|code|endpoint|row|loop|plan|export|summary|response|request|process|error|message|page|branch)s?|"
    r"correct|wrong|same|also|only|still|explains|reuses|removes|adds|calls|uses|everything|anything|nothing|"
    r"one|two|three|both|neither|each of|none)\b",
    re.I,
)
"""How a sentence begins that is about something in the sentence before."""


class Lesson(NamedTuple):
    """What a sentence is: its `kinds`, the most telling first, and whether it only `passes`."""

    kinds: tuple[Kind, ...]
    passes: bool

    @property
    def teaches(self) -> bool:
        """Whether it says by itself what to do, or what not to believe."""
        return "corrects" in self.kinds or "instructs" in self.kinds


def lesson_of(text: str, told: str, memory: Memory) -> Lesson:
    """Return what a sentence of a memory is; `told` is it as it would be proposed, with who says it."""
    spoken = told != text or _speaks(text)
    # Who talks with somebody says "should" and "instead" of other things than of how to work.
    instructs, corrects = not spoken and bool(_INSTRUCTS.search(text)), not spoken and bool(_CORRECTS.search(text))
    general = bool((_HABIT if spoken else _GENERALISES).search(text))
    by_type = _TYPES.get(memory.observation_type, ())
    found: tuple[tuple[Kind, bool], ...] = (
        ("corrects", corrects or "corrects" in by_type),
        ("instructs", instructs or "instructs" in by_type),
        ("generalises", general or "generalises" in by_type),
    )
    return Lesson(tuple(kind for kind, holds in found if holds), passes(text, told, memory))


def passes(text: str, told: str, memory: Memory) -> bool:
    """Tell whether a sentence is about a moment: a state, a plan, something that happened, or one run of something."""
    spoken = told != text or _speaks(text)
    if _ONCE.search(text) or _STATE.search(text) or _PLAN.search(text) or _LABELLED.match(text):
        return True
    if spoken and _ANSWERS.search(text):
        return True
    if not spoken and (_FIRST_PERSON.match(text) or _ABOUT_BEFORE.match(text)):
        return True
    if memory.observation_type in _OUTCOMES and not _INSTRUCTS.search(text):
        return True
    return bool(_PAST.search(text)) and not _HOLDS.search(text)


def _speaks(text: str) -> bool:
    """Tell whether a person says it of themselves."""
    return not {"i", "my", "i'm", "me", "i’m", "we", "our"}.isdisjoint(words(text))
