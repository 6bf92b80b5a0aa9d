"""Prompts as values: a text from `prompts/` with data put into it.

Stored text is data. It goes in literally (braces in it mean nothing), and between marks that occur nowhere in it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

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
        """Everything that leaves the machine, as a person reads it: the system text, a blank line, the message."""
        return f"{self.system}\n\n{self.user}"

    @property
    def tokens(self) -> int:
        """An estimate of the tokens sent."""
        return tokens_of(self.system) + tokens_of(self.user)


def prompt(
    stage: Stage, name: str, reply_tokens: int, data: Mapping[str, str], words: Mapping[str, str] | None = None
) -> Prompt:
    """Fill in `prompts/<name>.md`. `data` is fenced text from elsewhere, `words` is the workbench's own."""
    system, _, user = template(name).partition(_PART)
    values = {**data, **(words or {}), FENCE_PLACE: fence_for(data.values())}
    return Prompt(stage, filled(system, values), filled(user, values), reply_tokens)


def template(name: str) -> str:
    """Return the text of `prompts/<name>.md`: the system text, a line of three hyphens, and the message."""
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
    """Number texts from 1, one item each; further lines are indented, so that none looks like an item of its own."""
    return "\n".join(f"{place}. {indented(text)}" for place, text in enumerate(texts, start=1))


def indented(text: str) -> str:
    """Indent every line after the first by three spaces."""
    return "\n   ".join(text.strip().splitlines())


def memory_lines(memories: Sequence[Memory]) -> str:
    """Return the memories numbered from 1, each with its day (UTC) and whether it is a reflection itself."""
    return numbered(
        [f"[{m.created_at:%Y-%m-%d}{', reflection' if m.is_synthetic else ''}] {m.content}" for m in memories]
    )
