"""`workbench reads`: what agents asked and were given; `workbench index`: what the store holds, in one page."""

import sys
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.files.export import report_written
from workbench.cli.output import cut, moment, plain, say, table, warn, write_json
from workbench.cli.parsing import Commands, add_command, add_json, add_limit, wants_json
from workbench.cli.session import Session
from workbench.core.record import UnknownRecord
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from workbench.core.agents.read import AgentRead
    from workbench.services.open import Workbench

_READS = """Newest first: which agent asked what, in which session, and how many memories it was served. With an ID,
that reading in full: each memory with the relevance it had, and what was left out. The newest 2,000 are kept.

  workbench reads --agent claude -n 5"""

_INDEX = """Counts by status, type and category, what was confirmed lately and the top patterns, as Markdown. Secrets
are masked, and what is held back from agents is counted and not told.

With FILE it is written there. The file belongs to the store then: written anew as often as you like, and a
file that somebody else wrote or changed is left alone, unless --force replaces it (a copy is kept). reflection.index in
the config file names one that is written after each reflection.

  workbench index memory-index.md"""


def add_commands(commands: Commands) -> None:
    """Add `reads` and `index`."""
    parser = add_command(commands, "reads", reads, "list what agents asked and were served", _READS)
    parser.add_argument("id", metavar="ID", nargs="?", help="one reading, in full")
    parser.add_argument("--agent", metavar="NAME", help="only this agent's")
    parser.add_argument("--session", metavar="S", help="only this session's")
    add_limit(parser, 20)
    add_json(parser)
    parser = add_command(commands, "index", index, "print or write an overview of the store as Markdown", _INDEX)
    parser.add_argument("file", metavar="FILE", type=Path, nargs="?", help="write this file (otherwise: to stdout)")
    parser.add_argument("--force", action="store_true", help="replace the file whatever it contains; a copy is kept")
    add_json(parser)


def reads(session: Session) -> int:
    """Print readings, or one in full."""
    args = session.args
    with session.reading() as bench:
        if args.id is not None:
            return _one(session, bench)
        found = [read for read in _newest(bench) if _wanted(read, args.agent, args.session)]
        listed = cut(found, args.limit)
        if wants_json(args):
            write_json([_json(bench, read) for read in listed])
            return 0
        masked = bench.safety.masked
        rows = [
            (
                moment(read.at),
                one_line(masked(read.agent), 20),
                one_line(masked(read.session), 16),
                _given(read),
                one_line(masked(_query(read)), 80),
                read.id,
            )
            for read in listed
        ]
        for line in table(rows):
            say(line)
        if not listed:
            warn("No agent has read here." if not found and not args.agent and not args.session else "None matches.")
    return 0


def _one(session: Session, bench: "Workbench") -> int:
    from workbench.core.agents.read import AgentRead

    read = bench.library.table(AgentRead).find(session.args.id)
    if read is None:
        message = f"There is no reading {session.args.id}, or not any more."
        raise UnknownRecord(message, "`workbench reads -n 0` lists those that are kept.")
    if wants_json(session.args):
        write_json(_json(bench, read))
        return 0
    masked = bench.safety.masked
    by = f", profile {one_line(masked(read.profile), 60)}" if read.profile else ""
    say(f"{moment(read.at)}  {one_line(masked(read.agent), 60)}  by {one_line(masked(read.door), 60)}{by}")
    say(masked(_query(read)))
    rows = []
    for place, (id, relevance) in enumerate(zip_longest(read.memories, read.relevances[: len(read.memories)]), 1):
        memory = bench.library.memories.find(id)
        line = "(purged)" if memory is None else one_line(masked(memory.line), 100)
        rows.append((str(place), "" if relevance is None else f"{relevance:.4f}", one_line(masked(id), 60), line))
    rows += [("", "", one_line(masked(cited), 100), "") for cited in (*read.documents, *read.episodes)]
    for line in table(rows, right=(0, 1)):
        say(line)
    if read.is_empty:
        say("Nothing in the store was relevant; nothing was served.")
    out = [(read.held, "held back"), (read.unapproved, "not approved"), (read.weak, "weak")]
    if any(count for count, _ in out):
        say("left out: " + ", ".join(f"{count:,} {why}" for count, why in out if count))
    return 0


def _query(read: "AgentRead") -> str:
    """Return the question, or what was looked up without one."""
    if read.is_question:
        return read.query
    return f"(read the {read.query})" if read.query else "(looked up by id)"


def _given(read: "AgentRead") -> str:
    """Say how many memories were given; of what was read as a whole there is nothing to say."""
    if read.is_empty:
        return "nothing relevant"
    given = len(read.memories) + len(read.documents) + len(read.episodes)
    return f"{given:,} served" if given or read.is_question else ""


def index(session: Session) -> int:
    """Print the overview, or write it to a file."""
    args = session.args
    if args.file is None or str(args.file) == "-":
        with session.reading() as bench:
            made = bench.index_file.made()
            if wants_json(args):
                write_json(made)
            else:
                sys.stdout.write(made.text)
        _withheld(made.withheld)
        return 0
    path = session.cwd / args.file.expanduser()
    from workbench.services.files.overwriting import NotReplaced

    with session.changing() as bench:
        try:
            written = bench.index_file.write(path, force=args.force)
        except NotReplaced as refused:
            raise NotReplaced(refused.obstacle, "--force replaces it and keeps a copy, or name another file.") from None
        withheld = bench.index_file.made().withheld
    if wants_json(args):
        write_json({"file": path, "bytes": written.size, "withheld": withheld, "copy": written.copy})
    else:
        say(f"{path} is up to date.")
        report_written(written)
    _withheld(withheld)
    return 0


def _withheld(number: int) -> None:
    if number:
        warn(f"{counted(number, 'memory', 'memories')} held back from agents: counted, and not told.")


def _newest(bench: "Workbench") -> "list[AgentRead]":
    from workbench.core.agents.read import AgentRead

    return sorted(bench.library.table(AgentRead).all(), key=lambda read: (read.at, read.id), reverse=True)


def _wanted(read: "AgentRead", agent: str | None, session: str | None) -> bool:
    return agent in (None, read.agent) and session in (None, read.session)


def _json(bench: "Workbench", read: "AgentRead") -> object:
    from workbench.services.safety.masking import masked

    return plain(masked(read, bench.safety.masked))
