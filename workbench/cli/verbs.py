"""Commands as tables: what each one takes, how the store is opened for it, and what it answers."""

from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from workbench.cli.output import plain, say, warn, write_json
from workbench.cli.parsing import Commands, Parser, add_command, add_json
from workbench.cli.safety.flags import Shown, add_secrets
from workbench.cli.session import DONE, Session

if TYPE_CHECKING:
    from workbench.services.open import Workbench


class Answer(NamedTuple):
    """What a command answers: a value for `--json`, or else lines and the remarks beside them.

    A value and lines may be functions, called for what is printed. Secrets in the value are masked
    here.
    """

    json: object = None
    lines: Iterable[str] | Callable[[], Iterable[str]] = ()
    remarks: Iterable[str] = ()
    code: int = DONE


class Call(NamedTuple):
    """One run of a command: its arguments, the open store, and what makes of a text what may be
    printed.
    """

    session: Session
    args: Namespace
    bench: "Workbench"
    shown: Shown


Run: TypeAlias = Callable[[Call], Answer]
Open: TypeAlias = "Callable[[Session], AbstractContextManager[Workbench]]"
Option: TypeAlias = "Mapping[str, Any] | Callable[[Parser], object]"


def reading(session: Session) -> "AbstractContextManager[Workbench]":
    """Open the store to look at it."""
    return session.reading()


def changing(session: Session) -> "AbstractContextManager[Workbench]":
    """Open the store to change it."""
    return session.changing()


def making(session: Session) -> "AbstractContextManager[Workbench]":
    """Open the store, or make it, to bring something in."""
    return session.changing(makes=True)


class Verb(NamedTuple):
    """A command. Its words name its arguments, with `?`, `*` or `+` for how many and `!` for a
    required option.

    What stands behind a colon tells two arguments of one name apart.
    """

    name: str
    run: Run
    about: str
    words: str = ""
    details: str = ""
    example: str | None = ""
    opens: Open = reading


def several(metavar: str, help: str) -> dict[str, Any]:
    return {"metavar": metavar, "action": "append", "default": [], "help": help}


def text(help: str, metavar: str = "TEXT") -> dict[str, Any]:
    return {"metavar": metavar, "default": "", "help": help}


def flag(help: str) -> dict[str, Any]:
    return {"action": "store_true", "help": help}


_SHARED: Mapping[str, Option] = {"--json": add_json, "--show-secrets": add_secrets}


def add_verb(commands: Commands, verb: Verb, options: Mapping[str, Option]) -> Parser:
    """Add a command; `options` say what its words take."""
    parser = add_command(
        commands,
        verb.name,
        partial(_answered, verb),
        verb.about,
        verb.details,
        example=verb.example,
    )
    parser.set_defaults(verb=verb.name)
    add_words(parser, verb.words, options)
    return parser


def add_words(parser: Parser, words: str, options: Mapping[str, Option]) -> None:
    """Add the arguments that words name."""
    for word in words.split():
        name, _, _ = word.partition(":")
        bare, many = name.rstrip("?*+!"), name[-1]
        option = options.get(word, options.get(bare, _SHARED.get(bare, {})))
        if callable(option):
            option(parser)
        else:
            more = {"required": True} if many == "!" else {"nargs": many} if many in "?*+" else {}
            parser.add_argument(bare, **{**option, **more})


def add_verbs(top: Parser, verbs: Sequence[Verb], options: Mapping[str, Option]) -> None:
    """Add the verbs of a command."""
    below = top.add_subparsers(
        title="what to do", metavar="VERB", prog=top.prog, parser_class=Parser
    )
    for verb in verbs:
        add_verb(below, verb, options)


def _answered(verb: Verb, session: Session) -> int:
    args = session.args
    with verb.opens(session) as bench:
        how = (
            "--show-secrets shows them"
            if "show_secrets" in args
            else "`show ID --show-secrets` shows them"
        )
        shown = Shown(bench, secrets=getattr(args, "show_secrets", False), how=how)
        answer = verb.run(Call(session, args, bench, shown))
        if getattr(args, "json", False):
            write_json(shown(plain(answer.json() if callable(answer.json) else answer.json)))
        else:
            for line in answer.lines() if callable(answer.lines) else answer.lines:
                say(line)
            for remark in answer.remarks:
                warn(remark)
        shown.remark()
    return answer.code
