"""`workbench ingest`: single observations, by people and by agents' hooks."""

from typing import TYPE_CHECKING

from workbench.cli.output import say, write_json
from workbench.cli.parsing import Commands, add_command, add_json, wants_json
from workbench.cli.session import Session, actor_of, keeps
from workbench.cli.stream.append import SKIPPED, add_observation, archived, observed, remarks_on, returned, stored

if TYPE_CHECKING:
    from workbench.services.stream.ingest import Ingested

_INGEST = """A text that repeats one of the last ten memories is skipped; a sure duplicate is counted on the
memory it repeats; a likely one is stored and waits in Review as a merge. What differs in a negation, opposite words, a
number, an identifier or a content word is stored and not merged; where it contradicts a confirmed memory, the question
whether that one still is true waits in Review.

A text that was archived is not new. One that a person forgot or rejected is not stored: a person is told, an agent's
sighting is counted, and from two sessions on Review asks whether to restore it. A pruned one comes back; one that was
merged or superseded counts for its successor. What was purged is not stored. --again stores all the same."""


def add_commands(commands: Commands) -> None:
    """Add `ingest`."""
    ingest = add_command(
        commands, "ingest", ingest_text, "add one observation", _INGEST,
        example='"Deploys need AUTH_SECRET in CI" --type gotcha',
    )  # fmt: skip
    add_observation(ingest)
    add_json(ingest)


def ingest_text(session: Session) -> int:
    """Store one observation and say what became of it."""
    args = session.args
    observation, kept = observed(args), keeps(args)
    with session.changing(actor_of(args), makes=True) as bench:
        done = bench.ingest.add(observation, bench.safety.keep if kept else None, again=args.again)
    if wants_json(args):
        write_json(_json(done))
    else:
        report(done)
    return 0


def report(done: "Ingested") -> None:
    """Say what became of an observation."""
    say(returned(done) or _outcome(done))
    if done.unwanted is not None:
        id = done.unwanted.id
        say(f"It resembles {id}, which you {archived(done.unwanted, done.at)}; `workbench unforget {id}` restores it.")


def _outcome(done: "Ingested") -> str:
    memory, other = done.memory, done.other
    if done.outcome == "skipped":
        return SKIPPED.format(memory.id)
    if done.outcome == "proposed" and other is not None:
        return f"Stored as {memory.id}. It resembles {other.id}; a merge waits in Review.{remarks_on(memory)}"
    if done.outcome == "contradicts" and other is not None:
        told = f"It contradicts {other.id}: {_against(done)}. Whether that still is true waits in Review."
        return f"Stored as {memory.id}. {told}{remarks_on(memory)}"
    if other is not None:
        return f"Stored as {memory.id}. It only looks like {other.id}: {_against(done)}.{remarks_on(memory)}"
    return stored(memory)


def _json(done: "Ingested") -> dict[str, object]:
    from workbench.services.safety.suspicion import flags_of

    other = None if done.other is None else done.other.id
    verdict = done.verdict
    return {
        "outcome": done.outcome, "id": done.memory.id, "other": other, "flags": flags_of(done.memory),
        "for": () if verdict is None else verdict.reasons_for,
        "against": () if verdict is None else verdict.reasons_against,
        "archived_at": done.at, "resembles_forgotten": None if done.unwanted is None else done.unwanted.id,
    }  # fmt: skip


def _against(done: "Ingested") -> str:
    """Return what parts it from the memory it resembles."""
    return "" if done.verdict is None else "; ".join(done.verdict.conflicts)
