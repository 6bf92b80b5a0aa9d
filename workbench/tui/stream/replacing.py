"""Replacing words across the store: what by what, every place with its words in place, and one action."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.core.playbook.book import Section
from workbench.core.record import Conflict, WorkbenchError
from workbench.core.stream.memory import Memory
from workbench.core.text import printable
from workbench.services.open import Workbench
from workbench.services.promotion.copies import CopyPlan
from workbench.services.safety.masking import masked_name
from workbench.services.safety.texts import place_of
from workbench.services.stream.replacing import Elsewhere, Misfit, NameKind, Place, Replaceable, Wanted
from workbench.tui.actions import REPLACE, on_row
from workbench.tui.app.actions import bindings
from workbench.tui.app.waiting import change
from workbench.tui.promotion.copies import CopiesDialog
from workbench.tui.records.links import Acts
from workbench.tui.widgets.content import MUTED, body, key_of, keyed, word_diff
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import amount
from workbench.tui.widgets.lists.line_list import LineView
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.lists.row import Cell
from workbench.tui.widgets.texts.safe_input import SafeInput

TAKEN, LEFT = "✓", "✗"

_MISFITS: dict[Misfit, str] = {"long": "too long then", "empty": "nothing left then", "taken": "taken already"}

_ELSEWHERE: dict[NameKind, tuple[str, str]] = {
    "tag": ("tag", "tags"), "category": ("category", "categories"), "section": ("section title", "section titles"),
    "query": ("saved query", "saved queries"), "view": ("saved view", "saved views"),
    "pattern": ("pattern", "patterns"),
}  # fmt: skip
"""What it stands in besides the places that are listed, one and several."""

_NAMED = ("tag", "category", "section")
"""What a key takes along."""

HOW = "Enter lists every place; nothing is written yet."
NOWHERE = "No matches. {replace.word} asks for whole words only, {replace.case} for any case."
NOTHING = "✗ Nothing chosen yet: {replace.take} chooses a match, {replace.all} all."


class ReplaceDialog(Dialog[int]):
    """Asks what is replaced by what, and about every place; the result is in how many records it was."""

    BINDINGS: ClassVar[list[BindingType]] = bindings((*REPLACE, *on_row()))
    DEFAULT_CSS = """
    ReplaceDialog {
        & > .dialog { width: 120; height: 94%; }
        & .dialog--title { margin-bottom: 0; max-height: 1; }
        & .dialog--keys { margin-top: 0; }
        & .replace--line { height: 1; }
        & .replace--label { width: 9; color: $text-muted; }
        & SafeInput { width: 1fr; background: $background; }
        & LineView { height: 1fr; margin-top: 1; }
        & ReadingPane { height: 1fr; border: none; border-top: solid $panel; padding: 0; }
        & ReadingPane:focus { border: none; border-top: solid $accent; }
        & .replace--said { height: auto; max-height: 2; }
    }
    """

    def __init__(self, bench: Workbench, find: str = "") -> None:
        super().__init__("Replace in every memory and bullet", [a for a in REPLACE if a.show])
        self._bench = bench
        self._start = find
        self._wanted = Wanted(find, "")
        self._taken: dict[str, bool] = {}
        self._seen: set[str] = set()
        self._elsewhere: Sequence[Elsewhere] = ()
        self.acts = Acts(lambda: self, self._record_here)

    def contents(self) -> Iterable[Widget]:
        """Return both lines, the places, the one under the cursor in full, and what was decided."""
        rows: LineView[Place] = LineView(self._draw, lambda place: place.name, empty=Content(HOW))
        return (
            _line("find", SafeInput(self._start, id="replace-find")),
            _line("replace", SafeInput(id="replace-with")),
            rows,
            ReadingPane(id="replace-place"),
            Static(classes="replace--said"),
        )

    def on_mount(self) -> None:
        """Begin with what is to be found."""
        self.query_one("#replace-find").focus()
        self._show()

    @property
    def _rows(self) -> LineView[Place]:
        return self.query_one(LineView)

    @property
    def _chosen(self) -> list[Place]:
        return [place for place in self._rows.rows if self._taken.get(place.name)]

    def _record_here(self, _what: str) -> tuple[str, str] | None:
        place = self._rows.current
        return None if place is None else place_of(place.before)

    def _draw(self, place: Place, width: int) -> list[Cell]:
        taken = self._taken.get(place.name)
        mark = " " if taken is None else TAKEN if taken else LEFT
        style = "$text-success" if taken else MUTED
        remark = _MISFITS.get(place.misfit, f"{place.count}×")
        name = masked_name(place.name, self._bench.safety.masked)
        text = self._bench.safety.masked(_told(place.before)[:400])
        named = [Cell(printable(name), 22, MUTED)] if width >= 70 else []
        return [Cell(mark, 1, style), *named, Cell(printable(text)), Cell(remark, len(remark), MUTED, "right")]

    # Finding

    @on(Input.Submitted, "#replace-find")
    def _to_replacement(self) -> None:
        self.query_one("#replace-with").focus()

    @on(Input.Submitted, "#replace-with")
    def _listed(self) -> None:
        self._look()
        self._rows.focus()

    def _look(self, **how: bool) -> None:
        find, new = (self.query_one(f"#replace-{name}", SafeInput).value for name in ("find", "with"))
        self._wanted = replace(self._wanted, find=find, replacement=new, **how)
        self._find(self._wanted)

    @work(thread=True, exclusive=True, group="replace-find", description="the places")
    def _find(self, wanted: Wanted) -> None:
        places: tuple[Place, ...] = ()
        elsewhere: tuple[Elsewhere, ...] = ()
        problem = keyed(NOWHERE)
        try:
            places, elsewhere = self._bench.replacing.places(wanted), self._bench.replacing.elsewhere(wanted)
        except WorkbenchError as error:
            problem = str(error)
        self.call_later(self._show_found, wanted, places, elsewhere, problem)

    def _show_found(
        self, wanted: Wanted, places: Sequence[Place], elsewhere: Sequence[Elsewhere], problem: str
    ) -> None:
        if wanted == self._wanted:
            self._taken = {place.name: self._taken[place.name] for place in places if place.name in self._taken}
            self._elsewhere = elsewhere
            self._rows.set_empty(body(problem))
            self._rows.set_rows(places, cursor=0)
            self._show()

    def action_word(self) -> None:
        """Only whole words, or parts of words too."""
        self._look(word=not self._wanted.word)

    def action_case(self) -> None:
        """In any case, or as it is written."""
        self._look(ignore_case=not self._wanted.ignore_case)

    def action_names(self) -> None:
        """In tags, categories and titles of sections too, or in the texts alone."""
        self._look(names=not self._wanted.names)

    # Deciding

    @on(LineView.Highlighted)
    def _show(self) -> None:
        place, mask = self._rows.current, self._bench.safety.masked
        shown = Content("")
        if place is not None:
            shown = Content("\n\n").join(word_diff(mask(old), mask(new)) for old, new in place.texts)
            self._seen.add(place.name)
        self.query_one(ReadingPane).show(shown)
        self._say(" · ".join(self._state()) if self._wanted.find else "", MUTED)

    def _state(self) -> Iterator[str]:
        """Yield how many places there are and what was decided, how it is looked for, and where else it stands."""
        if self._rows.rows or self._taken:
            chosen, left = self._chosen, list(self._taken.values()).count(False)
            unseen = sum(place.name not in self._seen for place in chosen)
            yield amount(len(self._rows.rows), "place")
            yield f"{len(chosen)} taken" + (f", {unseen} of them not looked at" if unseen else "")
            yield f"{left} left out"
        yield "whole words" if self._wanted.word else f"{key_of('replace.word')}: whole words"
        yield from ["in any case"] * self._wanted.ignore_case + ["in names too"] * self._wanted.names
        named = [e for e in self._elsewhere if e.kind in _NAMED]
        kept = [e for e in self._elsewhere if e.kind not in _NAMED]
        yield from [f"{key_of('replace.names')}: also in {_counted(named)}"] if named else []
        yield from [f"stays in {_counted(kept)}"] if kept else []

    def action_take(self) -> None:
        """Take this place, and go to the next one."""
        place = self._rows.current
        if place is not None and place.misfit:
            self._say(f"✗ {_MISFITS[place.misfit]}: it stays as it is.", "$text-error")
        elif place is not None:
            self._decide(place, taken=True)

    def action_leave(self) -> None:
        """Leave this place as it is, and go to the next one."""
        if (place := self._rows.current) is not None:
            self._decide(place, taken=False)

    def _decide(self, place: Place, *, taken: bool) -> None:
        self._taken[place.name] = taken
        self._rows.refresh_row(self._rows.cursor)
        self._rows.action_down()
        self._show()

    def action_all(self) -> None:
        """Take every place that was not left out."""
        for at, place in enumerate(self._rows.rows):
            if not place.misfit:
                self._taken.setdefault(place.name, True)
            self._rows.refresh_row(at)
        self._show()

    def action_next_part(self) -> None:
        """To the next line, or to the places."""
        self.focus_next()

    # Writing

    def action_write(self) -> None:
        """Replace in what was taken, and in its files after a yes."""
        chosen = self._chosen
        if not chosen:
            self._say(keyed(NOTHING), "$text-error")
            return
        copies = self._bench.replacing.copies(chosen)
        if not copies.updated:
            self._write(chosen, None)
            return

        def answered(update: bool | None) -> None:
            if update is not None:
                self._write(chosen, copies if update else None)

        self.app.push_screen(CopiesDialog(self._bench, copies), answered)

    def _write(self, chosen: Sequence[Place], copies: CopyPlan | None) -> None:
        wanted = self._wanted

        def write() -> None:
            self._bench.replacing.carry_out(wanted, chosen, copies)
            self.dismiss(len(chosen))

        change(self, write, self._not_written)

    def _not_written(self, error: WorkbenchError) -> None:
        if isinstance(error, Conflict):
            self._look()
        self._say(f"✗ {error}", "$text-error")

    def _say(self, sentence: str, style: str) -> None:
        self.query_one(".replace--said", Static).update(body(sentence, style))


def _line(label: str, field: SafeInput) -> Horizontal:
    return Horizontal(Static(label, classes="replace--label"), field, classes="replace--line")


def _counted(found: Iterable[Elsewhere]) -> str:
    return ", ".join(f"{count} {_ELSEWHERE[kind][count != 1]}" for kind, count in found)


def _told(record: Replaceable) -> str:
    if isinstance(record, Section):
        return record.title
    return record.line if isinstance(record, Memory) else record.content
