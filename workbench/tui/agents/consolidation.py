"""Health: tidying up what agents did and learned: when it was last done, what it would do now, and its report."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textual.content import Content

from workbench.core.agents.consolidation import STAGES, ConsolidationRun, StageKind, due_at
from workbench.core.runtime import Cancelled, Progress
from workbench.services.agents.consolidation import Consolidated, Stage, fact_lines
from workbench.tui.health.sections import BLANK, WARN, Row, Section, joined, key_line, more, title
from workbench.tui.widgets.content import MUTED, body, keyed
from workbench.tui.widgets.figures import absolute, number

LISTED = 30
"""Changes of a stage that the text beside the list names at most."""

_PART = 100


@dataclass(frozen=True, slots=True)
class Seen:
    """What a run would do, or (`is_done`) did."""

    what: Consolidated
    is_done: bool = False


class Consolidation(Section[Seen]):
    """What agents did and learned, tidied up."""

    ID, TITLE, WHEN = "consolidation", "Consolidation", "asked"
    STOPPED = "Stopped. A stage that was done stands, and {app.undo} takes it back; what is left goes on within a day."
    wanted = False
    """Whether it is to be done, and not only looked at: once, whatever becomes of it."""

    def look(self, tell: Progress, cancelled: Cancelled) -> Seen:
        """Look at what a run would change, or carry it out where a person asked for that."""

        def told(kind: StageKind, done: int, total: int) -> None:
            place = next(n for n, one in enumerate(STAGES) if one.id == kind.id)
            tell(place * _PART + (done * _PART // total if total else 0), len(STAGES) * _PART)

        wanted, self.wanted = self.wanted, False
        run = self.bench.consolidating.carry_out if wanted else self.bench.consolidating.look
        return Seen(run((), told, cancelled), wanted)

    def rows(self) -> Sequence[Row]:
        """Return how far it is, or when it was last done and what it would change, stage by stage."""
        if self.progress is not None:
            return [self.bar("of all stages")]
        head = self.remark("last", _last(self.bench.consolidating.last()), item="last")
        if not self.known:
            told = keyed("{health.apply} shows what it would change; nothing is changed by that.")
            return [head, self.remark("unknown", told)]
        seen = self.value
        left = ", ".join(kind.id for kind in seen.what.left)
        does = keyed("{health.apply} does it; {app.undo} takes each stage back.")
        return [
            head,
            *(self._stage(one, "measured" if seen.is_done else "to measure") for one in seen.what.stages),
            *([self.remark("left", f"Stopped. Left: {left}.", style=WARN)] if left else []),
            *([] if seen.is_done else [self.remark("apply", does)]),
        ]

    def _stage(self, stage: Stage, measured: str) -> Row:
        many = len(stage.plan.changes)
        said = f"{number(stage.plan.measured)} {measured}" if stage.plan.measured else ""
        figure, style = (number(many), "") if many else ("", MUTED)
        return self.row(stage.kind.id, figure, stage.kind.title, item=stage, more=said, style=style)

    def detail(self, row: Row) -> Content:
        """Return what a stage changes, or the report of the last run."""
        if isinstance(row.item, Stage):
            return joined(*self._changes(row.item))
        return joined(
            title("Consolidation of episodes and patterns"), BLANK,
            Content("Episodes that say the same are archived under one of them, patterns are held against how they "
                    "went, those worth little go out of use, and what searches need is worked out. Nothing is lost: "
                    "each stage is an action of its own, and it can be stopped between two."), BLANK,
            key_line("health.apply", "shows what it would change, and then does it."),
            Content.styled("`workbench consolidate` does it by cron or a timer; its help has the line.", MUTED),
            *_report(self.bench.consolidating.last()),
        )  # fmt: skip

    def _changes(self, stage: Stage) -> Iterator[Content]:
        yield title(stage.kind.title)
        yield Content(f"{number(stage.plan.looked)} looked at")
        yield from (body(line, MUTED) for line in fact_lines(stage.plan.facts))
        yield BLANK
        for change in stage.plan.changes[:LISTED]:
            by = f" {'as' if change.becomes == 'proposed' else 'under'} “{change.by}”" if change.by else ""
            yield body(self.masked(f"{change.id}  {change.becomes.replace('_', ' ')}{by}"))
        yield from more(len(stage.plan.changes), LISTED)

    async def apply(self, row: Row) -> None:
        """Show what it would change; shown that, do it."""
        del row
        if self.progress is not None:
            return
        self.go("last")
        self.wanted = self.known and not self.value.is_done
        self.known = False
        self.gather()


def _last(run: ConsolidationRun | None) -> str:
    due = due_at(run)
    if run is None or due is None:
        return "Never done; due at any time"
    ended = f"Last done {absolute(run.ended_at)}" if run.ended_at is not None else f"Left to do: {', '.join(run.left)}"
    return f"{ended} · next due {absolute(due)}"


def _report(run: ConsolidationRun | None) -> Iterator[Content]:
    if run is None:
        return
    titles = {kind.id: kind.title for kind in STAGES}
    yield BLANK
    yield title(_last(run))
    for one in run.done:
        yield BLANK
        yield body(titles.get(one.stage, one.stage))
        yield Content.styled(f"- looked at: {number(one.looked)}", MUTED)
        yield Content.styled(f"- changed: {number(one.changed)}", MUTED)
        yield from (body(line, MUTED) for line in fact_lines(one.facts))
