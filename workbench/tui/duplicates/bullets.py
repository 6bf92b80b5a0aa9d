"""Grow-and-refine (source 003): groups of bullets that may be one, decided on one by one."""

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on, work
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.dom import DOMNode
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.core.record import WorkbenchError
from workbench.core.text import one_line
from workbench.services.duplicates.bullet_groups import FLOOR, BulletGroup, Likeness
from workbench.services.duplicates.wording import BookWording
from workbench.services.open import Workbench
from workbench.tui.app.actions import bindings
from workbench.tui.app.host import Host
from workbench.tui.app.saving import Preview
from workbench.tui.app.waiting import asking, change
from workbench.tui.duplicates.bullet_groups import (
    counted,
    equals_text,
    fewer_bullets,
    group_row,
    group_text,
    objections,
)
from workbench.tui.playbook.actions import DUPLICATES
from workbench.tui.records.links import ActsBesideSliders, Place
from workbench.tui.widgets.actions import on_row
from workbench.tui.widgets.bars import Scale, Slider
from workbench.tui.widgets.content import MUTED, assemble, body, key_of, undo
from workbench.tui.widgets.dialog import Confirm, Dialog
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.lists.line_list import LineView
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.texts.editor import TextEditor

if TYPE_CHECKING:
    from workbench.core.reflection.reflector import Step


# Asking Claude for one text for a group of bullets; nothing is written until a person takes it.


class Worded(Message):
    """Claude wrote one text for a group, or `said` says why not."""

    def __init__(self, group: BulletGroup, text: str, said: str) -> None:
        super().__init__()
        self.group = group
        self.text = text
        self.said = said


class Streamed(Message):
    """A piece of a reply came in."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class AskingClaude:
    """Asks for a text, one group at a time, away from the keyboard; `node` is told by `Streamed` and `Worded`.

    `coming` is what Claude has written so far, `None` while nobody asks.
    """

    def __init__(self, node: DOMNode, wording: BookWording) -> None:
        self._node = node
        self._wording = wording
        self.coming: str | None = None

    def begin(self, group: BulletGroup) -> None:
        """Ask for one text that holds everything of all."""
        self.coming = ""
        self._node.run_worker(
            lambda: self._ask(group),
            group="wording",
            description="wording",
            exit_on_error=False,
            exclusive=True,
            thread=True,
        )

    def stop(self) -> None:
        """Let go of the reply; what came is told as an error."""
        self._node.workers.cancel_group(self._node, "wording")

    def _ask(self, group: BulletGroup) -> None:
        worker = get_current_worker()

        def tell(step: "Step") -> None:
            if step.text and not worker.is_cancelled:
                self._node.post_message(Streamed(step.text))

        try:
            texts = [b.content for b in group.bullets]
            text, used = self._wording.ask(texts, tell, lambda: worker.is_cancelled)
            message = Worded(
                group,
                text,
                f"Claude used {number(used)} tokens. {key_of('twins.merge')} merges with its text, "
                f"{key_of('twins.edit')} edits it first.",
            )
        except WorkbenchError as error:
            message = Worded(group, "", str(error))
        self._node.post_message(message)


def what_is_sent(wording: BookWording, group: BulletGroup) -> Content:
    """Return what would leave this machine; raises the error that says why nothing can."""
    preview = wording.preview([b.content for b in group.bullets])
    return Content("\n\n").join([Content.styled(preview.remark, MUTED), *map(body, preview.texts)])


LOADING = "Equal texts are listed. Near ones follow as soon as the model is loaded and every pair is compared …"
NOTHING = "Nothing is that similar. ← lowers the threshold."


class Compared(Message):
    """Every pair is compared, or `problem` says why not."""

    def __init__(self, found: Likeness | None, problem: str = "") -> None:
        super().__init__()
        self.found = found
        self.problem = problem


class BulletDuplicatesDialog(Dialog[str | None]):
    """A threshold, the groups, and the one under the cursor in full: merge it, keep all, or write one text.

    `proposed` is another text than the kept bullet's own. The usual keys act on the bullet that is kept. The result
    says what was done last.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings((*DUPLICATES, *on_row("e")))
    DEFAULT_CSS = """
    BulletDuplicatesDialog {
        & > .dialog { width: 96%; height: 96%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title, & .dialog--keys { margin: 0; }
        & #duplicates-state { height: auto; max-height: 2; }
        & #duplicates-panes { layout: vertical; height: 1fr; }
        & LineView { height: 2fr; min-height: 4; background: $surface; }
        & ReadingPane { height: 3fr; border-top: solid $panel; }
        &.-wide #duplicates-panes { layout: horizontal; }
        &.-wide LineView { width: 1fr; height: 1fr; }
        &.-wide ReadingPane { width: 1fr; height: 1fr; border-top: none; border-left: solid $panel; }
    }
    """

    def __init__(self, bench: Workbench, book: str) -> None:
        super().__init__("Duplicates in this playbook", [a for a in DUPLICATES if a.show])
        self.bench, self._since = bench, bench.library.revision
        self.claude = AskingClaude(self, bench.wording)
        self.acts = ActsBesideSliders(lambda: self, self._record_here, then=self._again)
        self.proposed: str | None = None
        self._book = book
        self.found: Likeness | None = None
        self._done = ""
        self._kept = 0

    def contents(self) -> Iterable[Widget]:
        """Return the threshold, what was found, the groups, and the texts."""
        yield Slider("similarity", 0.9, Scale(FLOOR, 1.0, 0.01, 0.002), show=lambda v: f"{v:.3f}")
        yield Static(Content(""), id="duplicates-state")
        rows: LineView[BulletGroup] = LineView(
            lambda group, width: group_row(group, width, self.bench.safety.masked), lambda group: group.ids
        )
        yield Container(rows, ReadingPane(id="duplicates-text"), id="duplicates-panes")

    def on_mount(self) -> None:
        """List equal texts at once, and compare the others behind that."""
        self._slider.disabled = True
        self._rows.focus()
        self._list(self.bench.bullet_duplicates.same(self._book))
        self.say(Content.styled(LOADING, MUTED))
        self._compare()

    @property
    def _slider(self) -> Slider:
        return self.query_one(Slider)

    @property
    def _rows(self) -> LineView[BulletGroup]:
        return self.query_one(LineView)

    @property
    def group(self) -> BulletGroup | None:
        """The group under the cursor."""
        return self._rows.current

    def _record_here(self, _what: str) -> Place | None:
        group = self.group
        return None if group is None else ("bullets", f"{self._book}/{group.bullets[self._kept].id}")

    # Finding

    @work(thread=True, exclusive=True, group="duplicates", exit_on_error=False)
    def _compare(self) -> None:
        worker = get_current_worker()
        try:
            message = Compared(self.bench.bullet_duplicates.likeness(self._book))
        except WorkbenchError as error:
            message = Compared(None, str(error))
        if message.found is not None and not worker.is_cancelled:
            message.found.compare()
        if not worker.is_cancelled:
            self.post_message(message)

    def on_compared(self, event: Compared) -> None:
        """Show the groups at the threshold, which starts where duplicates are flagged."""
        if event.found is None:
            self.say(body(event.problem, "$text-warning"))
            return
        first, self.found, slider = self.found is None, event.found, self._slider
        slider.disabled = False
        slider.scale = Scale(max(FLOOR, round(event.found.floor, 3)), 1.0, 0.01, 0.002)
        if first:
            slider.default, slider.ticks = event.found.flag, (event.found.flag,)
            with slider.prevent(Slider.Changed):
                slider.value = event.found.flag
        self._show_groups()

    @on(Slider.Changed)
    def _show_groups(self) -> None:
        if self.found is not None:
            self._list(self.found.groups(self._slider.value))
            self.say(self._counts())

    def _list(self, groups: Iterable[BulletGroup]) -> None:
        self._rows.set_empty(Content(NOTHING if self.found else ""))
        before = self.group
        self._rows.set_rows(tuple(groups), cursor=None if before else 0)
        if self.group is None or before is None or before != self.group:
            self._show_group()

    def _counts(self) -> Content:
        kept = self.found.kept if self.found else 0
        return counted(self._rows.rows, kept) if self._rows.rows or kept else Content("")

    # Showing

    @on(LineView.Highlighted)
    def _show_group(self) -> None:
        self._kept, self.proposed = 0, None
        self.show_text()

    def show_text(self, *, keep_place: bool = False) -> None:
        """Show the group under the cursor."""
        group, pane = self.group, self.query_one(ReadingPane)
        if group is None:
            pane.show(Content(""))
            return
        keep = group.bullets[self._kept]
        try:
            after = self.bench.bullet_duplicates.outcome(self._book, group.ids, self._content(group), keep.id)
        except WorkbenchError as error:
            pane.show(body(str(error), "$text-warning"))
            return
        titles = {s.id: s.title for s in self.bench.playbooks.open(self._book).sections}
        mask = self.bench.safety.masked
        pane.show(group_text(group, self._kept, self.proposed, after, titles, mask), keep_place=keep_place)

    def _content(self, group: BulletGroup) -> str:
        return group.bullets[self._kept].content if self.proposed is None else self.proposed

    def say(self, content: Content) -> None:
        """Say something above the list."""
        self.query_one("#duplicates-state", Static).update(content)

    def _told(self, sentence: str) -> None:
        self._done = f"{sentence} {undo()} takes it back."
        self.say(assemble([(sentence, "bold"), (f"  {key_of('twins.undo')} takes it back.", MUTED)]))

    def _complain(self, error: WorkbenchError) -> None:
        self.say(body(str(error), "$text-warning"))
        self._compare()

    # Deciding

    @asking
    async def action_merge(self) -> None:
        """Make one of the group, with the text and id shown as staying; asks when the others say something else."""
        group = self.group
        if group is None or self.claude.coming is not None:
            return
        if not group.ordinary and self.proposed is None:
            question = f"Merge bullets that {'are opposites' if group.kind == 'opposed' else 'say something else'}?"
            detail = objections(group, self.bench.safety.masked)
            ask = Confirm(question, clock=time.monotonic, detail=detail, yes="merge", guard=0.0)
            if not await self.app.push_screen_wait(ask) or self.group is not group:
                return
        self._merge(group)

    def _merge(self, group: BulletGroup, typed: Preview | None = None) -> None:
        keep = group.bullets[self._kept].id
        content = self._content(group)

        def quoted(text: str) -> str:
            return f"“{one_line(self.bench.safety.masked(text), 40)}”"

        typed = typed or Preview(self.bench)
        label = f"merge {len(group.bullets)} bullets into {keep}"

        def merge() -> None:
            with typed.writing(label, lambda: [f"{self._book}/{keep}"]):
                self.bench.bullet_duplicates.merge_unchanged(self._book, group.bullets, content, keep)
            gone = [b.content for b in group.bullets if b.id != keep]
            goes = quoted(gone[0]) if len(gone) == 1 else f"{len(gone)} other texts"
            go = "goes" if len(gone) == 1 else "go"
            self._settled(group, f"Merged {len(group.bullets)} into {keep}: {quoted(content)} stays, {goes} {go}.")

        change(self, merge, self._complain)

    def action_keep(self) -> None:
        """Remember that all of the group stay."""
        group = self.group
        if group is not None and self.claude.coming is None:

            def keep() -> None:
                self.bench.bullet_duplicates.keep_both(group)
                self._settled(group, "Kept apart; asked about again when a text changes.")

            change(self, keep, self._complain)

    def _settled(self, group: BulletGroup, sentence: str) -> None:
        place = self._rows.cursor
        left = [g for g in self._rows.rows if g is not group]
        self._rows.set_rows(left, cursor=min(place, max(0, len(left) - 1)))
        self._show_group()
        self._told(sentence)
        self._again()

    @work(thread=True, exclusive=True, group="duplicates", exit_on_error=False)
    def _again(self) -> None:
        """Compare anew after a change; what was said stays."""
        worker = get_current_worker()
        try:
            found = self.bench.bullet_duplicates.likeness(self._book)
        except WorkbenchError:
            return  # said when it was opened
        if not worker.is_cancelled:
            found.compare()
        if not worker.is_cancelled:
            self.app.call_from_thread(self._take, found)

    def _take(self, found: Likeness) -> None:
        if self.is_mounted:
            self.found = found
            self._list(found.groups(self._slider.value))

    def action_next(self) -> None:
        """Keep the next one's text and id."""
        if self.group is not None and self.claude.coming is None:
            self._kept, self.proposed = (self._kept + 1) % len(self.group.bullets), None
            self.show_text(keep_place=True)

    @asking
    async def action_edit(self) -> None:
        """Write the merged text, then merge."""
        group = self.group
        if group is None or self.claude.coming is not None:
            return
        title = f"The text of {', '.join(group.ids)[:200]} as one"
        known = "\n".join((self._content(group), *(bullet.content for bullet in group.bullets)))
        preview = Preview(self.bench, known)
        text = await self.app.push_screen_wait(TextEditor(title, self._content(group), check=preview))
        if text is not None and self.group is group:
            self.proposed = preview.text
            self._merge(group, preview)

    @asking
    async def action_all(self) -> None:
        """Merge every group of equal texts as one action, after showing what that does."""
        equal = [g for g in self._rows.rows if g.kind == "exact"] or [g for g in self._rows.rows if g.kind == "case"]
        if not equal:
            self.say(Content.styled("No two bullets have the same text.", MUTED))
            return
        fewer = sum(len(g.bullets) - 1 for g in equal)
        same = "have the same text" if equal[0].kind == "exact" else "differ in case only"
        question = f"Merge {len(equal)} groups that {same}? {fewer_bullets(fewer)}; their ids live on, votes add up."
        ask = Confirm(
            question,
            clock=time.monotonic,
            detail=equals_text(equal, self.bench.safety.masked),
            yes="merge all",
            guard=0.0,
        )
        if await self.app.push_screen_wait(ask):

            def merge() -> None:
                saved = self.bench.bullet_duplicates.merge_same(self._book, equal)
                self._list(g for g in self._rows.rows if g not in equal)
                self._told(f"Merged {len(equal)} groups: {fewer_bullets(saved)}.")
                self._again()

            change(self, merge, self._complain)

    @asking
    async def action_undo(self) -> None:
        """Take back the latest change."""

        def told(undone: str) -> None:
            self._done = ""
            self.say(body(undone))
            self._again()

        await cast(Host, self.app).take_back(told, self._since)

    # Asking Claude

    def action_preview(self) -> None:
        """Show what would leave this machine."""
        from workbench.tui.review.impact import ImpactDialog

        if self.group is None:
            return
        try:
            text = what_is_sent(self.bench.wording, self.group)
        except WorkbenchError as error:
            self.say(body(str(error), "$text-warning"))
            return
        self.app.push_screen(ImpactDialog("What would be sent", text))

    def action_ask(self) -> None:
        """Let Claude write one text that holds everything of all."""
        if self.bench.wording.missing:
            self.say(
                body(
                    f"{self.bench.wording.missing} Until then, {key_of('twins.edit')} writes the text by hand.",
                    "$text-warning",
                )
            )
        elif self.group is not None and self.claude.coming is None:
            self.say(Content.styled("Asking Claude for one text … esc stops.", MUTED))
            self.claude.begin(self.group)

    def on_streamed(self, event: Streamed) -> None:
        """Show the reply as it comes in."""
        if self.claude.coming is not None:
            self.claude.coming += event.text
            head = Content.styled("Claude writes …\n", "bold")
            self.query_one(ReadingPane).show(head + body(self.claude.coming), keep_place=True)

    def on_worded(self, event: Worded) -> None:
        """Show the proposed text; nothing is written until somebody merges."""
        self.claude.coming = None
        if event.text and self.group is event.group:
            self.proposed = event.text
        self.show_text()
        self.say(body(event.said, MUTED if event.text else "$text-warning"))

    # The threshold, and the rest

    def action_less(self) -> None:
        """Lower the threshold."""
        self._slider.action_less()

    def action_more(self) -> None:
        """Raise the threshold."""
        self._slider.action_more()

    def action_fine_less(self) -> None:
        """Lower the threshold a little."""
        self._slider.action_fine_less()

    def action_fine_more(self) -> None:
        """Raise the threshold a little."""
        self._slider.action_fine_more()

    def action_reset(self) -> None:
        """Back to the threshold that holds."""
        self._slider.action_reset()

    def action_close(self) -> None:
        """Stop Claude, or close."""
        if self.claude.coming is not None:
            self.claude.stop()
            self.say(Content.styled("Stopping …", MUTED))
        else:
            self.dismiss(self._done)
