"""What a person says to an agent that is worth remembering: corrections, and rules for what comes."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from workbench.core.agents.transcript.identity import identity
from workbench.core.agents.transcript.lessons import Kind, Lesson, Passed

LONGEST_CORRECTION = 600
"""Characters of a prompt that corrects; a longer one is a task, of which single sentences may be rules."""

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
_REASON = r"the user (?:said|provided the following reason)[^:\n]*:\s*(?P<said>.+)"
_SENTENCE = r"(?<=[.!?])\s+|\n+"
_MOST_RULES = 3


def words_of(text: str) -> str:
    """Return what a person typed, without what machines put beside it; empty when nobody typed anything."""
    bare = re.sub(_TAGS, " ", text, flags=re.DOTALL).strip() if "<" in text else text.strip()
    return "" if re.match(_MACHINE, bare, re.IGNORECASE) else bare


def said_no(text: str) -> str:
    """Return what a person said when they turned a tool use down; empty when they said nothing."""
    found = re.search(_REASON, text, re.IGNORECASE | re.DOTALL)
    said = found["said"].strip() if found else ""
    return said.partition("\n\nNote:")[0].strip()


def taught(
    said: str, session: str, turn: int, last: str, at: datetime | None = None, *, refusing: bool = False
) -> Iterator[Lesson | Passed]:
    """Yield what a person's words teach in a session, in which a command was run `last` (empty: none was)."""
    found = worth(said, refusing=refusing)
    if isinstance(found, Passed):
        yield replace(found, id=identity(session, found.text))
        return
    for kind, text in found:
        after = f"\n(said after `{last}`)" if kind == "correction" and last else ""
        mark = identity("said", text.lower())
        yield Lesson(kind, text + after, session, (identity(session, text),), at, turn, "user", mark=mark)


def worth(text: str, *, refusing: bool = False) -> list[tuple[Kind, str]] | Passed:
    """Return what a person's words teach, a correction or rules, or why they teach nothing.

    With `refusing` they were said to turn something down, and so they correct however they begin.
    """
    said = " ".join(text.split())
    if len(said.split()) < 3:
        return Passed("small-talk", said[:80])
    short = len(said) <= LONGEST_CORRECTION
    if short and (refusing or re.match(_AGAINST, said, re.IGNORECASE)):
        count = len(said.split())
        if (not re.search(_TELLS, said, re.IGNORECASE) and count < 6) or (
            said.endswith("?") and not re.search(_RULE, said, re.IGNORECASE) and count < 8
        ):
            return Passed("small-talk", said[:80])
        return [("correction", said)]
    rules = [s for part in re.split(_SENTENCE, text) if (s := " ".join(part.split()).strip("-*• ")) and _is_rule(s)]
    if rules:
        return [("rule", rule) for rule in dict.fromkeys(rules[:_MOST_RULES])]
    return Passed("no-correction", said[:80])


def _is_rule(sentence: str) -> bool:
    """Tell whether a sentence says how things are done here, whatever is asked for now."""
    count = len(sentence.split())
    return 4 <= count <= 45 and not sentence.endswith("?") and bool(re.search(_RULE, sentence, re.IGNORECASE))
