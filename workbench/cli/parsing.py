"""The argument parser's manners: one-sentence errors, `--store` in both places, typed values."""

import math
import os
import re
import sys
from argparse import (
    PARSER,
    SUPPRESS,
    Action,
    ArgumentError,
    ArgumentParser,
    ArgumentTypeError,
    RawDescriptionHelpFormatter,
)
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from workbench.core.record import InvalidQuery, StoreProblem
from workbench.core.stream.times import FORMS, instant
from workbench.core.team import is_address
from workbench.core.text import printable

if TYPE_CHECKING:
    from argparse import _SubParsersAction
    from zoneinfo import ZoneInfo

    from workbench.cli.session import Session

Commands: TypeAlias = "_SubParsersAction[Parser]"
Handler: TypeAlias = "Callable[[Session], int]"

COMMAND = "COMMAND"
"""What stands in the usage for the command's name."""


class _Formatter(RawDescriptionHelpFormatter):
    """The formatter of help texts, which is made for every argument that is added, with or without
    help.

    Left to itself it loads what knows archives, to ask for the size of the terminal.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Fit a text to the terminal: lines that are too long for it break between words, not in
        them.
        """
        blocks = (_fitted(block.splitlines(), width - len(indent)) for block in text.split("\n\n"))
        return "\n\n".join("\n".join(indent + line for line in block) for block in blocks) + "\n"


def _fitted(lines: list[str], width: int) -> list[str]:
    """Return a block of a help text in `width` cells: a paragraph filled anew, tables and examples
    line by line.
    """
    if all(len(line) <= width for line in lines):
        return lines
    from textwrap import wrap

    if not any(line.startswith(" ") or "  " in line for line in lines):
        return wrap(" ".join(lines), width, break_long_words=False, break_on_hyphens=False)
    found = list[str]()
    for line in lines:
        below = " " * min(_column(line), width // 2)
        found += wrap(
            line, width, subsequent_indent=below, break_long_words=False, break_on_hyphens=False
        )
    return found


def _column(line: str) -> int:
    """Return where the last column of a line of a table begins."""
    found = list(re.finditer(r"(?:^|\S) {2,}(?=\S)", line))
    return found[-1].end() if found else 0


def _columns() -> int:
    """Return the columns of the terminal, as `shutil.get_terminal_size` does; 80 where there is
    none.
    """
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ else 1).columns or 80
    except (OSError, ValueError):
        return 80


class Parser(ArgumentParser):
    """A parser that says what is wrong in one sentence, without the usage text."""

    takes_filter = False
    """Whether words behind it may begin with a minus: `-word` excludes in a filter."""

    open_choices: Sequence[Action] = ()
    """Arguments whose choices are only offered: the command looks at what was given itself."""

    mixes = False
    """Whether options may stand between a word and another one that may be missing."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=_Formatter, allow_abbrev=False, **options)

    def add_argument(self, *names: Any, **options: Any) -> Action:
        """Add an argument; a word is shown in capitals."""
        if "choices" not in options and not names[0].startswith("-"):
            options.setdefault("metavar", names[0].upper())
        return super().add_argument(*names, **options)

    def error(self, message: str) -> NoReturn:
        """Print the problem and where help is, and leave with exit code 2."""
        end = "" if message.endswith("?") else "."
        self.exit(2, f"{self.prog}: {printable(message)}{end} See “{self.prog} --help”.\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, also when options stand between the words of a command that `mixes` them."""
        if not self.mixes:
            return super().parse_known_args(args, namespace)
        self.mixes = (
            False  # it asks for this method again, once for the options and once for the words
        )
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self.mixes = True

    def _parse_optional(self, arg_string: str) -> Any:
        """Take `-word` for a word of the filter where no option of that name is there."""
        if (
            self.takes_filter
            and _NEGATED.match(arg_string)
            and arg_string not in self._option_string_actions
        ):
            short, rest = arg_string[:2], arg_string[2:]
            if short not in self._option_string_actions or not rest.lstrip("=").isdigit():
                return None
        return super()._parse_optional(arg_string)

    def _check_value(self, action: Action, value: Any) -> None:
        if (
            action.choices is not None
            and value not in action.choices
            and action not in self.open_choices
        ):
            raise _unknown(action, value, [str(choice) for choice in action.choices])

    def _match_argument(self, action: Action, arg_strings_pattern: str) -> int:
        """Tell how many arguments an option takes; where there is none, say how one that begins
        with - is given.
        """
        try:
            return super()._match_argument(action, arg_strings_pattern)
        except ArgumentError as error:
            option = action.option_strings[-1] if action.option_strings else ""
            if action.nargs is None and option.startswith("--"):
                error.message += f" (one that begins with - is given as {option}=…)"
            raise

    def _get_value(self, action: Action, arg_string: str) -> Any:
        """Read one argument: the name of a file as the system gave it, anything else as UTF-8 text."""
        if action.nargs != PARSER and action.type not in _NAMES_OF_FILES:
            arg_string = _text_of(action, arg_string)
        return super()._get_value(action, arg_string)


def _text_of(action: Action, given: str) -> str:
    """Return an argument as text: bytes that the machine's locale could not read are UTF-8, or
    refused.
    """
    try:
        given.encode()
    except UnicodeEncodeError:
        pass
    else:
        return given
    try:
        return os.fsencode(given).decode()
    except UnicodeDecodeError as error:
        what = f"byte 0x{error.object[error.start]:02x} at offset {error.start:,}"
    except UnicodeEncodeError:
        what = "half a character"
    raise ArgumentError(action, f"is not UTF-8 text: {what}. Nothing was written")


_NEGATED = re.compile(r"-[^-\s].")


_MEANT = {
    "up": "helpful",
    "+": "helpful",
    "+1": "helpful",
    "down": "harmful",
    "-": "harmful",
    "-1": "harmful",
}
"""Words that other programs have for a choice."""


def _unknown(action: Action, word: object, known: Sequence[str]) -> ArgumentError:
    """Say that an argument is none of the known ones, and ask whether the nearest of them was
    meant.

    All commands are too many to be read in an error: they are left out; what another argument may
    be is told.
    """
    import difflib

    meant = _MEANT.get(str(word).lower(), "")
    close = [meant] if meant in known else difflib.get_close_matches(str(word), known, n=1)
    meant = f". Did you mean {close[0]}?" if close else ""
    if action.metavar == COMMAND:
        return ArgumentError(None, f"there is no command “{word}”{meant}")
    return ArgumentError(
        action, f"invalid choice: {word!r} (choose from {', '.join(map(repr, known))}){meant}"
    )


def add_command(
    commands: "Commands",
    name: str,
    handler: Handler,
    help: str,
    details: str = "",
    example: str | None = None,
) -> Parser:
    """Add a subcommand that also takes `--store`; `handler` gets the session and returns the exit
    code.

    `example` are the arguments of a call of it that its help shows (`None`: the `details` show
    one).
    """
    sentence = help[0].upper() + help[1:] + "."
    parser = commands.add_parser(name, help=help, description=f"{sentence}\n\n{details}".strip())
    if example is not None:
        parser.epilog = f"Example:\n  {parser.prog} {example}".rstrip()
    add_store(parser, default=SUPPRESS)
    parser.set_defaults(handler=handler, prog=parser.prog)
    return parser


def add_store(parser: ArgumentParser, default: object = None) -> None:
    """Add `--store`; a subcommand's default is no value at all, so that it leaves the main parser's
    alone.
    """
    about = "the store's folder (default: .workbench/ here or above, else your global store)"
    parser.add_argument("--store", metavar="DIR", type=folder, default=default, help=about)


def add_at(
    parser: ArgumentParser,
    about: str = "the store as of this revision or time (42, 36h, 2026-11-21), read-only",
) -> None:
    """Add `--at` to a command that can look back."""
    parser.add_argument("--at", metavar="WHEN", type=revision_or_time, default=SUPPRESS, help=about)
    parser.set_defaults(looks_back=True)


def add_filter(parser: Parser, help: str = "which ones (default: all)") -> None:
    """Add FILTER; words behind it may begin with a minus."""
    parser.add_argument("filter", nargs="*", help=help)
    parser.takes_filter = True


def add_limit(parser: ArgumentParser, default: int = 0) -> None:
    """Add `-n` and `--limit`; read it with `cut`."""
    about = "how many; 0 lists all (default: %(default)s)"
    parser.add_argument("-n", "--limit", metavar="N", type=revision, default=default, help=about)


def folder(text: str) -> Path:
    """Read the path of a folder, which must not be empty; of a store that a team shares, that of
    this machine's copy.
    """
    if not text.strip():
        raise ArgumentTypeError("the folder is empty text; leave out --store to find the store")
    if is_address(text):
        from workbench.config.paths import team_copy

        try:
            return team_copy(text)
        except StoreProblem as problem:
            raise ArgumentTypeError(str(problem).removesuffix(".")) from problem
    return Path(text)


def path_of(text: str) -> Path:
    """Return the path that a text names, in the bytes that the system knows it by."""
    return Path(os.fsdecode(text.encode("utf-8", "surrogateescape")))


def file_or_stdin(text: str) -> str:
    """Read the name of a file as the system gave it, or `-`."""
    return text


_NAMES_OF_FILES: tuple[object, ...] = (Path, folder, file_or_stdin)


def time(text: str) -> str:
    """Check a time; `Session.time` reads it, by the clock of the run."""
    try:
        instant(text, datetime.now(UTC))
    except InvalidQuery as error:
        raise ArgumentTypeError(str(error).removesuffix(".")) from None
    return text


def revision_or_time(text: str) -> int | str:
    """Read a revision, or check a time; a date means the end of that day. `Session.at` reads it."""
    if text.isdecimal():
        return revision(text)
    try:
        return time(text)
    except ArgumentTypeError:
        raise ArgumentTypeError(
            f"“{text}” is neither a revision nor a time. Write 42, {FORMS}"
        ) from None


def zone(text: str) -> "ZoneInfo":
    """Read the name of a time zone."""
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(text)
    except (ValueError, OSError, KeyError):
        raise ArgumentTypeError(f"“{text}” is not a time zone such as Asia/Tokyo or UTC") from None


def count(text: str) -> int:
    """Read a whole number of at least 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise ArgumentTypeError(f"“{text}” must be a whole number above 0")
    return number


def revision(text: str) -> int:
    """Read a revision, a whole number of at least 0."""
    return 0 if text == "0" else count(text)


def hours(text: str) -> float:
    """Read a number of hours above 0, at most a century."""
    return _number(text, lambda number: 0 < number <= 876_600, "number of hours above 0")


def share(text: str) -> float:
    """Read a number above 0, at most 1."""
    return _number(text, lambda number: 0 < number <= 1, "number above 0, at most 1")


def points(text: str) -> float:
    """Read an importance, a number from 0 to 10."""
    return _number(text, lambda number: 0 <= number <= 10, "number from 0 to 10")


def _number(text: str, fits: Callable[[float], bool], what: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not fits(number):
        raise ArgumentTypeError(f"“{text}” is not a {what}")
    return number


def level(text: str) -> int:
    """Read a confidence, a whole number from 0 to 5."""
    if text not in ("0", "1", "2", "3", "4", "5"):
        raise ArgumentTypeError(f"“{text}” must be a whole number from 0 to 5")
    return int(text)


def add_keep(parser: Parser, what: str) -> None:
    """Add `--keep`, for a secret in `what` a person types."""
    parser.add_argument(
        "--keep", action="store_true", help=f"keep a secret in {what} as typed (for people only)"
    )


def add_actor(parser: Parser, typed: str = "the text") -> None:
    """Add `--actor`, and `--keep` for what is `typed`."""
    about = "the agent that does this (default: the agent that runs the command, or you)"
    parser.add_argument("--actor", metavar="NAME", help=about)
    add_keep(parser, typed)
