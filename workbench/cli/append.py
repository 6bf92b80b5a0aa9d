"""`workbench append`: one observation from an agent's hook, as fast as a process can be."""

import contextlib
import sys
from argparse import Namespace
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import moment, say, warn, write_json
from workbench.cli.parsing import Parser, add_actor
from workbench.cli.session import CLI_ACTOR, Session, actor_of, is_there, keeps, say_made
from workbench.cli.verbs import (
    Answer,
    Call,
    Option,
    Verb,
    flag,
    flagged_in,
    several,
    text,
    unopened,
    value,
)
from workbench.config import paths
from workbench.core.record import InvalidQuery, UnreadableFile, WorkbenchError
from workbench.core.stream.importance import TABLES
from workbench.core.stream.memory import MEMORY_TYPES, OBSERVATION_TYPES, Memory, Source
from workbench.core.team import hidden_store

if TYPE_CHECKING:
    from workbench.services.stream.ingest import Ingested
    from workbench.services.stream.observation import Observation

_APPEND = """For hooks: the store is not loaded, so it takes about a tenth of a second however large the store
is. Repeats of the last ten memories are skipped, and archived or purged texts recognised, as by
`workbench ingest`; nothing else is compared."""


def observed(args: Namespace) -> "Observation":
    """Return the observation that the arguments describe.

    Raises `UnreadableFile` when stdin is not UTF-8, and `InvalidQuery` for an unknown type that a
    person gives.
    """
    from workbench.services.stream.observation import Observation

    if args.type not in OBSERVATION_TYPES and actor_of(args) == CLI_ACTOR:
        import difflib

        close = difflib.get_close_matches(args.type, OBSERVATION_TYPES, n=1)
        hint = (
            f"Did you mean {close[0]}?" if close else f"Types are: {', '.join(OBSERVATION_TYPES)}."
        )
        raise InvalidQuery(f"Unknown observation type “{args.type}”.", hint)
    return Observation(
        text_of(args.text), args.type, args.memory_type, args.session, tags_of(args.tag),
        Source(speaker=args.speaker.strip() or None), rated_by=args.rated_by,
    )  # fmt: skip


def append_text(call: Call) -> Answer:
    """Add one observation and say what became of it."""
    from workbench.services.stream.observation import append

    args, session, observation = call.args, call.session, observed(call.args)
    folder = session.choice().folder
    if keeps(args) or args.again:
        return _append_in_full(call, observation)
    if paths.team_address(folder):
        return _put_off(call, folder, observation)
    was_there = is_there(folder)
    done = append(folder, observation, actor_of(args), session.clock, heads=paths.heads_dir())
    if done is None:
        return _append_in_full(call, observation)
    args.stored = not done.skipped
    for notice in done.notices:
        warn(notice)
    if not was_there and session.choice().origin != "global":
        say_made(folder)
    _tell(call, "skipped" if done.skipped else "created", done.memory)
    if done.is_long:
        _put_in_order(session)
    return Answer()


def _put_off(call: Call, folder: Path, observation: "Observation") -> Answer:
    """Keep an observation for a team's store, and let another process deliver it."""
    from workbench.services.team.reach import sync_later
    from workbench.services.team.spool import put_off

    if (hidden := call.session.choice().hidden) is not None:
        warn(hidden_store(hidden))
    waits = put_off(folder, observation, actor_of(call.args))
    sync_later(folder)
    return Answer(
        {"outcome": "waiting", "uid": waits.uid},
        ["Kept; it is being delivered to the team's store."],
    )


def _put_in_order(session: Session) -> None:
    """Take what came into the index and, now and then, into a checkpoint; what was added is stored
    whatever comes.
    """
    sys.stdout.flush()
    with contextlib.suppress(WorkbenchError), session.changing(remarks=False) as bench:
        if bench.library.starts_slowly:
            bench.library.save_checkpoint()


def _append_in_full(call: Call, observation: "Observation") -> Answer:
    """Add one observation that the store is loaded for: as it was typed, or one that was archived
    or purged.
    """
    args, kept = call.args, keeps(call.args)
    with call.session.changing(actor_of(args), makes=True) as bench:
        done = bench.ingest.append(
            observation, bench.safety.keep if kept else None, again=args.again
        )
    _tell(call, done.outcome, done.memory, returned(done))
    return Answer()


def _tell(call: Call, outcome: str, memory: Memory, said: str = "") -> None:
    """Say at once what became of an observation, without the rules that other answers wait for."""
    if call.wants_json:
        from workbench.services.safety.suspicion import flags_of

        write_json({"outcome": outcome, "id": memory.id, "flags": flags_of(memory)})
    else:
        say(said or (SKIPPED.format(memory.id) if outcome == "skipped" else stored(memory)))


SKIPPED = "Skipped: {} already says so."


def stored(memory: Memory) -> str:
    """Return the sentence that a memory was stored."""
    return f"Stored as {memory.id}, importance {memory.importance_score:g}.{remarks_on(memory)}"


def returned(done: "Ingested") -> str:
    """Say what became of an observation that the store knows, archived or purged; nothing for any
    other.
    """
    id = done.memory.id
    if done.outcome == "forgotten":
        told = f"Not stored: you {archived(done.memory, done.at, 'this')} ({id})."
        return f"{told} `workbench unforget {id}` restores it, --again stores it anew."
    if done.outcome == "seen":
        return f"Not stored: a person {archived(done.memory, done.at, 'this')} ({id}). Counted as seen again."
    if done.outcome == "restored":
        return f"Restored {id}, which was pruned."
    if done.outcome == "absorbed":
        return (
            f"Counted on {id}, which {'replaced it' if done.verdict is None else 'says the same'}."
        )
    if done.outcome == "purged":
        return (
            f"Not stored: {id} was purged{_on(done.at)} with this text. --again stores it anyway."
        )
    return ""


def archived(memory: Memory, at: datetime | None, what: str = "") -> str:
    """Return what a person did with a memory, and when."""
    verb = "rejected" if memory.archived_reason == "rejected" else "archived"
    return f"{verb}{f' {what}' if what else ''}{_on(at)}"


def _on(at: datetime | None) -> str:
    return "" if at is None else f" on {moment(at)}"


def masked_in(memory: Memory) -> str:
    """Return a sentence on what was masked when a memory was captured, with a space before; mostly
    nothing.
    """
    from workbench.services.stream.observation import MASKED

    found = memory.metadata.get(MASKED)
    return f" Masked: {', '.join(map(str, found))}." if isinstance(found, list) and found else ""


def remarks_on(memory: Memory) -> str:
    """Return what was masked in a memory that came in, and what is flagged in it, with a space
    before.
    """
    return masked_in(memory) + flagged_in(memory)


def tags_of(given: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag.strip() for tag in given if tag.strip()))


def text_of(given: str) -> str:
    """Return the text given, or stdin for `-`; raises `UnreadableFile` when that is not UTF-8."""
    if given != "-":
        return given
    data = sys.stdin.buffer.read()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"byte 0x{data[error.start]:02x} at offset {error.start:,}"
        raise UnreadableFile(f"stdin is not UTF-8 text: {what}.", "Nothing was written.") from error


def _add_type(parser: Parser) -> None:
    """Add the type, of which an agent may give another one."""
    about = "observation type; an agent's own types are kept and treated as general"
    kind = parser.add_argument(
        "--type", metavar="T", choices=OBSERVATION_TYPES, default="general", help=about
    )
    parser.open_choices = (kind,)


OPTIONS: Mapping[str, Option] = {
    "text": {"help": "the text, or - to read it from stdin"},
    "--type:seen": _add_type,
    "--memory-type:seen": value("M", "memory type", choices=MEMORY_TYPES, default="episodic"),
    "--session:seen": text("the agent session it comes from", "S"),
    "--speaker:seen": text("who said it: user, assistant, tool or a name", "WHO"),
    "--tag": several("T", "a tag; repeatable"),
    "--rated-by": value(
        "TABLE",
        "the importance table, general or code (otherwise: ingest goes by the config, append by general)",
        choices=[table.name for table in TABLES],
        default="",
    ),
    "--again": flag("store it even if it was archived or purged"),
    "actor": add_actor,
}
"""What describes an observation."""

OBSERVATION = "text --type:seen --memory-type:seen --session:seen --speaker:seen --tag --rated-by --again actor --json"

VERBS = (
    Verb("append", append_text, "add one observation at once, without loading the store", OBSERVATION, _APPEND,
         '"Deploys need AUTH_SECRET in CI" --session s-42', unopened),
)  # fmt: skip
