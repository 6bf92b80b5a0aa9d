"""What a sentence is as a lesson: whether it corrects, instructs or generalises, or only tells of a passing moment.

The rules are those of the sentence's language (`languages`); where there are none, the type of its memory speaks alone.
What passes, a state, a
plan that was carried out, something that happened once, a command that was a mistake, is no lesson, however often the
memories come back to it.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from workbench.core.stream.memory import Memory
from workbench.core.words import words
from workbench.reflect.extractive.everyday import language_of
from workbench.reflect.extractive.languages import rules_for
from workbench.reflect.extractive.rules import Rules
from workbench.reflect.extractive.sentences import LABEL

Kind = Literal["corrects", "instructs", "generalises"]

_TYPES: Mapping[str, tuple[Kind, ...]] = {
    "correction": ("corrects",), "instruction": ("instructs",), "convention": ("instructs",),
    "gotcha": ("generalises",), "insight": ("generalises",), "pattern": ("generalises",),
}  # fmt: skip
"""What the sentences of a memory are by its type, unless they tell of something else."""

_OUTCOMES = frozenset((
    "code_change", "test_result", "tool_output", "test_success", "test_failure", "file_read", "error", "failure",
    "bug_fix", "refactoring", "feature_implementation",
))  # fmt: skip
"""Types of memories that tell what came of something: a lesson of theirs says in words what to do."""


class Lesson(NamedTuple):
    """What a sentence is: its `kinds`, the most telling first, and whether it only `passes`."""

    kinds: tuple[Kind, ...]
    passes: bool

    @property
    def teaches(self) -> bool:
        """Whether it says by itself what to do, or what not to believe."""
        return "corrects" in self.kinds or "instructs" in self.kinds


def lesson_of(text: str, told: str, memory: Memory, language: str = "") -> Lesson:
    """Return what a sentence of a memory is; `told` is it as it would be proposed, with who says it.

    Without a `language` that of the sentence counts.
    """
    by_type = _TYPES.get(memory.observation_type, ())
    rules = rules_for(language or language_of(text))
    if rules is None:
        return Lesson(by_type, memory.observation_type in _OUTCOMES)
    spoken = told != text or _speaks(text, rules)
    # Who talks with somebody says "should" and "instead" of other things than of how to work.
    instructs, corrects = (not spoken and bool(one.search(text)) for one in (rules.instructs, rules.corrects))
    general = bool((rules.habit if spoken else rules.generalises).search(text))
    found: tuple[tuple[Kind, bool], ...] = (
        ("corrects", corrects or "corrects" in by_type),
        ("instructs", instructs or "instructs" in by_type),
        ("generalises", general or "generalises" in by_type),
    )
    kinds = tuple(kind for kind, holds in found if holds)
    # What somebody says of themselves is worth keeping as a habit, a wish or a rule: the rest is talk.
    return Lesson(kinds, (spoken and not kinds) or _passes(text, told, memory, rules, spoken=spoken))


def _passes(text: str, told: str, memory: Memory, rules: Rules, *, spoken: bool) -> bool:
    """Tell whether a sentence is about a moment: a state, a plan, something that happened, or one run of something."""
    if any(one.search(text) for one in (rules.once, rules.state, rules.plan, rules.labelled)):
        return True
    if spoken and _is_small_talk(text, told, rules):
        return True
    if not spoken and (rules.first_person.match(text) or rules.about_before.match(text)):
        return True
    if memory.observation_type in _OUTCOMES and not rules.instructs.search(text):
        return True
    return bool(rules.past.search(text)) and not rules.holds.search(text)


def _is_small_talk(text: str, told: str, rules: Rules) -> bool:
    """Tell whether it answers somebody, is about what they showed, tells a feeling, or says nothing of who says it."""
    if any(one.search(text) for one in (rules.answers, rules.thanks, rules.unresolved)):
        return True
    return told != text and frozenset(words(text)).isdisjoint(rules.selves | rules.ours)


def _speaks(text: str, rules: Rules) -> bool:
    """Tell whether a person says it of themselves."""
    said = frozenset(words(text))
    return bool(said & rules.selves) or (LABEL.match(text) is not None and bool(said & rules.ours))
