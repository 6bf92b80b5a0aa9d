"""Summaries of sessions that ran out of context, read by their sections: each thing that one tells,
once.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b
from typing import Literal

from workbench.core.agents.transcript.events import has
from workbench.core.document import Record

# What tells things of a session again, by whatever door they come.


def identity(session: str, text: str) -> str:
    """Return what tells words of a session again, by whatever door they come: a hook gives no
    message id.
    """
    flat = " ".join(text.split()).encode(errors="replace")
    return f"{session}/text-{blake2b(flat, digest_size=8).hexdigest()}"


def print_of(id: str) -> str:
    """Return what stands for an identity where it is kept. Ids of tool uses are the same in a
    session that goes on.
    """
    session, _, own = id.partition("/")
    told = own if own.startswith("toolu_") else f"{session}/{own}"
    return blake2b(told.encode(errors="replace"), digest_size=8).hexdigest()


# What a session taught: lessons to be reviewed, and what was passed over as none, with the reason.


Reason = Literal[
    "assertion", "own-work", "own-tool", "cancelled", "turned-down", "reader-limit", "looked-only", "said-nothing",
    "went-away", "not-resolved", "no-correction", "small-talk", "told-already", "known", "unreadable-line", "passing",
]  # fmt: skip
"""Why something is no lesson.

`assertion`: a test that is red while it is written · `own-work`: an error in what the agent is just
writing · `own-tool`: the agent's own tool refused · `cancelled`: a call beside it failed, or
somebody stopped it · `turned-down`: a person let it not happen and said no more · `reader-limit`:
too long to be read at once · `looked-only`: nothing was found · `said-nothing`: it failed without a
word · `went-away`: the same worked the next time · `not-resolved`: nobody found out ·
`no-correction`: a prompt that asks for something · `small-talk`: too short to tell anything ·
`told-already`: another lesson says it · `known`: it is in the store · `unreadable-line`: it is no
JSON of this kind · `passing`: what a summary tells of work that is over.
"""

Kind = Literal[
    "correction", "rule", "failure", "fix", "insight", "decision", "open-work", "change", "choice"
]

TYPES: dict[Kind, str] = {
    "correction": "correction", "rule": "instruction", "failure": "failure", "fix": "bug_fix", "insight": "insight",
    "decision": "decision", "open-work": "general", "change": "code_change", "choice": "decision",
}  # fmt: skip
"""The observation type that a lesson becomes."""

_BASE: dict[Kind, float] = {
    "correction": 100, "rule": 90, "failure": 50, "insight": 42, "decision": 40, "fix": 34, "open-work": 5,
    "choice": 2, "change": 1,
}  # fmt: skip
CANDIDATE = 32.0
"""Weight from which a lesson waits for a person's decision; what weighs less is only noted."""

WORTH = 24.0
"""Weight below which what a summary tells is not worth being noted."""

_SESSION, _MOST_SESSIONS = 20.0, 3
_COMMON_WORDS = """
the a an and or of to in on for with was were is are be by it its this that from as at not no failed worked what fixed
using used use added instead error errors need needs needed must should
"""
_COMMON = frozenset(_COMMON_WORDS.split())
_NAME = r"[\w$@:{}.\-]*[_/:.@][\w$@:{}.\-/]*[\w}]|--?[a-z][\w-]+"


class Lesson(Record, frozen=True):
    """Something to remember, as it would be stored, and where it comes from.

    `ids` are the messages or tool uses that it was learned from, first to last, each with its
    session before a slash. `mark` tells the same lesson in another session; `weight` says what
    comes first. `needs` more than one session means that it is a lesson only when the same happened
    in so many: until then it is passed over for the `reason`.
    """

    kind: Kind
    text: str
    session: str
    ids: tuple[str, ...]
    at: datetime | None = None
    turn: int = 0
    speaker: str = "assistant"
    file: str = ""
    mark: str = ""
    extra: float = 0.0
    needs: int = 1
    reason: Reason = "own-work"

    @property
    def sessions(self) -> int:
        """In how many sessions it was learned."""
        return len({id.partition("/")[0] for id in self.ids})

    @property
    def weight(self) -> float:
        """How much it counts: a person's word most, then what several sessions ran into."""
        return _BASE[self.kind] + self.extra + _SESSION * (min(self.sessions, _MOST_SESSIONS) - 1)

    @property
    def waits(self) -> bool:
        """Whether it waits for a person's decision; what weighs less is only noted."""
        return self.weight >= CANDIDATE

    @property
    def observation_type(self) -> str:
        """The observation type that it is stored with."""
        return TYPES[self.kind]


@dataclass(frozen=True, slots=True)
class Passed:
    """Something that is no lesson, and why; `text` says in a few words what it was.

    `id` is that of its message or tool use, with its session before a slash where it was told
    beside other lessons.
    """

    reason: Reason
    text: str = ""
    id: str = ""


def ordered(lessons: Iterable[Lesson]) -> list[Lesson]:
    """Return lessons, those that count most first; of equals the latest."""
    return sorted(
        lessons, key=lambda one: (-one.weight, -(one.at.timestamp() if one.at else 0.0), one.ids)
    )


def same_lesson(one: Lesson, other: Lesson) -> bool:
    """Tell whether two lessons say the same: by their mark, or since they name the same and share
    most words.
    """
    if one.mark and one.mark == other.mark:
        return True
    if {"change", "choice"} & {one.kind, other.kind}:
        return False
    if "correction" in (one.kind, other.kind) or "rule" in (one.kind, other.kind):
        return _told(one.text) == _told(other.text)
    if one.kind == other.kind == "failure":
        return False
    shared = _names(one.text) & _names(other.text)
    mine, theirs = _told(one.text), _told(other.text)
    common = len(mine & theirs) / (min(len(mine), len(theirs)) or 1)
    return common >= (0.3 if any(len(name) >= 8 for name in shared) else 0.6)


def told_once(lessons: Iterable[Lesson]) -> tuple[list[Lesson], list[Passed]]:
    """Return lessons each told once, what several sessions say as one, and what fell away by that."""
    kept: list[Lesson] = []
    passed: list[Passed] = []
    for lesson in sorted(lessons, key=lambda one: -one.weight):
        place = next((at for at, other in enumerate(kept) if same_lesson(lesson, other)), None)
        if place is None:
            kept.append(lesson)
            continue
        other = kept[place]
        fresh = tuple(id for id in lesson.ids if print_of(id) not in set(map(print_of, other.ids)))
        ids = (*other.ids, *fresh)
        passed.extend(Passed("told-already", lesson.text[:120], id) for id in fresh)
        kept[place] = replace(other, ids=ids)
    ripe = [one for one in kept if one.sessions >= one.needs]
    passed += [
        Passed(one.reason, one.text[:120], one.ids[0]) for one in kept if one.sessions < one.needs
    ]
    return ripe, passed


def _names(text: str) -> frozenset[str]:
    return frozenset(
        name.strip(".:-").lower() for name in re.findall(_NAME, text) if len(name) >= 5
    )


def _told(text: str) -> frozenset[str]:
    from workbench.core.words import words  # an event that teaches nothing is not to wait for it

    return frozenset(word for word in words(text) if word not in _COMMON and len(word) > 1)


# What is passed over in agents' sessions, in words: said by the command and in the app.


PASSED: Mapping[Reason, str] = {
    "assertion": "tests failing while being written",
    "own-work": "errors in code being written",
    "own-tool": "refusals by the agent's own tools",
    "cancelled": "cancelled calls",
    "turned-down": "calls rejected by a person",
    "reader-limit": "files too long to read at once",
    "looked-only": "reads of missing files",
    "said-nothing": "failures without a message",
    "went-away": "failures that went away by themselves",
    "not-resolved": "unresolved failures",
    "no-correction": "requests",
    "small-talk": "prompts without content",
    "told-already": "repeated statements",
    "known": "already stored",
    "passing": "summary points on finished work",
    "unreadable-line": "unreadable lines",
}
"""Each reason, as what was passed over for it."""


# What a person says to an agent that is worth remembering: corrections, and rules for what comes.


LONGEST_CORRECTION = 600
"""Characters of a prompt that corrects; a longer one is a task, of which single sentences may be
rules.
"""

# Compiled when they are first needed: a hook that takes a prompt needs but few of them.
_TAGS = (
    r"<(system-reminder|task-notification|local-command-\w+|command-\w+|bash-\w+|user-memory-input|"
    r"ide_\w+|environment_context|user_instructions)>.*?</\1>"
)
_MACHINE = (
    r"^(?:caveat: the messages below|\[request interrupted|this session is being continued|<[a-z][\w-]*>|\[image"
    r"|read the output file to retrieve the result|full transcript available at"
    r"|please continue the conversation from where|stop hook feedback|base directory for this skill)"
)
_AGAINST = (
    r"^\W*(?:(?:hmm+|ok(?:ay)?|but|and|wait|hey|well|sorry|please)\W+){0,2}"
    r"(?:no\b(?! (?:problem|worries|need|thanks|rush|idea|issue|objection|changes? (?:needed|required)))|nope\b|wrong\b"
    r"|not (?:like|that|what|quite|there|in|the|with|via|on)\b|stop\b|don'?t\b(?! worry| bother)|do not\b"
    r"|that'?s (?:not|wrong)"
    r"|this is (?:not|wrong)|that is (?:not|wrong)|actually\b(?!.{0,20}(?:looks|is) (?:good|fine))|instead\b|undo\b"
    r"|revert\b"
    r"|you (?:should(?:n'?t| not)|forgot|missed|broke|must(?:n'?t| not))|i (?:said|told you|meant|asked|didn'?t)"
    r"|why (?:did|are|do) you\b|never\b|wait\b)"
)
_TELLS = (
    r"\b(?:use|using|run|call|put|keep|write|make|do|don'?t|do not|never|always|instead|rather|prefer|must"
    r"|should(?:n'?t)?"
    r"|need|needs|only|not|without|with|is|are|has|have|goes|belongs|lives|means?)\b"
)
_RULE = (
    r"\b(?:from now on|always|never|every time|remember (?:that|to)|keep in mind|make sure (?:to|that|you) (?:always"
    r"|never)"
    r"|in this (?:repo|project|codebase)|we (?:always|never|don'?t|use|prefer|only)|i (?:prefer|always|never)"
    r"|(?:do not|don'?t) (?:ever|use|add|commit|push|touch|edit|change|run|create|write)|prefer \S+ (?:over|to"
    r"|instead))\b"
)
_POLITE = r"(?:(?:please|and|also|but|so|ok(?:ay)?|hey|hi|remember|note|rule|important|reminder)\b[,:]?\s+)*"
_NOT_TOLD = (
    r"(?!(?:mind|again|ever|been|had|got|was|were|is|are|seen|saw|heard|known|knew|thought|felt|met|did|say never|good|"
    r"like this|nice|great|fun|happy|glad|the|a|an|in|at|on|up|here|such|so|really|quite|enough|more|less|active|"
    r"visible)\b|[\w\-]+[^sui\W]s\b|\w+[^eb\W]ed\b)"
)
"""What follows "always" and "never" where something is told and nobody is asked for anything."""
_WISH = (
    r"use|ask|tell|show|give|keep|make|write|run|add|include|explain|answer|reply|respond|check|confirm|start|stop|list|"
    r"put|avoid|remind|convert|format|summari[sz]e|name|call|commit|test|store|treat|leave|sort|speak|assume|prefer"
)
_STANDING = (
    rf"\A{_POLITE}(?:(?:always|never(?: ever)?)\s+{_NOT_TOLD}|"
    r"(?:immer|nie(?:mals)?|stets|siempre|nunca|jamás|toujours|jamais)\s+(?!wieder|gesehen))|"
    r"\b(?:from now on|going forward|from here on(?: out)?|for all future|ab (?:jetzt|sofort)|a partir de ahora)\b|"
    rf"\A{_POLITE}(?:{_WISH})\b.*\b(?:always|never|every time|by default|immer|nie)\b(?! give up)|"
    rf"\A{_POLITE}(?:in (?:the )?future|by default|every time|each time|whenever|when (?:you|i (?:ask|say|send|share|"
    r"give|mention))|if (?:you (?!want|like|can|could|have)|i (?:ask|say))|before you|after you|unless i)\b"
    r"[^,]{3,120},?\s+(?:please|always|never|do not|don['’]t|you (?:should|must)|i (?:want|need|expect)|"
    rf"{_WISH})\b|"
    r"\byou (?:should|must|are to|need to|have to) (?:always|never|only)\b|"
    rf"\A{_POLITE}(?:do not|don['’]t) (?!(?:worry|know|think|mind|forget|bother|understand|see|get|care|believe|have|"
    r"want|need|like|feel|work|give up|quit|be afraid|be scared)\b)\w+\b(?!.*\b(?:yet|now|today|this time|here)\b)|"
    r"\b(?:make sure|be sure|remember|try) (?:to|that you|you) (?:always|never)\b|"
    rf"\A{_POLITE}(?:in this (?:repo|repository|project|codebase)\b|we (?:always|never|only|prefer)\b|"
    r"(?:i|we)(?:['’]d)? (?:(?:really|always|would|much|strongly|generally|usually) )*(?:prefer|want you to (?:always|"
    r"never)|expect you to|like (?:it when|my|when you|you to)|dislike|hate (?:it )?when|don['’]t (?:want|like|need) "
    r"(?:you|any)|can['’]t stand)\b|my (?:\w+ )?(?:preferred|preference|favou?rite)\b|keep in mind\b|"
    r"prefer \S+ (?:over|to|instead)\b|ich (?:bevorzuge|möchte lieber)\b|prefiero\b)"
)
_REASON = r"the user (?:said|provided the following reason)[^:\n]*:\s*(?P<said>.+)"
_SENTENCE = r"(?<=[.!?])\s+|\n+"
_MOST_RULES = 3


def words_of(text: str) -> str:
    """Return what a person typed, without what machines put beside it; empty when nobody typed
    anything.
    """
    bare = re.sub(_TAGS, " ", text, flags=re.DOTALL).strip() if "<" in text else text.strip()
    return "" if re.match(_MACHINE, bare, re.IGNORECASE) else bare


def said_no(text: str) -> str:
    """Return what a person said when they turned a tool use down; empty when they said nothing."""
    found = re.search(_REASON, text, re.IGNORECASE | re.DOTALL)
    said = found["said"].strip() if found else ""
    return said.partition("\n\nNote:")[0].strip()


def taught(
    said: str,
    session: str,
    turn: int,
    last: str,
    at: datetime | None = None,
    *,
    refusing: bool = False,
) -> Iterator[Lesson | Passed]:
    """Yield what a person's words teach in a session, a correction or rules, or why they teach
    nothing.

    A command was run `last` (empty: none was). With `refusing` they were said to turn something
    down, and so they correct however they begin.
    """
    flat = " ".join(said.split())
    count, may_be_rule = len(flat.split()), has(_RULE, flat)
    found: list[tuple[Kind, str]] = []
    reason: Reason = "small-talk"
    if (
        count >= 3
        and len(flat) <= LONGEST_CORRECTION
        and (refusing or re.match(_AGAINST, flat, re.I))
    ):
        asks = flat.endswith("?") and not may_be_rule and count < 8
        if not asks and (count >= 6 or has(_TELLS, flat)):
            found = [("correction", flat)]
    elif count >= 3:
        parts = (" ".join(part.split()).strip("-*• ") for part in re.split(_SENTENCE, said))
        rules = [part for part in parts if _is_rule(part)]
        found = [("rule", part) for part in dict.fromkeys(rules[:_MOST_RULES])]
        reason = "no-correction"
    for kind, text in found:
        after = f"\n(said after `{last}`)" if kind == "correction" and last else ""
        mark, id = identity("said", text.lower()), identity(session, text)
        yield Lesson(kind, text + after, session, (id,), at, turn, "user", mark=mark)
    if not found:
        yield Passed(reason, flat[:80], identity(session, flat[:80]))


def is_standing(sentence: str) -> bool:
    """Tell whether a sentence of a person is an instruction for every time, or says what they
    prefer.
    """
    said = sentence.strip()
    is_whole = 3 <= len(said.split()) <= 60 and not said.endswith(("?", ":", "…", "..."))
    return is_whole and has(_STANDING, said)


def _is_rule(sentence: str) -> bool:
    """Tell whether a sentence says how things are done here, whatever is asked for now."""
    count = len(sentence.split())
    return 4 <= count <= 45 and not sentence.endswith("?") and has(_RULE, sentence)


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
    r"user messages|current (?:work|state)|files? and code|primary request|analysis|optional next step",
    re.I,
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
_BARRED = re.compile(
    r"\b(?:can'?t|cannot|unsupported|not supported|(?:doesn'?t|does not) support)\b", re.I
)
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
    """Yield what a summary tells by its sections: the kind, the text, and how much more it counts
    than its kind.

    What somebody thought before they wrote it is no part of it, neither are listings of files and
    of what was asked.
    """
    body = summary.rpartition("\nSummary:")[2] if "\nSummary:" in summary else summary
    body = re.sub(r"<analysis>.*?</analysis>", "", body, flags=re.DOTALL)
    body = body[: found.start()] if (found := re.search(_REST, body)) else body
    seen: set[str] = set()
    for title, text in _items(body):
        kind = _kind_of(title)
        flat = _plain(text)
        if (
            kind is None
            or len(flat.split()) < _SHORTEST
            or _NONE.match(flat)
            or flat.lower() in seen
        ):
            continue
        seen.add(flat.lower())
        is_listed = "concept" in title.lower()
        if is_listed and not _BINDS.search(flat):
            continue  # a name in a list of what was worked with tells nothing
        yield kind, flat, 0.0 if kind == "open-work" else _extra(flat, is_listed=is_listed)


def _extra(text: str, *, is_listed: bool) -> float:
    """Return how much more a point counts than its kind: what holds for later does, what was done
    and is over less.
    """
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
    """Yield each point of a section with the section's title: a bullet with what stands below it,
    or a paragraph.
    """
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
