"""What is asked of a language model, one function per question. Sends nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.core.agents.plan import MOST_CANDIDATES
from workbench.core.playbook.book import Bullet, Playbook
from workbench.core.playbook.operations import Analysis
from workbench.core.stream.memory import Memory
from workbench.reflect.claude.prompting import Prompt, indented, memory_lines, numbered, prompt

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


@dataclass(frozen=True, slots=True)
class Run:
    """One run of an agent, for the ACE Reflector (source 003); `expected` is empty when nobody knows it."""

    task: str
    trajectory: str
    outcome: str = ""
    expected: str = ""


def questions(memories: Sequence[Memory], focus: str = "") -> Prompt:
    """Ask what is worth asking about the memories (source 000, algorithm 7)."""
    wanted = f"Somebody wants to know about this above all: {_line(focus)}\n\n" if focus.strip() else ""
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
    parts = [f"## {s.title or s.key}\n{_bullets(playbook.in_section(s.id))}" for s in playbook.sections]
    data = {"playbook": "\n\n".join(parts) or "(empty)", "lessons": numbered(lessons) or NONE}
    said = "" if room is None else f"It may grow by at most {max(0, room):,} tokens."
    return prompt("curate", "curate", CURATION_TOKENS, data, {"room": said})


def propose(context: str, plan: str, known: str) -> Prompt:
    """Ask for candidates of the next action (source 000, algorithm 10)."""
    data = {"context": context or NONE, "plan": plan or NONE, "known": known or NONE}
    return prompt("propose", "propose", QUESTION_TOKENS, data, {"count": str(MOST_CANDIDATES)})


def merge(first: str, second: str) -> Prompt:
    """Ask for one text of two."""
    return prompt("merge", "merge", MERGE_TOKENS, {"first": first.strip(), "second": second.strip()})


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
