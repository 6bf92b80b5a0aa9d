"""`workbench ingest` and `workbench vote`: single observations and marks, by people and by agents' hooks."""

import sys
from typing import TYPE_CHECKING

from workbench.cli.output import say
from workbench.cli.parsing import Commands, Parser, add_command
from workbench.cli.session import Session, actor_of
from workbench.core.errors import UnreadableFile
from workbench.core.memory import MEMORY_TYPES, OBSERVATION_TYPES

if TYPE_CHECKING:
    from workbench.bench.ingest import Ingested

_INGEST = """A text that repeats one of the last ten memories is skipped; a sure duplicate is counted on the
memory it repeats; a likely one is stored and waits in Review as a merge."""

_VOTE = """ID is a memory's or a bullet's (BOOK/ID when several playbooks have it). Everybody has one vote on
each; a second one replaces the first."""


def add_commands(commands: Commands) -> None:
    """Add `ingest` and `vote`."""
    ingest = add_command(commands, "ingest", ingest_text, "take in one observation", _INGEST)
    ingest.add_argument("text", metavar="TEXT", help="the text, or - to read it from stdin")
    ingest.add_argument("--type", metavar="T", choices=OBSERVATION_TYPES, default="general", help="observation type")
    ingest.add_argument("--memory-type", metavar="M", choices=MEMORY_TYPES, default="episodic", help="memory type")
    ingest.add_argument("--session", metavar="S", default="", help="the agent session it comes from")
    ingest.add_argument("--tag", metavar="T", action="append", default=[], help="a tag; may be given several times")
    _add_actor(ingest)
    vote = add_command(commands, "vote", cast_vote, "mark a memory or a bullet as helpful or harmful", _VOTE)
    vote.add_argument("id", metavar="ID")
    vote.add_argument("verdict", choices=("helpful", "harmful"))
    vote.add_argument("--reason", metavar="TEXT", default="", help="why; kept with the vote")
    vote.add_argument("--session", metavar="S", default="", help="the agent session it is cast in")
    _add_actor(vote)


def ingest_text(session: Session) -> int:
    """Store one observation and say what became of it."""
    from workbench.bench.ingest import Observation

    args = session.args
    text = _stdin() if args.text == "-" else args.text
    tags = tuple(dict.fromkeys(tag.strip() for tag in args.tag if tag.strip()))
    observation = Observation(text, args.type, args.memory_type, args.session, tags)
    with session.changing(actor_of(args)) as bench:
        say(_outcome(bench.ingest.add(observation)))
    return 0


def cast_vote(session: Session) -> int:
    """Cast one vote and say what it did."""
    from workbench.bench import votes
    from workbench.core.text import clean_for_store

    args = session.args
    with session.changing(actor_of(args)) as bench:
        record = votes.find_votable(bench.context, args.id)
        reason, of = clean_for_store(args.reason).strip(), clean_for_store(args.session)
        result = votes.cast(bench.context, record, args.verdict, reason=reason, session=of)
        say(result.sentence)
    return 0


def _add_actor(parser: Parser) -> None:
    parser.add_argument("--actor", metavar="NAME", help="the agent this is done by (otherwise: you)")


def _stdin() -> str:
    data = sys.stdin.buffer.read()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"byte 0x{data[error.start]:02x} at offset {error.start:,}"
        raise UnreadableFile(f"stdin is not UTF-8 text: {what}.", "Nothing was written.") from error


def _outcome(done: "Ingested") -> str:
    memory, other = done.memory, done.other
    if done.outcome == "skipped":
        return f"Skipped: {memory.id} says it already."
    if done.outcome == "absorbed":
        return f"Counted on {memory.id}, which says the same."
    if done.outcome == "proposed" and other is not None:
        return f"Stored as {memory.id}. It resembles {other.id}; a merge waits in Review."
    return f"Stored as {memory.id}, importance {memory.importance_score:g}."
