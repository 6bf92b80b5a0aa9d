"""Questions that take one reply each: refining an insight, the two ACE roles, one text of two."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from workbench.core.playbook.book import Bullet, Playbook
from workbench.core.playbook.curation import Analysis, Curation, read_analysis, read_curation
from workbench.core.reflection.loosejson import UnreadableReply
from workbench.core.reflection.refinement import needs_round
from workbench.core.reflection.reflector import Cancelled, Insight, Reflection, ReflectionProblem, Tell, Unread
from workbench.core.stream.memory import Memory
from workbench.reflect.claude import asks
from workbench.reflect.claude.asker import NAME, Asker, minus
from workbench.reflect.claude.prompting import Prompt
from workbench.reflect.replies.citations import read_citations
from workbench.reflect.replies.parse import read_text

Reading = TypeVar("Reading")


def refined(
    asker: Asker, insight: Insight, memories: Sequence[Memory], tell: Tell, cancelled: Cancelled, *, force: bool
) -> Insight:
    """Refine until the insight is specific enough or the rounds of the settings are made (source 000, algorithm 9).

    With `force` at least one round is made. Each text it had is in `rounds`. When a round fails, the insight as it
    is by then is in `found` of the `ReflectionProblem`; a cancelled one is returned as it is by then.
    """
    before, made = asker.used, 0
    while not cancelled() and ((force and made == 0) or needs_round(insight.text, made, asker.settings.rounds)):
        made += 1
        try:
            reply = asker.whole_text(asks.refine(insight.text, memories), tell, cancelled)
        except ReflectionProblem as problem:
            if cancelled():
                break
            unread = problem.found.unread if problem.found is not None else ()
            problem.found = Reflection(
                NAME,
                (insight,),
                usage=minus(asker.used, before),
                unread=unread,
                complete=False,
                stopped=problem.message,
            )
            raise
        cited = read_citations(read_text(reply), memories)
        if not cited.text or cited.text == insight.text:
            break
        insight = replace(
            insight,
            text=cited.text,
            citations=cited.ids or insight.citations,
            unresolved=tuple(dict.fromkeys((*insight.unresolved, *cited.unresolved))),
            rounds=(*insight.rounds, insight.text),
        )
    return insight


def analysed(asker: Asker, run: asks.Run, bullets: Sequence[Bullet], tell: Tell, cancelled: Cancelled) -> Analysis:
    """Ask the ACE Reflector about a run. Raises `ReflectionProblem`, with a reply that cannot be read in `found`."""
    return _read(asker, asks.analyse(run, bullets), read_analysis, tell, cancelled)


def curated(
    asker: Asker, lessons: Sequence[str], playbook: Playbook, room: int | None, tell: Tell, cancelled: Cancelled
) -> Curation:
    """Ask the ACE Curator for operations. Raises as `analysed` does."""
    return _read(asker, asks.curate(lessons, playbook, room), read_curation, tell, cancelled)


def merged(asker: Asker, first: str, second: str, tell: Tell, cancelled: Cancelled) -> str:
    """Ask for one text of two. Raises `ReflectionProblem`."""
    return read_text(asker.whole_text(asks.merge(first, second), tell, cancelled, stream=False))


def _read(asker: Asker, prompt: Prompt, reader: Callable[[str], Reading], tell: Tell, cancelled: Cancelled) -> Reading:
    before = asker.used
    reply = asker.whole_text(prompt, tell, cancelled)
    try:
        return reader(reply)
    except UnreadableReply as error:
        usage, unread = minus(asker.used, before), (Unread(prompt.stage, reply, error.message),)
        found = Reflection(NAME, (), usage=usage, unread=unread, complete=False, stopped=error.message)
        raise ReflectionProblem(
            error.message, "The reply is kept and can be edited or asked for again.", found
        ) from None
