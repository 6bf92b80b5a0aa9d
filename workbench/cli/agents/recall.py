"""`workbench recall`: what documents, raw messages or memories say of something, with citations."""

from typing import TYPE_CHECKING

from workbench.cli.output import say, warn, write_json
from workbench.cli.parsing import Commands, add_command, add_json, count, wants_json
from workbench.cli.safety.flags import add_secrets
from workbench.cli.session import CLI_ACTOR, Session, actor_of
from workbench.core.record import InvalidQuery, StoreProblem
from workbench.core.text import counted

if TYPE_CHECKING:
    from workbench.services.agents.documents.recall import Recalled, Recalling
    from workbench.services.open import Workbench

_SCOPES = ("all", "overview", "detail", "messages", "stream")

_DETAILS = """Searches the external memory of this project's last session (~/.ai/sessions/--<cwd>--/), the folders that
are followed and the documents of the store: detail and messages, or one scope; stream asks the memories. Literal hits
come first, then what shares words with the query, ranked over at most 10,000 places. Messages are searched where they
lie, by rg where it is installed.

With --for-agent secrets are masked, what gives orders is held back, and only documents as a person saw them are served
(`workbench documents DIR --trust`).

  workbench recall "token refresh" --scope messages --limit 3"""

_WHY = {
    "untrusted": "in documents that nobody has looked at; `workbench documents DIR --trust` shows them and asks",
    "held": "held back for what the text says",
    "unapproved": "left out: agents.serve gives this agent only what a person wrote or approved",
    "weak": "below the floor",
}

_BROKEN = 5
"""Lines that are no message, named in one remark."""


def add_commands(commands: Commands) -> None:
    """Add `recall`."""
    parser = add_command(commands, "recall", recall, "search documents and messages, with citations", _DETAILS)
    parser.add_argument("query", metavar="QUERY")
    parser.add_argument("--scope", choices=_SCOPES, default="all", help="what is searched (default: all)")
    parser.add_argument("--limit", "-n", metavar="N", type=count, help="how many (default: 5, or memory.default_limit)")
    parser.add_argument("--all-sessions", action="store_true", help="every session of this project, not the last alone")
    about = "serve this agent: what it is served is kept as read by it"
    parser.add_argument("--for-agent", metavar="NAME", dest="actor", help=about)
    parser.add_argument("--session", metavar="S", default="", help="with --for-agent: the agent's session")
    add_secrets(parser)
    add_json(parser)


def recall(session: Session) -> int:
    """Print what is found, the best first."""
    args = session.args
    if args.actor is not None and args.show_secrets:
        raise InvalidQuery("Agents are not shown secrets.", "Leave out --show-secrets or --for-agent.")
    by_person = actor_of(args) == CLI_ACTOR
    looks = args.actor is None
    with session.reading(whole=True) if looks else session.changing(actor_of(args), trusted=False) as bench:
        from workbench.services.agents.documents.recall import Recalling, answer_json, answer_text

        if not by_person and not bench.trust.standing.trusted:
            if wants_json(args):
                write_json({})
            return 0
        recalling = Recalling(bench.context, lambda: bench.tuning, bench.safety)
        given = _asked(session, bench, recalling)
        if wants_json(args):
            write_json(answer_json(given))
        else:
            query = args.query.strip() if args.show_secrets else bench.safety.masked(args.query.strip())
            say(answer_text(query, given.rows))
            if given.used is not None:
                warn(f"Ranked under {given.used}.")
        _remark(given)
    return 0


def _asked(session: Session, bench: "Workbench", recalling: "Recalling") -> "Recalled":
    args = session.args
    limit = args.limit or bench.context.settings.memory.default_limit
    if actor_of(args) == CLI_ACTOR:
        return recalling.look(args.query, args.scope, limit, every=args.all_sessions, secrets=args.show_secrets)
    from workbench.services.agents.reading_log import Asked, keep

    given = recalling.give(args.query, args.scope, limit, every=args.all_sessions)
    if args.actor is None:
        return given  # an agent looks: it is given the same, and nothing is counted
    try:
        keep(bench.context, [recalling.reading_of(given, Asked("cli", args.session))])
    except StoreProblem as error:
        warn(f"The reads were not counted. {error}")
    return given


def _remark(given: "Recalled") -> None:
    """Say what was left out, what could not be read, and where there is nothing yet."""
    found = given.found
    for why, number in given.left_out.items():
        warn(f"{counted(number, 'place')} {_WHY[why]}.")
    if found.scope != "stream" and not found.folders:
        warn("No external memory of this project and no followed folder; `workbench documents DIR --follow` adds one.")
    for name in found.without_detail if found.scope in ("all", "detail") else ():
        warn(f"The session {name} has no details yet.")
    if found.broken:
        named = ", ".join(f"{file}:{line}" for file, line in found.broken[:_BROKEN])
        more = f" and {len(found.broken) - _BROKEN:,} more" if len(found.broken) > _BROKEN else ""
        warn(f"{counted(len(found.broken), 'line')} with the words asked for, but no message: {named}{more}.")
    for path in found.unread:
        warn(f"{path} could not be read.")
    for problem in found.problems:
        warn(str(problem))
    if found.found > len(given.rows):
        warn(f"{counted(found.found, 'place')} found; the best {len(given.rows):,} are shown.")
