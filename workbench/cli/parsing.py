"""The argument parser's manners: one-sentence errors, `--store` in both places, typed values."""

from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from workbench.core.record import parse_time

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from workbench.cli.session import Session

Commands: TypeAlias = "_SubParsersAction[Parser]"
Handler: TypeAlias = "Callable[[Session], int]"


class Parser(ArgumentParser):
    """A parser that says what is wrong in one sentence, without the usage text."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=RawDescriptionHelpFormatter, allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """Print the problem and where help is, and leave with exit code 2."""
        self.exit(2, f"{self.prog}: {message}. See “{self.prog} --help”.\n")


def add_command(commands: "Commands", name: str, handler: Handler, help: str, details: str = "") -> Parser:
    """Add a subcommand that also takes `--store`; `handler` gets the session and returns the exit code."""
    sentence = help[0].upper() + help[1:] + "."
    parser = commands.add_parser(name, help=help, description=f"{sentence}\n\n{details}".strip())
    add_store(parser, default=SUPPRESS)
    parser.set_defaults(handler=handler)
    return parser


def add_store(parser: ArgumentParser, default: object = None) -> None:
    """Add `--store`; a subcommand's default is no value at all, so that it leaves the main parser's alone."""
    about = "the store's folder (otherwise: .workbench/ here or above, else your global store)"
    parser.add_argument("--store", metavar="DIR", type=Path, default=default, help=about)


def add_json(parser: ArgumentParser) -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help="answer as JSON, with the text exactly as stored")


def time(text: str) -> datetime:
    """Read an ISO 8601 time; without an offset it is UTC."""
    try:
        return parse_time(text)
    except (ValueError, OverflowError):
        raise ArgumentTypeError(f"“{text}” is no ISO 8601 time such as 2026-11-21T09:30") from None


def count(text: str) -> int:
    """Read a whole number of at least 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise ArgumentTypeError(f"“{text}” is no whole number above 0")
    return number


def revision(text: str) -> int:
    """Read a revision, a whole number of at least 0."""
    return 0 if text == "0" else count(text)


def hours(text: str) -> float:
    """Read a number of hours above 0, at most a century."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= 876_600:
        raise ArgumentTypeError(f"“{text}” is no number of hours above 0")
    return number


def share(text: str) -> float:
    """Read a number above 0, at most 1."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= 1:
        raise ArgumentTypeError(f"“{text}” is no number above 0, at most 1")
    return number


def wants_json(args: Namespace) -> bool:
    """Tell whether `--json` was given."""
    return bool(args.json)
