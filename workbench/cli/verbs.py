"""Commands as tables: what each one takes, how the store is opened for it, and what it answers; and
records as they may be printed.
"""

from argparse import Action, Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar, cast

from workbench.cli.output import plain, say, warn, write_json
from workbench.cli.parsing import (
    Commands,
    Parser,
    add_at,
    add_command,
    add_filter,
    add_limit,
    count,
)
from workbench.cli.session import DONE, Session, actor_of
from workbench.core.agents.actors import agent_name
from workbench.core.record import StoreProblem

if TYPE_CHECKING:
    from workbench.core.playbook.book import Bullet
    from workbench.core.stream.memory import Memory
    from workbench.services.agents.api import AgentApi
    from workbench.services.open import Workbench
    from workbench.services.safety.texts import Outward

Value = TypeVar("Value")

FLAG = "⚑"

UNDO = "`workbench undo` takes it back."


class Shown:
    """Makes records what may be printed of them: secrets are masked unless the person asked for
    them.
    """

    def __init__(
        self,
        bench: "Workbench | None",
        *,
        secrets: bool = False,
        how: str = "`show ID --show-secrets` shows them",
    ) -> None:
        self._bench = bench
        self._secrets = secrets
        self._how = how
        self._masked = False

    @cached_property
    def _mask(self) -> Callable[[str], str]:
        from workbench.services.safety.masking import masked_text

        return cache(masked_text if self._bench is None else self._bench.safety.masked)

    def __call__(self, value: Value) -> Value:
        """Return a record, a text or a JSON value as it may be printed."""
        if self._secrets:
            return value
        from workbench.services.safety.masking import masked

        shown = masked(value, self._mask)
        self._masked |= shown != value
        return shown

    def leave(self) -> None:
        """Leave everything as it is: what an agent is served comes masked, but for what a person
        allowed.
        """
        self._secrets = True

    def name(self, id: str) -> str:
        """Return an id as it may be printed."""
        if self._secrets:
            return id
        from workbench.services.safety.masking import masked_name

        return masked_name(id, self._mask)

    def remark(self) -> None:
        """Say on stderr that something was masked, if it was."""
        if self._masked:
            warn(f"Secrets are masked{self._how and f'; {self._how}'}.")


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

    @property
    def wants_json(self) -> bool:
        return bool(getattr(self.args, "json", False))

    def say(self, line: str) -> None:
        """Print a line at once, unless JSON is asked for."""
        if not self.wants_json:
            say(line)

    def path(self, name: Path) -> Path:
        """Return where a file is that was named."""
        return self.session.cwd / name.expanduser()


Run: TypeAlias = Callable[[Call], Answer]
Open: TypeAlias = "Callable[[Session], AbstractContextManager[Workbench]]"
Option: TypeAlias = "Mapping[str, Any] | Callable[[Parser], object]"


reading, changing = Session.reading, Session.changing
"""Open the store to look at it, and to change it."""


def reading_whole(session: Session) -> "AbstractContextManager[Workbench]":
    """Open the store to look at all of it; what an agent may see of it is looked after elsewhere."""
    return session.reading(whole=True)


def reading_at_once(session: Session) -> "AbstractContextManager[Workbench]":
    """Open the store as `reading_whole` does, without waiting for a connection."""
    return session.reading(whole=True, waits=False)


def looking_back(session: Session) -> "AbstractContextManager[Workbench]":
    """Open the store as it was at the time of `--at`."""
    return session.reading(at=session.at())


def making(session: Session) -> "AbstractContextManager[Workbench]":
    """Open the store, or make it, to bring something in."""
    return session.changing(makes=True)


def unless_dry(session: Session) -> "AbstractContextManager[Workbench]":
    """Open the store to change it, and with `--dry-run` to look at it."""
    return session.reading() if session.args.dry_run else session.changing()


def making_unless_dry(session: Session) -> "AbstractContextManager[Workbench]":
    """Open the store to bring something in, and with `--dry-run` to look at it."""
    return session.reading(planning=True) if session.args.dry_run else making(session)


def exporting(session: Session) -> "AbstractContextManager[Workbench]":
    """Open the store to write what it holds to files."""
    return session.reading(approved=True)


def serving(session: Session) -> "AbstractContextManager[Workbench]":
    """Open the store to look at it, or to serve it to the agent that `--for-agent` names."""
    if session.args.actor is None:
        return looking_back(session)
    return session.changing(actor_of(session.args), trusted=False)


@contextmanager
def as_agent(call: "Call") -> "Iterator[AgentApi]":
    """Do what the agent may that `--for-agent` names; what it is served is counted."""
    from workbench.services.agents.api import AgentApi
    from workbench.services.agents.reading_log import ReadingLog

    log, name = ReadingLog(), agent_name(call.bench.context.actor)
    yield AgentApi(call.bench, name, call.args.session, log, door="cli")
    try:
        log.flush()
    except StoreProblem as error:
        warn(f"The reads were not counted. {error}")


def unopened(_: Session) -> "AbstractContextManager[Workbench]":
    """Leave the store closed."""
    return nullcontext(cast("Workbench", None))


class Verb(NamedTuple):
    """A command. Its words name its arguments, with `?`, `*` or `+` for how many, `!` for a
    required option, `|` between options that exclude each other, and `=` before a number that is
    taken otherwise.

    What stands behind a colon tells two arguments of one name apart. With verbs `below` it does
    what the one does that runs the same.
    """

    name: str
    run: Run
    about: str
    words: str = ""
    details: str = ""
    example: str | None = ""
    opens: Open = reading
    below: "tuple[Verb, ...]" = ()


def value(metavar: str | None, help: str, **more: Any) -> dict[str, Any]:
    return {"metavar": metavar, "help": help, **more}


def several(metavar: str, help: str) -> dict[str, Any]:
    return value(metavar, help, action="append", default=[])


def text(help: str, metavar: str = "TEXT") -> dict[str, Any]:
    return value(metavar, help, default="")


def flag(help: str) -> dict[str, Any]:
    return {"action": "store_true", "help": help}


def mixed(parser: Parser) -> None:
    """Let options stand between the words of a command."""
    parser.mixes = True


_SHARED: Mapping[str, Option] = {
    "mixed": mixed,
    "limit": add_limit,
    "filter": add_filter,
    "--json": flag("print JSON, with texts as stored except for secrets"),
    "--show-secrets": flag("print secrets unmasked (they are masked by default, in --json too)"),
    "--at": add_at,
    "--book": value("NAME", "which playbook, when there are several"),
    "--profile": value("P", "the retrieval profile (default: the one in use)"),
    "--for-agent": value("NAME", "serve this agent; what it gets counts as read", dest="actor"),
    "--session:agent": text("with --for-agent: the agent's session", "S"),
    "-k": value("N", "how many to show (default: the profile's k)", type=count),
}  # fmt: skip


def add_verb(commands: Commands, verb: Verb, options: Mapping[str, Option]) -> Parser:
    """Add a command with what is below it; `options` say what its words take."""
    parser = add_command(
        commands, verb.name, partial(_answered, verb), verb.about, verb.details, verb.example
    )
    parser.set_defaults(verb=verb.name)
    for word in verb.words.split():
        several = word.split("|")
        into = parser if len(several) == 1 else parser.add_mutually_exclusive_group()
        for one in several:
            _add_word(parser, into.add_argument, one, options)
    if verb.below:
        below = parser.add_subparsers(
            title="what to do", metavar="VERB", prog=parser.prog, parser_class=Parser
        )
    for inner in verb.below:
        added = add_verb(below, inner, options)
        if inner.run is verb.run:
            usual = vars(added.parse_args([]))
            parser.set_defaults(**{**usual, "verb": verb.name, "prog": parser.prog})
    return parser


def _add_word(
    parser: Parser, add: Callable[..., Action], word: str, options: Mapping[str, Option]
) -> None:
    named, _, default = word.partition("=")
    name, _, _ = named.partition(":")
    bare, many = name.rstrip("?*+!"), name[-1]
    known = {**_SHARED, **options}
    option = known.get(named, known.get(bare, {}))
    if callable(option):
        option(parser)
    else:
        more = {"required": True} if many == "!" else {"nargs": many} if many in "?*+" else {}
        add(bare, **{**option, **more})
    if default:
        parser.set_defaults(**{bare.strip("-"): int(default)})


_SETTINGS = ("config", "views")
_WITHOUT_IDS = ("stats", "eval", "tune", "queries", "reads", "import", "lint", "scan", "doctor")
"""Commands that answer with texts which `show` knows no id for."""


def _how(args: Namespace, verb: Verb) -> str:
    """Say where a person sees what is masked, if there is a way."""
    if verb.name in _SETTINGS:
        return "the config file has them unmasked"
    if "show_secrets" in args:
        return "--show-secrets shows them"
    return "" if verb.name in _WITHOUT_IDS else "`show ID --show-secrets` shows them"


def _answered(verb: Verb, session: Session) -> int:
    args = session.args
    with verb.opens(session) as bench:
        shown = Shown(bench, secrets=getattr(args, "show_secrets", False), how=_how(args, verb))
        call = Call(session, args, bench, shown)
        answer = verb.run(call)
        if not call.wants_json:
            for line in answer.lines() if callable(answer.lines) else answer.lines:
                say(line)
            for remark in answer.remarks:
                warn(remark)
        elif answer.json is not None:
            write_json(shown(plain(answer.json() if callable(answer.json) else answer.json)))
        shown.remark()
    return answer.code


def sign(bench: "Workbench", memory: "Memory | None") -> str:
    """Return the signs of a memory, each with a space behind it: flagged, and for an agent
    unreviewed; mostly none.
    """
    if memory is None:
        return ""
    return unreviewed(bench, memory) + (f"{FLAG} " if bench.safety.flags(memory) else "")


def unreviewed(bench: "Workbench", record: "Outward") -> str:
    """Return what an agent is told before a text that no person wrote or approved; nothing for a
    person.
    """
    return "[unreviewed] " if _is_unreviewed(bench, record) else ""


def _is_unreviewed(bench: "Workbench", record: "Outward") -> bool:
    return bench.view is not None and bench.view.is_unreviewed(record)


def review_json(bench: "Workbench", record: "Outward") -> dict[str, object]:
    """Return what an agent is told of a record in JSON beside its fields; nothing for a person."""
    return {} if bench.view is None else {"unreviewed": _is_unreviewed(bench, record)}


def reasons(record: "Memory | Bullet") -> str:
    """Return why a record is flagged, in sentences; nothing when it is not."""
    from workbench.services.safety.suspicion import suspicions

    return " ".join(suspicions(record))


def flagged_in(memory: "Memory") -> str:
    """Return "Flagged: …" for a memory that just came in, with a space before; mostly nothing."""
    found = reasons(memory)
    return f" Flagged: {found}" if found else ""
