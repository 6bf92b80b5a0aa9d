"""Replacing words across the store: what by what, every place with its words in place, and one
action.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence

from textual import on, work
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.config.writing import remove_view, save_view
from workbench.core.playbook.book import Section
from workbench.core.record import Conflict, WorkbenchError
from workbench.core.stream.confidence import ORDERS, TURNED, Arranged, SavedView, find_order
from workbench.core.stream.memory import Memory
from workbench.core.text import one_line, printable
from workbench.services.open import Workbench
from workbench.services.promotion.copies import CopyPlan
from workbench.services.safety.masking import masked_name
from workbench.services.safety.texts import place_of
from workbench.services.stream.replacing import (
    Elsewhere,
    Misfit,
    NameKind,
    Place,
    Replaceable,
    Wanted,
)
from workbench.tui.actions import REPLACE, on_row
from workbench.tui.app.actions import bindings, footer_entries
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.waiting import change
from workbench.tui.promotion import CopiesDialog
from workbench.tui.records.actions import Acts
from workbench.tui.widgets.content import BLANK, MUTED, body, key_of, keyed, word_diff
from workbench.tui.widgets.dialog import Choice, Choose, Dialog, Prompt, SafeInput, sure
from workbench.tui.widgets.figures import NO_BREAK, amount
from workbench.tui.widgets.line_list import Cell, LineView
from workbench.tui.widgets.reading_pane import ReadingPane

TAKEN, LEFT = "✓", "✗"

_MISFITS: dict[Misfit, str] = {
    "long": "too long",
    "empty": "empty",
    "taken": "already exists",
}

_ELSEWHERE: dict[NameKind, tuple[str, str]] = {
    "tag": ("tag", "tags"), "category": ("category", "categories"), "section": ("section title", "section titles"),
    "query": ("saved query", "saved queries"), "view": ("saved view", "saved views"),
    "pattern": ("pattern", "patterns"),
}  # fmt: skip
"""What it stands in besides the places that are listed, one and several."""

_NAMED = ("tag", "category", "section")
"""What a key takes along."""

HOW = "Enter lists every match; nothing is written yet."
NOWHERE = "No matches. {replace.word} asks for whole words only, {replace.case} for any case."
NOTHING = "✗ Nothing chosen yet: {replace.take} chooses a match, {replace.all} all."


class ReplaceDialog(Dialog[int]):
    """Asks what is replaced by what, and about every place; the result is in how many records it
    was.
    """

    BINDINGS = bindings((*REPLACE, *on_row()))
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
        & .dialog--state { height: auto; max-height: 2; }
    }
    """

    def __init__(self, bench: Workbench, find: str = "") -> None:
        super().__init__("Replace in every memory and bullet", footer_entries(REPLACE))
        self._bench = bench
        self._start = find
        self._wanted = Wanted(find, "")
        self._taken: dict[str, bool] = {}
        self._seen: set[str] = set()
        self._elsewhere: Sequence[Elsewhere] = ()
        self.acts = Acts(self, self._record_here)

    def contents(self) -> Iterable[Widget]:
        """Return both lines, the places, the one under the cursor in full, and what was decided."""
        rows: LineView[Place] = LineView(
            self._draw, lambda place: place.name, empty=Content(HOW), title="Places"
        )
        return (
            _line("find", SafeInput(self._start, id="replace-find")),
            _line("replace", SafeInput(id="replace-with")),
            rows,
            ReadingPane(id="replace-place"),
            self.state,
        )

    def on_mount(self) -> None:
        """Begin with what is to be found."""
        self.query_one("#replace-find").focus()
        self._show()

    @property
    def _chosen(self) -> list[Place]:
        return [place for place in self.rows.rows if self._taken.get(place.name)]

    def _record_here(self) -> tuple[str, str] | None:
        place = self.rows.current
        return None if place is None else place_of(place.before)

    def _draw(self, place: Place, width: int) -> list[Cell]:
        taken = self._taken.get(place.name)
        mark = " " if taken is None else TAKEN if taken else LEFT
        style = "$text-success" if taken else MUTED
        remark = _MISFITS.get(place.misfit, f"{place.count}×")
        name = masked_name(place.name, self._bench.safety.masked)
        text = self._bench.safety.masked(_told(place.before)[:400])
        named = [Cell(printable(name), 22, MUTED, name="id")] if width >= 70 else []
        return [
            Cell(mark, 1, style),
            *named,
            Cell(printable(text), name="text"),
            Cell(remark, len(remark), MUTED, "right"),
        ]

    # Finding

    @on(Input.Submitted, "#replace-find")
    def _to_replacement(self) -> None:
        self.query_one("#replace-with").focus()

    @on(Input.Submitted, "#replace-with")
    def _listed(self) -> None:
        self._look()
        self.rows.focus()

    def _look(self, **how: bool) -> None:
        find, new = (
            self.query_one(f"#replace-{name}", SafeInput).value for name in ("find", "with")
        )
        self._wanted = self._wanted._replace(find=find, replacement=new, **how)
        self._find(self._wanted)

    @work(exclusive=True, group="replace-find", description="the places")
    async def _find(self, wanted: Wanted) -> None:
        places, problem, replacing = tuple[Place, ...](), keyed(NOWHERE), self._bench.replacing
        self._elsewhere = ()
        try:
            places = await asyncio.to_thread(replacing.places, wanted)
            self._elsewhere = await asyncio.to_thread(replacing.elsewhere, wanted)
        except WorkbenchError as error:
            problem = str(error)
        names = [place.name for place in places]
        self._taken = {name: self._taken[name] for name in names if name in self._taken}
        self.rows.set_empty(body(problem))
        self.rows.set_rows(places, cursor=0)
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
        place, mask = self.rows.current, self._bench.safety.masked
        shown = BLANK
        if place is not None:
            shown = Content("\n\n").join(
                word_diff(mask(old), mask(new)) for old, new in place.texts
            )
            self._seen.add(place.name)
        self.query_one(ReadingPane).show(shown)
        self.tell(" · ".join(self._state()) if self._wanted.find else "", MUTED)

    def _state(self) -> Iterator[str]:
        """Yield how many places there are and what was decided, how it is looked for, and where
        else it stands.
        """
        if self.rows.rows or self._taken:
            chosen, left = self._chosen, list(self._taken.values()).count(False)
            unseen = sum(place.name not in self._seen for place in chosen)
            yield amount(len(self.rows.rows), "place")
            yield f"{len(chosen)} to replace" + (f", {unseen} of them not viewed" if unseen else "")
            yield f"{left} skipped"
        yield "whole words" if self._wanted.word else f"{key_of('replace.word')}: whole words"
        yield from ["in any case"] * self._wanted.ignore_case + [
            "in names too"
        ] * self._wanted.names
        named = [e for e in self._elsewhere if e.kind in _NAMED]
        kept = [e for e in self._elsewhere if e.kind not in _NAMED]
        yield from [f"{key_of('replace.names')}: also in {_counted(named)}"] if named else []
        yield from [f"stays in {_counted(kept)}"] if kept else []

    def action_take(self) -> None:
        """Take this place, and go to the next one."""
        place = self.rows.current
        if place is not None and place.misfit:
            self.tell(f"✗ {_MISFITS[place.misfit]}: it stays as it is.", "$text-error")
        elif place is not None:
            self._decide(place, taken=True)

    def action_leave(self) -> None:
        """Leave this place as it is, and go to the next one."""
        if (place := self.rows.current) is not None:
            self._decide(place, taken=False)

    def _decide(self, place: Place, *, taken: bool) -> None:
        self._taken[place.name] = taken
        self.rows.refresh_row(self.rows.cursor)
        self.rows.action_down()
        self._show()

    def action_all(self) -> None:
        """Take every place that was not left out."""
        for at, place in enumerate(self.rows.rows):
            if not place.misfit:
                self._taken.setdefault(place.name, True)
            self.rows.refresh_row(at)
        self._show()

    def action_next_part(self) -> None:
        """To the next line, or to the places."""
        self.focus_next()

    # Writing

    def action_write(self) -> None:
        """Replace in what was taken, and in its files after a yes."""
        chosen = self._chosen
        if not chosen:
            self.tell(keyed(NOTHING), "$text-error")
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
        self.tell(f"✗ {error}", "$text-error")


def _line(label: str, field: SafeInput) -> Horizontal:
    return Horizontal(Static(label, classes="replace--label"), field, classes="replace--line")


def _counted(found: Iterable[Elsewhere]) -> str:
    return ", ".join(f"{count} {_ELSEWHERE[kind][count != 1]}" for kind, count in found)


def _told(record: Replaceable) -> str:
    if isinstance(record, Section):
        return record.title
    return record.line if isinstance(record, Memory) else record.content


# Choosing how the Stream is arranged: the order of the list, and the views that a person saves.


LONGEST = 60
"""Characters of a view's name at most."""

READY_MADE = {
    "": ("Everything", "newest first"),
    "type:error,failure since:7d": (
        "Errors and failures of the last week",
        "type:error,failure since:7d",
    ),
    "status:confirmed,promoted": ("Confirmed", "status:confirmed,promoted"),
    "is:reflection": ("Reflections", "is:reflection"),
    "pinned:yes": ("Pinned", "pinned:yes"),
    "is:harmful": ("Voted harmful", "is:harmful"),
    "is:flagged": ("Flagged: secrets, orders, hidden characters", "is:flagged"),
    "status:archived": ("Archived and forgotten", "status:archived"),
}

_SAVE, _REMOVE, _SAVED, _MADE = "save", "remove", "saved:", "made:"
_FOUND = "found"
_NOT_KEPT = "The demo keeps no settings, so it is gone when you leave."


async def choose_order(area: AreaScreen, arranged: Arranged) -> Arranged:
    """Ask for an order; the present one once more turns it round."""
    now, base = arranged.order, arranged.order.removeprefix(TURNED)
    choices = [Choice(_FOUND, "default order", "newest first; with words, best match first")]
    for order in ORDERS:
        remark = order.turned if order.id == now else order.first
        choices.append(
            Choice(order.id, order.id, f"now; again: {remark}" if order.id == base else remark)
        )
    chosen = await area.app.push_screen_wait(Choose("Sort by", choices, base or _FOUND))
    if chosen is None:
        return arranged
    return arranged._replace(
        order="" if chosen == _FOUND else f"{TURNED}{chosen}" if chosen == now else chosen
    )


async def choose_view(
    area: AreaScreen, saved: dict[str, SavedView], shown: SavedView
) -> SavedView | None:
    """Ask for a view; return what to show, or `None` where nothing else is to be shown than is
    `shown`.
    """
    mask = area.bench.safety.masked
    choices = [Choice(_SAVE, "Save this view as …", mask(shown.filter.strip() or "everything"))]
    choices += _saved_choices(area, saved, _SAVED)
    choices += [Choice(f"{_MADE}{filter}", *words) for filter, words in READY_MADE.items()]
    choices += [Choice(_REMOVE, "Remove a saved view …")] if saved else []
    # The cursor stands on what is shown, so that enter without a move changes nothing.
    same = (name for name, view in saved.items() if view[1:] == shown[1:])
    present = next((f"{_SAVED}{name}" for name in same), f"{_MADE}{shown.filter}")
    chosen = await area.app.push_screen_wait(Choose("Views", choices, present)) or ""
    if chosen == _SAVE:
        await _save(area, saved, shown)
    elif chosen == _REMOVE:
        await _remove(area, saved)
    elif chosen.startswith(_SAVED):
        return saved[chosen.removeprefix(_SAVED)]
    elif chosen:
        return SavedView("", chosen.removeprefix(_MADE), Arranged(dates=shown.arranged.dates))
    return None


def _saved_choices(area: AreaScreen, saved: dict[str, SavedView], prefix: str) -> list[Choice]:
    choices, mask = [], area.bench.safety.masked
    for name, view in saved.items():
        by = find_order(view.arranged.order)
        full = "dates in full" * (view.arranged.dates == "absolute")
        parts = (view.filter or "everything", f"by {by.id}" if by else "", full)
        choices.append(
            Choice(f"{prefix}{name}", mask(name), mask(f"{NO_BREAK}· ".join(filter(None, parts))))
        )
    return choices


async def _save(area: AreaScreen, saved: dict[str, SavedView], shown: SavedView) -> None:
    app = area.workbench_app
    mask, config = app.bench.safety.masked, app.options.config

    def problem(name: str) -> str | None:
        if not name:
            return "A view needs a name."
        if one_line(name, LONGEST) != name:
            return f"A name has at most {LONGEST} characters."
        return (
            "The name holds a secret, which a config file is no place for."
            if mask(name) != name
            else None
        )

    if mask(shown.filter) != shown.filter:
        app.say("The filter holds a secret, so it is not kept. Nothing was saved.", "error")
        return
    name = await app.push_screen_wait(
        Prompt("Save this view as", placeholder="a name", check=problem)
    )
    if not name:
        return
    if name in saved:
        question = f"There is a view “{name}”. Replace it?"
        if not await sure(app, question, yes="replace"):
            return
    view = shown._replace(name=name, filter=shown.filter.strip())
    with app.reporting():
        if config is not None:
            save_view(config, view)
        saved[name] = view
        kept = "" if config is not None else f" {_NOT_KEPT}"
        app.say(f"Saved as “{name}”: {key_of('stream.views')} opens it.{kept}")


async def _remove(area: AreaScreen, saved: dict[str, SavedView]) -> None:
    app = area.workbench_app
    name = await app.push_screen_wait(Choose("Remove which view?", _saved_choices(area, saved, "")))
    if name is None:
        return
    shown = app.bench.safety.masked(name)
    if await sure(app, f"Remove the view “{shown}”?", yes="remove"):
        with app.reporting():
            if app.options.config is not None:
                remove_view(app.options.config, name)
            del saved[name]
            app.say(f"The view “{shown}” is removed; no memory is.")
