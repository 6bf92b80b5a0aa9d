"""Health: tidying up what agents did and learned: when it was last done, what it would do now, and its report."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textual.content import Content

from workbench.core.agents.consolidation import STAGES, ConsolidationRun, StageKind, due_at
from workbench.services.agents.consolidation import Consolidated, Stage, fact_lines
from workbench.services.open import Workbench
from workbench.tui.health.reflection import FIGURE, Facts, Found, Hands, Row, Section, Watch, figures, remark
from workbench.tui.widgets.bars import gauge
from workbench.tui.widgets.content import MUTED, assemble, body, undo
from workbench.tui.widgets.figures import absolute, number
from workbench.tui.widgets.lists.row import Cell

ID = "consolidation"
LISTED = 30
"""Changes of a stage that the text beside the list names at most."""

_PART = 100


class Wanted:
    """A person wants it to be done, not only looked at: once, whatever becomes of it."""

    def __init__(self) -> None:
        self._once = [True]

    def take(self) -> bool:
        """Tell whether it is wanted still; it is wanted no longer then."""
        return bool(self._once) and self._once.pop()


@dataclass(frozen=True, slots=True)
class Seen:
    """What a run would do, or (`is_done`) did."""

    what: Consolidated
    is_done: bool = False


def gather(bench: Workbench, watch: Watch) -> Seen:
    """Look at what a run would change, or carry it out where a person asked for that."""

    def tell(kind: StageKind, done: int, total: int) -> None:
        place = next(n for n, one in enumerate(STAGES) if one.id == kind.id)
        watch.tell(place * _PART + (done * _PART // total if total else 0), len(STAGES) * _PART)

    if isinstance(watch.before, Wanted) and watch.before.take():
        return Seen(bench.consolidating.carry_out((), tell, watch.cancelled), True)
    return Seen(bench.consolidating.look((), tell, watch.cancelled))


def rows(facts: Facts) -> Sequence[Row]:
    """Return how far it is, or when it was last done and what it would change, stage by stage."""
    apply, back = facts.keys["health.apply"], facts.keys["app.back"]
    if ID in facts.running:
        done, total = facts.running[ID]
        bar = gauge(done, max(1, total), f"of all stages · {back} stops it", 20)
        return [Row(ID, "running", lambda _: [Cell("", FIGURE), Cell(bar)])]
    last, seen = facts.bench.consolidating.last(), _seen(facts)
    head = remark(ID, "last", _last(last), item="last")
    if seen is None:
        return [head, remark(ID, "unknown", f"{apply} shows what it would change; nothing is changed by that.")]
    stages = [_stage(one, seen.is_done) for one in seen.what.stages]
    left = ", ".join(kind.id for kind in seen.what.left)
    stopped = [remark(ID, "left", f"Stopped. Left: {left}.", style="$text-warning")] if left else []
    more = [] if seen.is_done else [remark(ID, "apply", f"{apply} does it; {undo()} takes each stage back.")]
    return [head, *stages, *stopped, *more]


def detail(row: Row, facts: Facts) -> Content:
    """Return what a stage changes, or the report of the last run."""
    if isinstance(row.item, Stage):
        return Content("\n").join(_changes(row.item, facts))
    return Content("\n").join([*_about(facts), *_report(facts.bench.consolidating.last())])


async def apply(health: Hands, row: Row) -> None:
    """Show what it would change; shown that, do it."""
    del row
    seen = _seen(health.facts)
    if ID in health.facts.running:
        return
    health.go_to(ID, "last")
    if seen is not None and not seen.is_done:
        health.learn(ID, Found(Wanted()))
    else:
        health.learn(ID, Found())
    health.gather(ID)


def _seen(facts: Facts) -> Seen | None:
    found = facts.found.get(ID)
    return found.value if found is not None and isinstance(found.value, Seen) else None


def _last(run: ConsolidationRun | None) -> str:
    due = due_at(run)
    if run is None or due is None:
        return "Never done; due at any time"
    ended = f"Last done {absolute(run.ended_at)}" if run.ended_at is not None else f"Left to do: {', '.join(run.left)}"
    return f"{ended} · next due {absolute(due)}"


def _stage(stage: Stage, is_done: bool) -> Row:
    many = len(stage.plan.changes)
    measured = f"{number(stage.plan.measured)} {'measured' if is_done else 'to measure'}" if stage.plan.measured else ""
    style = "" if many else MUTED
    return figures(
        ID, stage.kind.id, number(many) if many else "", stage.kind.title, item=stage, more=measured, style=style
    )


def _changes(stage: Stage, facts: Facts) -> Iterator[Content]:
    mask = facts.bench.safety.masked
    yield Content.styled(stage.kind.title, "bold")
    yield Content(f"{number(stage.plan.looked)} looked at")
    yield from (body(line, MUTED) for line in fact_lines(stage.plan.facts))
    yield Content("")
    for change in stage.plan.changes[:LISTED]:
        by = f" {'as' if change.becomes == 'proposed' else 'under'} “{change.by}”" if change.by else ""
        yield body(mask(f"{change.id}  {change.becomes.replace('_', ' ')}{by}"))
    if len(stage.plan.changes) > LISTED:
        yield Content.styled(f"… and {number(len(stage.plan.changes) - LISTED)} more", MUTED)


def _about(facts: Facts) -> Iterator[Content]:
    yield Content.styled("Consolidation of episodes and patterns", "bold")
    yield Content("")
    yield Content(
        "Episodes that say the same are archived under one of them, patterns are held against how they went, those "
        "worth little go out of use, and what searches need is worked out. Nothing is lost: each stage is an action of "
        "its own, and it can be stopped between two."
    )
    yield Content("")
    key = facts.keys["health.apply"]
    yield assemble([(key, "bold $text-accent"), (" shows what it would change, and then does it.", "")])
    yield Content.styled("`workbench consolidate` does it by cron or a timer; its help has the line.", MUTED)


def _report(run: ConsolidationRun | None) -> Iterator[Content]:
    if run is None:
        return
    titles = {kind.id: kind.title for kind in STAGES}
    yield Content("")
    yield Content.styled(_last(run), "bold")
    for one in run.done:
        yield Content("")
        yield body(titles.get(one.stage, one.stage))
        yield Content.styled(f"- looked at: {number(one.looked)}", MUTED)
        yield Content.styled(f"- changed: {number(one.changed)}", MUTED)
        yield from (body(line, MUTED) for line in fact_lines(one.facts))


_STOPPED = "Stopped. A stage that was done stands, and {app.undo} takes it back; what is left goes on within a day."

SECTION = Section(ID, "Consolidation", gather, rows, detail, "asked", {"apply": apply}, stopped=_STOPPED)
"""What agents did and learned, tidied up."""
