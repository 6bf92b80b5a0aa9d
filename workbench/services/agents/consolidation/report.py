"""The report of a consolidation as JSON and as Markdown: what each stage did, when it was, when the next one is due."""

from collections.abc import Iterator, Mapping

from workbench.core.agents.consolidation import STAGES, ConsolidationRun, due_at
from workbench.core.record import iso, minute
from workbench.services.agents.consolidation.consolidating import Consolidated

LISTED = 20
"""Changes of a stage that are listed in words; JSON has all."""


def run_json(run: ConsolidationRun) -> dict[str, object]:
    """Return the record of a run."""
    due = due_at(run)
    return {
        "id": run.id,
        "begun_at": iso(run.begun_at),
        "ended_at": None if run.ended_at is None else iso(run.ended_at),
        "next_due_at": None if due is None else iso(due),
        "left": list(run.left),
        "stages": [
            {"stage": one.stage, "at": iso(one.at), "looked": one.looked, "changed": one.changed, "facts": one.facts}
            for one in run.done
        ],
    }


def done_json(done: Consolidated, *, dry: bool) -> dict[str, object]:
    """Return what a run did, or would do."""
    return {
        "dry_run": dry,
        "stages": [
            {
                "stage": one.kind.id,
                "looked": one.plan.looked,
                "measured": one.plan.measured,
                "changes": [{"id": c.id, "becomes": c.becomes, "by": c.by} for c in one.plan.changes],
                "facts": one.plan.facts,
            }
            for one in done.stages
        ],
        "left": [kind.id for kind in done.left],
        "run": None if done.run is None else run_json(done.run),
    }


def outlook_json(looked: Consolidated, last: ConsolidationRun | None) -> dict[str, object]:
    """Return what a run would change in numbers alone, and when the last one was and the next one is due."""
    due = due_at(last)
    return {
        "last_at": None if last is None else iso(last.ended_at or last.begun_at),
        "next_due_at": None if due is None else iso(due),
        "stages": [
            {"stage": one.kind.id, "looked": one.plan.looked, "would_change": len(one.plan.changes)}
            for one in looked.stages
        ],
        "note": "A person carries it out: `workbench consolidate`.",
    }


def markdown(run: ConsolidationRun) -> str:
    """Return the report of a run as Markdown."""
    return "\n".join(_lines(run)) + "\n"


def _lines(run: ConsolidationRun) -> Iterator[str]:
    titles = {kind.id: kind.title for kind in STAGES}
    due = due_at(run)
    yield f"# Consolidation of {minute(run.begun_at)}"
    yield ""
    yield f"Ended {minute(run.ended_at)}." if run.ended_at is not None else f"Left to do: {', '.join(run.left)}."
    if due is not None:
        yield f"The next one is due {minute(due)}."
    for one in run.done:
        yield ""
        yield f"## {titles.get(one.stage, one.stage)}"
        yield ""
        yield f"- looked at: {one.looked:,}"
        yield f"- changed: {one.changed:,}"
        yield from fact_lines(one.facts)


def fact_lines(facts: Mapping[str, float]) -> Iterator[str]:
    """Yield numbers by name, a line each."""
    for name, value in facts.items():
        yield f"- {name.replace('_', ' ')}: {value:,.0f}"
