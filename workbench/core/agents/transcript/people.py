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


def is_standing(sentence: str) -> bool:
    """Tell whether a sentence of a person is an instruction for every time, or says what they prefer."""
    said = sentence.strip()
    if not 3 <= len(said.split()) <= 60 or said.endswith(("?", ":", "…", "...")):
        return False
    return bool(re.search(_STANDING, said, re.IGNORECASE))


def _is_rule(sentence: str) -> bool:
    """Tell whether a sentence says how things are done here, whatever is asked for now."""
    count = len(sentence.split())
    return 4 <= count <= 45 and not sentence.endswith("?") and bool(re.search(_RULE, sentence, re.IGNORECASE))
