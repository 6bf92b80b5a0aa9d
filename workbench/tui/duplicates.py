"""What is alike, from a similarity on: memories as a preview of what would merge, bullets to be
decided on.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Generic, TypeVar, cast

from textual import on, work
from textual.containers import Container
from textual.content import Content
from textual.widget import Widget
from textual.worker import get_current_worker

from workbench.core.duplicates.dedup import Conflict
from workbench.core.limits import Thresholds
from workbench.core.playbook.book import Bullet
from workbench.core.record import WorkbenchError
from workbench.core.reflection.reflector import Step
from workbench.core.runtime import Cancelled, Progress
from workbench.core.stream.memory import Memory
from workbench.core.text import one_line
from workbench.services.duplicates.comparing import FLOOR, ORDINARY, Group, Kind, Likeness
from workbench.services.open import Workbench
from workbench.tui.actions import BULLET_DUPLICATES as BULLETS
from workbench.tui.actions import MEMORY_DUPLICATES as MEMORIES
from workbench.tui.actions import on_row
from workbench.tui.app.actions import Action, bindings, footer_entries
from workbench.tui.app.host import Host
from workbench.tui.app.saving import Preview
from workbench.tui.app.waiting import asking, change
from workbench.tui.records.actions import ActsBesideSliders, Place
from workbench.tui.reflection import RunDialog, SentDialog
from workbench.tui.review.inbox import ALIKE, heading, name, overlap, told_apart
from workbench.tui.widgets.bars import Scale, Slider, gauge
from workbench.tui.widgets.content import BLANK, MUTED, assemble, body, joined, key_of, muted, undo
from workbench.tui.widgets.dialog import Dialog, sure
from workbench.tui.widgets.editor import TextEditor
from workbench.tui.widgets.figures import amount, number, since
from workbench.tui.widgets.line_list import Cell, LineView
from workbench.tui.widgets.reading_pane import ReadingPane

R = TypeVar("R", bound=Memory | Bullet)
T = TypeVar("T")

WARN = "$text-warning"


APART = "≠"
"""Marks what speaks against making two records one."""


class Threshold(Slider):
    """The slider; up and down go through the rows, as there is no other slider."""

    def action_above(self) -> None:
        self.screen.query_one(LineView).action_up()

    def action_below(self) -> None:
        self.screen.query_one(LineView).action_down()


LISTED = 2_000
"""Groups that are listed at most."""

NOTHING = "No pair is that similar. ← lowers the threshold."


class SimilarityDialog(Dialog[T], Generic[T, R]):
    """A threshold, the groups that are alike at it, and the one under the cursor in full; all is
    compared once, by a thread.
    """

    DEFAULT_CSS = """
    SimilarityDialog {
        & > .dialog { width: 96%; height: 96%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title, & .dialog--keys { margin: 0; }
        & .dialog--state { height: auto; max-height: 3; }
        & #duplicates-panes { layout: vertical; height: 1fr; }
        & LineView { height: 2fr; min-height: 4; background: $surface; }
        & ReadingPane { height: 3fr; }
        &.-wide #duplicates-panes { layout: horizontal; }
        &.-wide LineView { width: 1fr; height: 1fr; }
        &.-wide ReadingPane { width: 1fr; height: 1fr; }
    }
    """

    def __init__(
        self, bench: Workbench, title: str, offered: Iterable[Action], records: tuple[str, str]
    ) -> None:
        super().__init__(title, footer_entries(offered))
        self.bench = bench
        self.found: Likeness[R] | None = None
        self.acts = self.row_acts = ActsBesideSliders(
            self, lambda: self.record_here, then=self.compare
        )
        self._records = records

    def contents(self) -> Iterable[Widget]:
        """Return the threshold, what was found, the rows, and the texts."""
        scale = Scale(FLOOR, 1.0, 0.01, 0.002)
        yield Threshold("similarity", 0.9, scale, show=lambda v: f"{v:.3f}", id="threshold")
        yield self.state
        rows: LineView[Group[R]] = LineView(self._draw, lambda group: group.ids, title="Groups")
        yield Container(
            rows, ReadingPane(id="duplicates-text", title="Texts"), id="duplicates-panes"
        )

    def on_mount(self) -> None:
        """Compare every pair."""
        self.slider.disabled = True
        self.compare()

    def likeness(self, progress: Progress, cancelled: Cancelled) -> Likeness[R]:
        """Compare every pair, on a thread."""
        raise NotImplementedError

    def text(self, group: Group[R]) -> Content:
        """Return the group under the cursor in full."""
        raise NotImplementedError

    @property
    def record_here(self) -> Place | None:
        raise NotImplementedError

    @property
    def slider(self) -> Slider:
        return self.query_one(Slider)

    @property
    def limit(self) -> float:
        """The similarity that the slider says."""
        return self.slider.value or 0.0

    @property
    def group(self) -> Group[R] | None:
        """The group under the cursor."""
        return self.rows.current

    def _draw(self, group: Group[R], width: int) -> list[Cell]:
        return group_row(self.bench.safety.shown(group), width)

    @work(exclusive=True, group="duplicates", exit_on_error=False)
    async def compare(self) -> None:
        worker = get_current_worker()

        def went(done: int, total: int) -> None:
            self.call_later(self._went, done, total)

        try:
            found = await asyncio.to_thread(self.likeness, went, lambda: worker.is_cancelled)
        except WorkbenchError as error:
            self.tell(str(error), WARN)
        else:
            self.compared(found)

    def _went(self, done: int, total: int) -> None:
        if self.found is None:
            bar = gauge(done, total, self._records[1], 30)
            self.tell(Content("Comparing all pairs. Esc stops it.\n") + bar)

    def compared(self, found: Likeness[R]) -> None:
        """Show what is alike at the threshold, which starts where duplicates are flagged."""
        first, self.found, slider = self.found is None, found, self.slider
        slider.disabled = False
        slider.scale = Scale(max(FLOOR, round(found.floor, 3)), 1.0, 0.01, 0.002)
        slider.default = found.limits.flag
        slider.ticks = (found.limits.flag,)
        if first:
            with slider.prevent(Slider.Changed):
                slider.value = found.limits.flag
        self.show_rows()

    @on(Slider.Changed)
    def _moved(self) -> None:
        if self.found is not None:
            self.show_rows()

    def show_rows(self) -> None:
        """List what is alike at the threshold."""
        if self.found is not None:
            self.rows.set_empty(Content(NOTHING))
            self.list_groups(self.found.groups(self.limit))

    def list_groups(self, groups: Sequence[Group[R]]) -> None:
        before, place = self.group, self.rows.cursor
        self.rows.set_rows(tuple(groups[:LISTED]), cursor=None if before else place)
        self.tell(self.counted(groups))
        if self.group is None or self.group != before:
            self.show_row()

    def counted(self, groups: Sequence[Group[R]]) -> Content:
        """Return how many groups of each kind there are, and what merging those would save against
        which nothing speaks.
        """
        kept, count = self.found.kept if self.found else 0, Counter(g.kind for g in groups)
        fewer = sum(len(group.members) - 1 for group in groups if group.ordinary)
        parts = [
            (f"{SIGNS[kind]} {number(count[kind])} {what}   ", "bold" if kind in ORDINARY else WARN)
            for kind, what in COUNTED.items()
            if count[kind]
        ]
        parts += [(f"merged: {amount(fewer, *self._records)} fewer   ", "")] if parts else []
        parts += [(f"{amount(kept, 'pair')} kept separate", MUTED)] if kept else []
        return assemble(parts)

    @on(LineView.Highlighted)
    def show_row(self) -> None:
        self.pane.show(BLANK if self.group is None else self.text(self.group))


# Memories: what would merge at a threshold. Nothing is merged here.


Keep = Callable[[Thresholds], bool]
"""Writes thresholds to the settings; says whether that worked, having said why when it did not."""


class DuplicatesDialog(SimilarityDialog[None, Memory]):
    """The groups of memories; the usual keys act on the one that a merge would keep."""

    BINDINGS = bindings((*MEMORIES, *on_row()))

    def __init__(self, bench: Workbench, keep: Keep) -> None:
        title = "Duplicates · a preview of what would merge; nothing is merged"
        super().__init__(bench, title, MEMORIES, ("memory", "memories"))
        self._keep = keep

    def on_mount(self) -> None:
        self.pane.can_focus = False
        self.rows.set_empty(BLANK)
        self._went(0, 1)

    @property
    def record_here(self) -> Place | None:
        return None if self.group is None else ("memories", self.group.ids[0])

    @on(LineView.Opened)
    def _open(self) -> None:
        self.row_acts.open()

    def likeness(self, progress: Progress, cancelled: Cancelled) -> Likeness[Memory]:
        return self.bench.deduplication.likeness(progress=progress, cancelled=cancelled)

    def compared(self, found: Likeness[Memory]) -> None:
        """Begin at the slider, once it can be moved."""
        if self.found is None:
            self.call_later(self.slider.focus)
        super().compared(found)

    def counted(self, groups: Sequence[Group[Memory]]) -> Content:
        told = super().counted(groups)
        if self.found is None:
            return told
        flag, review = self.found.limits.flag, self.found.limits.review
        self.slider.ticks = (review, flag)
        lists = f"\n┼ {flag:.2f} flags a likely duplicate, {review:.2f} lists a pair for review"
        return told + muted(lists)

    def text(self, group: Group[Memory]) -> Content:
        return memories_text(self.bench.safety.shown(group), self.bench.context.now())

    def action_save(self, which: str) -> None:
        """Make this the threshold that flags (`flag`) or lists for review (`review`); the other one
        gives way.
        """
        if (found := self.found) is None:
            self.app.bell()
            return
        value, before = round(self.limit, 3), found.limits
        flag, review = (
            (value, min(before.review, value))
            if which == "flag"
            else (max(before.flag, value), value)
        )
        if (flag, review) == (before.flag, before.review):
            self.app.bell()
        elif self._keep(Thresholds(flag, review)):
            self.found = replace(found, limits=before._replace(flag=flag, review=review))
            self.slider.default = flag
            self.show_rows()

    def action_cancel(self) -> None:
        """Close; a comparison under way is stopped."""
        self.workers.cancel_node(self)
        self.dismiss(None)


# Bullets: grow-and-refine (source 003), groups that may be one, decided on one by one.


LOADING = "Equal texts are listed. Near ones follow as soon as the model is loaded and every pair is compared …"


class BulletDuplicatesDialog(SimilarityDialog[str | None, Bullet]):
    """The groups of bullets: merge one, keep all, or write one text. The result says what was done
    last.

    `proposed` is another text than the kept bullet's own. The usual keys act on the bullet that is
    kept.
    """

    BINDINGS = bindings((*BULLETS, *on_row("e")))

    def __init__(self, bench: Workbench, book: str) -> None:
        super().__init__(bench, "Duplicates in this playbook", BULLETS, ("bullet", "bullets"))
        self._since = bench.library.revision
        self._book = book
        self.proposed: str | None = None
        self._kept = 0
        self._done = ""
        self._said: Content | None = None

    def on_mount(self) -> None:
        """List equal texts at once."""
        self.rows.focus()
        self.list_groups(self.bench.bullet_duplicates.same(self._book))
        self.tell(LOADING)

    @property
    def _keep(self) -> Bullet:
        assert self.group is not None
        return self.group.members[self._kept]

    @property
    def _content(self) -> str:
        return self._keep.content if self.proposed is None else self.proposed

    @property
    def record_here(self) -> Place | None:
        return None if self.group is None else ("bullets", f"{self._book}/{self._keep.id}")

    # Showing

    def likeness(self, progress: Progress, cancelled: Cancelled) -> Likeness[Bullet]:
        del progress, cancelled
        return self.bench.bullet_duplicates.likeness(self._book)

    @on(Slider.Changed)
    def _forget_said(self) -> None:
        self._said = None

    def counted(self, groups: Sequence[Group[Bullet]]) -> Content:
        return self._said or super().counted(groups)

    @on(LineView.Highlighted)
    def show_row(self) -> None:
        self._kept, self.proposed = 0, None
        self._show_text()

    def _show_text(self) -> None:
        self.pane.show(
            BLANK if self.group is None else self.text(self.group), keep_place=self._kept > 0
        )

    def text(self, group: Group[Bullet]) -> Content:
        try:
            after = self.bench.bullet_duplicates.outcome(
                self._book, group.ids, self._content, self._keep.id
            )
        except WorkbenchError as error:
            return body(str(error), WARN)
        titles = {s.id: s.title for s in self.bench.playbooks.open(self._book).sections}

        def about(bullet: Bullet) -> str:
            title = one_line(titles.get(bullet.section, ""), 60)
            return f"+{bullet.helpful_count} −{bullet.harmful_count} · {title}"

        group, proposed, titles = self.bench.safety.shown((group, self.proposed, titles))
        sums = (
            f"{word} {' + '.join(str(getattr(b, field)) for b in group.members)} = {number(getattr(after, field))}"
            for word, field in (("helpful", "helpful_count"), ("harmful", "harmful_count"))
        )
        merged = f"{'Merged' if group.ordinary else 'If merged'}: {' · '.join(sums)}; all ids become aliases"
        return group_text(group, group.members[self._kept], about, proposed, merged)

    def _told(self, sentence: str) -> None:
        self._done = f"{sentence} {undo()} takes it back."
        self._said = assemble(
            [(sentence, "bold"), (f"  {key_of('twins.undo')} takes it back.", MUTED)]
        )
        self.tell(self._said)

    def _warn(self, sentence: object) -> None:
        self.tell(str(sentence), WARN)

    def _complain(self, error: WorkbenchError) -> None:
        self._warn(error)
        self.compare()

    # Deciding

    @asking
    async def action_merge(self) -> None:
        """Make one of the group, with the text and id shown as staying; asks when the others say
        something else.
        """
        group = self.group
        if group is None:
            return
        if not group.ordinary and self.proposed is None:
            what = "are opposites" if group.kind == "opposed" else "say something else"
            against = objections(self.bench.safety.shown(group))
            if not await sure(self, f"Merge bullets that {what}?", against, "merge", guard=0.0):
                return
        if self.group is group:
            self._merge(group)

    def _merge(self, group: Group[Bullet], typed: Preview | None = None) -> None:
        keep, content, count = self._keep.id, self._content, len(group.members)
        typed = typed or Preview(self.bench)

        def quoted(text: str) -> str:
            return f"“{one_line(self.bench.safety.shown(text), 40)}”"

        def merge() -> None:
            with typed.writing(
                f"merge {count} bullets into {keep}", lambda: [f"{self._book}/{keep}"]
            ):
                self.bench.bullet_duplicates.merge_unchanged(
                    self._book, group.members, content, keep
                )
            gone = [b.content for b in group.members if b.id != keep]
            goes = (
                f"{quoted(gone[0])} is dropped"
                if len(gone) == 1
                else f"{len(gone)} other texts are dropped"
            )
            self._settled([group], f"Merged {count} into {keep}: {quoted(content)} stays, {goes}.")

        change(self, merge, self._complain)

    def action_keep(self) -> None:
        """Remember that all of the group stay."""
        if (group := self.group) is not None:

            def keep() -> None:
                self.bench.bullet_duplicates.keep_both(group)
                self._settled([group], "Kept separate; asked again when a text changes.")

            change(self, keep, self._complain)

    def _settled(self, done: Sequence[Group[Bullet]], sentence: str) -> None:
        place = self.rows.cursor
        left = [group for group in self.rows.rows if group not in done]
        self.rows.set_rows(left, cursor=min(place, max(0, len(left) - 1)))
        self.show_row()
        self._told(sentence)
        self.compare()

    def action_next(self) -> None:
        """Keep the next one's text and id."""
        if self.group is not None:
            self._kept, self.proposed = (self._kept + 1) % len(self.group.members), None
            self._show_text()

    @asking
    async def action_edit(self) -> None:
        """Write the merged text, then merge."""
        if (group := self.group) is None:
            return
        known = "\n".join((self._content, *(bullet.content for bullet in group.members)))
        preview = Preview(self.bench, known)
        title = f"The text of {', '.join(group.ids)[:200]} as one"
        text = await self.app.push_screen_wait(TextEditor(title, self._content, check=preview))
        if text is not None and self.group is group:
            self.proposed = preview.text
            self._merge(group, preview)

    @asking
    async def action_all(self) -> None:
        """Merge every group of equal texts as one action, after showing what that does."""
        equal = [g for g in self.rows.rows if g.kind == "exact"] or [
            g for g in self.rows.rows if g.kind == "case"
        ]
        if not equal:
            self._warn("No two bullets have the same text.")
            return
        fewer = f"{amount(sum(len(g.members) - 1 for g in equal), 'bullet')} fewer"
        same = "have the same text" if equal[0].kind == "exact" else "differ in case only"
        question = f"Merge {len(equal)} groups that {same}? {fewer}; their ids become aliases, votes add up."
        shown = equals_text(self.bench.safety.shown(equal))
        if await sure(self, question, shown, "merge all", guard=0.0):

            def merge() -> None:
                self.bench.bullet_duplicates.merge_same(self._book, equal)
                self._settled(equal, f"Merged {len(equal)} groups: {fewer}.")

            change(self, merge, self._complain)

    @asking
    async def action_undo(self) -> None:
        """Take back the latest change."""

        def told(undone: str) -> None:
            self._done, self._said = "", body(undone)
            self.tell(self._said)
            self.compare()

        await cast(Host, self.app).take_back(told, self._since)

    def action_close(self) -> None:
        self.dismiss(self._done)

    # Asking Claude

    def action_preview(self) -> None:
        """Show what would leave this machine."""
        if self.group is not None:
            try:
                self.app.push_screen(
                    SentDialog(self.bench.wording.preview([b.content for b in self.group.members]))
                )
            except WorkbenchError as error:
                self._warn(error)

    @asking
    async def action_ask(self) -> None:
        """Let Claude write one text that holds everything of all; nothing is written until somebody
        merges.
        """
        group = self.group
        if missing := self.bench.wording.missing:
            self._warn(f"{missing} Until then, write the text by hand with {key_of('twins.edit')}.")
        elif group is not None:
            make = partial(self.bench.wording.ask, [b.content for b in group.members])
            run: RunDialog[tuple[str, int]] = RunDialog(
                make, Step("merge"), "Claude writes one text"
            )
            found = await self.app.push_screen_wait(run)
            if found is not None and self.group is group:
                self.proposed = found[0]
                self._show_text()
                keys = f"{key_of('twins.merge')} merges with its text, {key_of('twins.edit')} edits it first."
                self.tell(muted(f"Claude used {number(found[1])} tokens. {keys}"))


# A group in words: what would stay, and how the others differ.


SIGNS: dict[Kind, str] = {"exact": "=", "case": "≡", "near": "≈", "opposed": "⇄", "apart": "≠"}
WORDS: dict[Kind, str] = {
    "exact": "the same text",
    "case": "the same text but for case",
    "near": "near duplicates: no difference in meaning found",
    "opposed": "opposites, not duplicates: one of them may be wrong",
    "apart": "similar, but not the same",
}
COUNTED: dict[Kind, str] = {
    "exact": "equal",
    "case": "but for case",
    "near": "near",
    "opposed": "opposites",
    "apart": "similar, but different",
}
NAMED = 12
"""Groups, members or objections that are named at most; half as many groups with the beginning of
their text.
"""


def group_row(group: Group[Any], width: int) -> list[Cell]:
    """Return a group as one line: sign, similarity, how many, the text of the first, what speaks
    against it.
    """
    cells = [
        Cell(SIGNS[group.kind], 1, "bold $text-accent" if group.ordinary else WARN),
        Cell(f"{group.similarity:.3f}", 5, MUTED, name="alike"),
        Cell(f"{len(group.members)}×", 4, "", "right", "size"),
        Cell(group.members[0].content, name="first of them"),
    ]
    if width >= 100 and not group.ordinary:
        # Judging every two of a large group takes a while; the first two tell what it is about.
        told = [
            why for why in group.pairs[0].verdict.conflicts if why is not Conflict.CONTRADICTION
        ]
        cells.append(Cell(", ".join(told or [Conflict.FEW_WORDS]), 34, WARN))
    return cells


def group_text(
    group: Group[R],
    stays: R,
    about: Callable[[R], str],
    proposed: str | None = None,
    merged: str = "",
    text: str = "the new text",
) -> Content:
    """Return a group in full.

    The member that `stays` keeps its text, or gets the `proposed` one, which is what `text` says;
    `about` says more of a member, and `merged` what a merge would add up.
    """
    content = stays.content if proposed is None else proposed
    is_equal = group.kind in ("exact", "case")
    known = "" if is_equal else f" · similarity {group.similarity:.3f}"
    parts = [
        assemble(
            [
                (
                    f"{SIGNS[group.kind]} {WORDS[group.kind]}",
                    f"bold {'' if group.ordinary else WARN}",
                ),
                (f"{known}\n{merged}".rstrip(), MUTED),
            ]
        ),
        BLANK,
        _heading(
            "Stays", stays, f"{about(stays)} · with {'its own text' if proposed is None else text}"
        ),
        body(content),
    ]
    if proposed is not None:
        parts += told_apart("instead of", stays.content, proposed)
    others = [record for record in group.members if record is not stays]
    for other in others[:NAMED]:
        pair = None if is_equal else group.between(stays.id, other.id)
        more = f" · similarity {pair.similarity:.3f}" if pair else ""
        parts += [BLANK, _heading("Goes into it", other, f"{about(other)}{more}")]
        if pair is not None:
            parts += [
                Content.styled("+ ", "bold $text-success") + body(one)
                for one in pair.verdict.reasons_for
            ]
            parts += [body(f"{APART} {one}", WARN) for one in pair.verdict.reasons_against]
        if other.content == content:
            parts.append(muted("(the text that stays)"))
            continue
        parts.append(body(other.content))
        if overlap(other.content, content) >= ALIKE:
            parts += told_apart("from this to what stays", other.content, content)
    if len(others) > NAMED:
        parts.append(muted(f"… and {number(len(others) - NAMED)} more"))
    return joined(*parts)


def memories_text(group: Group[Memory], now: datetime) -> Content:
    """Return a group of memories in full: the first one's id stays, with the newest text."""

    def about(memory: Memory) -> str:
        told = memory.status, memory.observation_type, since(memory.created_at, now)
        return " · ".join(map(name, told))

    kept, newest = group.members[0], newest_of(group)
    proposed = None if newest.content == kept.content else newest.content
    return group_text(group, kept, about, proposed, text=f"the text of {name(newest.id)}")


def newest_of(group: Group[Memory]) -> Memory:
    """Return the memory whose text a merge keeps."""
    return max(group.members, key=lambda memory: (memory.created_at, memory.id))


def _heading(label: str, record: Memory | Bullet, more: str) -> Content:
    return heading(label, assemble([(name(record.id), "bold"), (f"  {more}", MUTED)]))


def equals_text(groups: Sequence[Group[Bullet]]) -> Content:
    """Return what merging groups of equal texts would do: who stays, who goes, the votes; of few,
    how they begin.
    """
    lines = []
    for group in groups[:NAMED]:
        gone = one_line(", ".join(group.ids[1:]), 60)
        up, down = (
            sum(getattr(b, name) for b in group.members)
            for name in ("helpful_count", "harmful_count")
        )
        lines.append(
            assemble(
                [
                    (name(group.ids[0]), "bold"),
                    (f" ← {gone}", ""),
                    (f"   +{up} −{down}", MUTED),
                ]
            )
        )
        if len(groups) <= NAMED // 2:
            lines.append(muted("  " + one_line(group.members[0].content, 60)))
    if len(groups) > NAMED:
        lines.append(muted(f"… and {number(len(groups) - NAMED)} more groups"))
    return joined(*lines)


def objections(group: Group[Bullet]) -> Content:
    """Return what speaks against merging a group, a line each, and what would be lost."""
    lines: list[Content] = [body(f"{APART} {told}", WARN) for told in group.conflicts[:NAMED]]
    lost = muted(f"\nOnly the text that stays is kept. {undo()} takes it back.")
    return joined(*lines, lost)
