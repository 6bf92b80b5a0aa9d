"""What is asked of a language model, one function per question: a text from `prompts/` with data
put into it.

Stored text is data. It goes in literally (braces in it mean nothing), and between marks that occur
nowhere in it. Sends nothing.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import NamedTuple

from workbench.core.agents.plan import MOST_CANDIDATES
from workbench.core.playbook.book import Bullet, Playbook
from workbench.core.playbook.operations import Analysis
from workbench.core.reflection.reflector import Stage
from workbench.core.stream.memory import Memory
from workbench.core.tokens import tokens_of

_PLACE = re.compile(r"\{\{(\w+)\}\}")
_PART = "\n---\n"

FENCE = "records"
FENCE_PLACE = "fence"


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent in one call, and the longest reply (in tokens) that it is usually worth."""

    stage: Stage
    system: str
    user: str
    reply_tokens: int

    @property
    def text(self) -> str:
        """Everything that leaves the machine, as a person reads it: the system text, a blank line,
        the message.
        """
        return f"{self.system}\n\n{self.user}"

    @property
    def tokens(self) -> int:
        """An estimate of the tokens sent."""
        return tokens_of(self.system) + tokens_of(self.user)


def prompt(
    stage: Stage,
    name: str,
    reply_tokens: int,
    data: Mapping[str, str],
    words: Mapping[str, str] | None = None,
) -> Prompt:
    """Fill in `prompts/<name>.md`. `data` is fenced text from elsewhere, `words` is the workbench's
    own.
    """
    system, _, user = template(name).partition(_PART)
    values = {**data, **(words or {}), FENCE_PLACE: fence_for(data.values())}
    return Prompt(stage, filled(system, values), filled(user, values), reply_tokens)


def template(name: str) -> str:
    """Return the text of `prompts/<name>.md`: the system text, a line of three hyphens, and the
    message.
    """
    return (files("workbench.reflect") / "prompts" / f"{name}.md").read_text("utf-8").strip()


def filled(text: str, values: Mapping[str, str]) -> str:
    """Put the values into the `{{places}}` of `text`; what a value holds is never looked at again."""
    return _PLACE.sub(lambda place: values[place.group(1)], text)


def fence_for(texts: Iterable[str]) -> str:
    """Return a tag name whose tags occur in none of the texts, so that none can end the fence."""
    everything = "\n".join(texts).lower()
    fence, number = FENCE, 1
    while re.search(rf"<\s*/?\s*{fence}\s*>", everything):
        number += 1
        fence = f"{FENCE}-{number}"
    return fence


def numbered(texts: Sequence[str]) -> str:
    """Number texts from 1, one item each; further lines are indented, so that none looks like an
    item of its own.
    """
    return "\n".join(f"{place}. {indented(text)}" for place, text in enumerate(texts, start=1))


def indented(text: str) -> str:
    """Indent every line after the first by three spaces."""
    return "\n   ".join(text.strip().splitlines())


def memory_lines(memories: Sequence[Memory]) -> str:
    """Return the memories numbered from 1, each with its day (UTC) and whether it is a reflection
    itself.
    """
    return numbered(
        [
            f"[{m.created_at:%Y-%m-%d}{', reflection' if m.is_synthetic else ''}] {m.content}"
            for m in memories
        ]
    )


QUESTIONS = 3
"""Questions per reflection (source 000, algorithm 7)."""

INSIGHTS = 5
"""Most insights per question (source 000, algorithm 8)."""

NONE = "(none)"

QUESTION_TOKENS = 300
INSIGHT_TOKENS = 500
REFINE_TOKENS = 500
RATE_TOKENS = 100
MERGE_TOKENS = 500
ANALYSIS_TOKENS = 1_500
CURATION_TOKENS = 2_000


class Run(NamedTuple):
    """One run of an agent, for the ACE Reflector (source 003); `expected` is empty when nobody
    knows it.
    """

    task: str
    trajectory: str
    outcome: str = ""
    expected: str = ""


def questions(memories: Sequence[Memory], focus: str = "") -> Prompt:
    """Ask what is worth asking about the memories (source 000, algorithm 7)."""
    wanted = (
        f"Somebody wants to know about this above all: {_line(focus)}\n\n" if focus.strip() else ""
    )
    data = {"memories": memory_lines(memories), "focus": wanted}
    return prompt("questions", "questions", QUESTION_TOKENS, data, {"count": str(QUESTIONS)})


def insights(question: str, memories: Sequence[Memory]) -> Prompt:
    """Ask for insights with citations (source 000, algorithm 8)."""
    data = {"memories": memory_lines(memories), "question": _line(question)}
    return prompt("insights", "insights", INSIGHT_TOKENS, data, {"count": str(INSIGHTS)})


def group(signals: Sequence[Memory]) -> Prompt:
    """Ask which signals teach one thing, and for one text of each group (source 001, section 3.3)."""
    return prompt("insights", "group", INSIGHT_TOKENS, {"memories": memory_lines(signals)})


def refine(insight: str, memories: Sequence[Memory]) -> Prompt:
    """Ask for a more specific wording (source 000, algorithm 9)."""
    data = {"insight": insight.strip(), "memories": memory_lines(memories) or NONE}
    return prompt("refine", "refine", REFINE_TOKENS, data)


def rate(texts: Sequence[str]) -> Prompt:
    """Ask how important insights are, 1–10."""
    return prompt("rate", "rate", RATE_TOKENS, {"insights": numbered(texts)})


def analyse(run: Run, bullets: Sequence[Bullet]) -> Prompt:
    """Ask the ACE Reflector about a run and the bullets that were used in it."""
    data = {
        "task": run.task or NONE,
        "trajectory": run.trajectory or NONE,
        "outcome": run.outcome or NONE,
        "expected": run.expected or "(not known)",
        "bullets": _bullets(bullets),
    }
    return prompt("analyse", "analyse", ANALYSIS_TOKENS, data)


def curate(lessons: Sequence[str], playbook: Playbook, room: int | None = None) -> Prompt:
    """Ask the ACE Curator for operations. `room`: tokens that the playbook may still grow by."""
    parts = [f"## {s.name}\n{_bullets(playbook.in_section(s.id))}" for s in playbook.sections]
    data = {"playbook": "\n\n".join(parts) or "(empty)", "lessons": numbered(lessons) or NONE}
    said = "" if room is None else f"It may grow by at most {max(0, room):,} tokens."
    return prompt("curate", "curate", CURATION_TOKENS, data, {"room": said})


def propose(context: str, plan: str, known: str) -> Prompt:
    """Ask for candidates of the next action (source 000, algorithm 10)."""
    data = {"context": context or NONE, "plan": plan or NONE, "known": known or NONE}
    return prompt("propose", "propose", QUESTION_TOKENS, data, {"count": str(MOST_CANDIDATES)})


def merge(first: str, second: str) -> Prompt:
    """Ask for one text of two."""
    return prompt(
        "merge", "merge", MERGE_TOKENS, {"first": first.strip(), "second": second.strip()}
    )


def lessons(analysis: Analysis) -> tuple[str, ...]:
    """Return what an analysis hands to the Curator."""
    labelled = (
        ("", analysis.key_insight),
        ("What went wrong: ", analysis.error_identification),
        ("Why: ", analysis.root_cause_analysis),
        ("What to do instead: ", analysis.correct_approach),
    )
    return tuple(label + text for label, text in labelled if text)


def _bullets(bullets: Sequence[Bullet]) -> str:
    lines = (
        f"[{b.id}] helpful={b.helpful_count} harmful={b.harmful_count} :: {indented(b.content)}"
        for b in bullets
        if b.state == "active"
    )
    return "\n".join(lines) or NONE


def _line(text: str) -> str:
    return " ".join(text.split())
