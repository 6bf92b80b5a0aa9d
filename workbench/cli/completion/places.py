"""What can be typed where on the command line: read from the parser, so that completion knows nothing of its own."""

import re
from argparse import ONE_OR_MORE, SUPPRESS, ZERO_OR_MORE, Action, ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workbench.cli.parsing import file_or_stdin, folder

Takes = Literal["", "word", "file", "folder"]
"""What an argument takes: nothing, a word of its own, the name of a file or of a folder."""

_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Value:
    """What can stand in one place; `choices` are all there is, where there are any."""

    takes: Takes = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Option:
    """An option by all its names, what it is for, and what follows it."""

    names: tuple[str, ...]
    about: str
    value: Value


@dataclass(frozen=True, slots=True)
class Place:
    """A command (`review list`; empty for none yet): what may follow it.

    `words` are the commands below it, each with what it does. `values` are its arguments in their order; the last one
    may come again when it `repeats`.
    """

    name: str
    words: tuple[tuple[str, str], ...]
    options: tuple[Option, ...]
    values: tuple[Value, ...]
    repeats: bool = False


def places(parser: ArgumentParser, name: str = "") -> Iterator[Place]:
    """Yield every place of a parser, the outermost first."""
    below: list[tuple[str, ArgumentParser]] = []
    words: list[tuple[str, str]] = []
    options: list[Option] = []
    values: list[Value] = []
    repeats = False
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            below += action.choices.items()
            words += [(choice.dest, _about(choice)) for choice in action._choices_actions]
        elif action.option_strings:
            options.append(Option(tuple(action.option_strings), _about(action), _value(action)))
        else:
            values.append(_value(action))
            repeats = repeats or action.nargs in (ZERO_OR_MORE, ONE_OR_MORE)
    yield Place(name, tuple(words), tuple(options), tuple(values), repeats)
    for word, inner in below:
        yield from places(inner, f"{name} {word}".strip())


def _value(action: Action) -> Value:
    if action.nargs == 0:
        return Value()
    if action.choices is not None:
        return Value("word", tuple(map(str, action.choices)))
    if action.type is folder or action.metavar == "DIR":
        return Value("folder")
    return Value("file" if action.type in (Path, file_or_stdin) else "word")


def _about(action: Action) -> str:
    """Return what an argument is for, in one line of plain characters."""
    if not action.help or action.help == SUPPRESS:
        return ""
    text = re.sub(r"\s+", " ", action.help)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
