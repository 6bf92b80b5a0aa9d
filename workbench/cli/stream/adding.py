"""`workbench ingest`: single observations, by people and by agents' hooks."""

from typing import TYPE_CHECKING

from workbench.cli.output import say, write_json
from workbench.cli.parsing import Commands, add_command, add_json, wants_json
from workbench.cli.session import Session, actor_of, keeps
from workbench.cli.stream.append import add_observation, observed, remarks_on

if TYPE_CHECKING:
    from workbench.bench.stream.ingest import Ingested

_INGEST = """A text that repeats one of the last ten memories is skipped; a sure duplicate is counted on the
memory it repeats; a likely one is stored and waits in Review as a merge. What differs in a negation, opposite words, a
number, an identifier or a content word is stored and not merged; where it contradicts a confirmed memory, the question
whether that one still is true waits in Review."""


def add_commands(commands: Commands) -> None:
    """Add `ingest`."""
    ingest = add_command(
        commands, "ingest", ingest_text, "take in one observation", _INGEST,
        example='"Deploys need AUTH_SECRET in CI" --type gotcha',
    )  # fmt: skip
    add_observation(ingest)
    add_json(ingest)


def ingest_text(session: Session) -> int:
    """Store one observation and say what became of it."""
    args = session.args
    observation, kept = observed(args), keeps(args)
    with session.changing(actor_of(args), makes=True) as bench:
        done = bench.ingest.add(observation, bench.safety.keep if kept else None)
    if wants_json(args):
        write_json(_json(done))
    else:
        say(_outcome(done))
    return 0


def _outcome(done: "Ingested") -> str:
    memory, other = done.memory, done.other
    if done.outcome == "skipped":
        return f"Skipped: {memory.id} says it already."
    if done.outcome == "absorbed":
        return f"Counted on {memory.id}, which says the same."
    if done.outcome == "proposed" and other is not None:
        return f"Stored as {memory.id}. It resembles {other.id}; a merge waits in Review.{remarks_on(memory)}"
    if done.outcome == "contradicts" and other is not None:
        told = f"It contradicts {other.id}: {_against(done)}. Whether that still is true waits in Review."
        return f"Stored as {memory.id}. {told}{remarks_on(memory)}"
    if other is not None:
        return f"Stored as {memory.id}. It only looks like {other.id}: {_against(done)}.{remarks_on(memory)}"
    return f"Stored as {memory.id}, importance {memory.importance_score:g}.{remarks_on(memory)}"


def _json(done: "Ingested") -> dict[str, object]:
    from workbench.bench.safety.flagging import flags_of

    other = None if done.other is None else done.other.id
    verdict = done.verdict
    return {
        "outcome": done.outcome, "id": done.memory.id, "other": other, "flags": flags_of(done.memory),
        "for": () if verdict is None else verdict.reasons_for,
        "against": () if verdict is None else verdict.reasons_against,
    }  # fmt: skip


def _against(done: "Ingested") -> str:
    """Return what parts it from the memory it resembles."""
    return "" if done.verdict is None else "; ".join(done.verdict.conflicts)
