"""How the Stream is arranged: the sort menu, dates in full, and the views that a person saves."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from workbench.config.views import remove_view, save_view
from workbench.core.stream.confidence import ORDERS, SCORE, TURNED, Arranged, SavedView, find_order, ordered
from workbench.core.stream.memory import Memory
from workbench.core.text import one_line
from workbench.tui.app.area import AreaScreen
from workbench.tui.stream.memory_view import Columns
from workbench.tui.widgets.dialog import Choice, Choose, Confirm
from workbench.tui.widgets.figures import NO_BREAK, tell_apart
from workbench.tui.widgets.texts.prompt import Prompt

LONGEST = 60
"""Characters of a view's name at most."""

READY_MADE = (
    Choice("", "Everything", "newest first"),
    Choice("type:error,failure since:7d", "Errors and failures of the last week", "type:error,failure since:7d"),
    Choice("status:confirmed,promoted", "Confirmed", "status:confirmed,promoted"),
    Choice("is:reflection", "Reflections", "is:reflection"),
    Choice("pinned:yes", "Pinned", "pinned:yes"),
    Choice("is:harmful", "Voted harmful", "is:harmful"),
    Choice("is:flagged", "Flagged: secrets, orders, hidden characters", "is:flagged"),
    Choice("status:archived", "Archived and forgotten", "status:archived"),
)

_SAVE, _REMOVE, _SAVED, _MADE = "save", "remove", "saved:", "made:"
_FOUND = "found"
_NOT_KEPT = "The demo keeps no settings, so it is gone when you leave."


@dataclass(frozen=True, slots=True)
class Wanted:
    """A filter to show, and how to arrange what it finds."""

    filter: str
    arranged: Arranged


class Arranging:
    """What a person chose for the list; `changed` is told of another arrangement, and whether its order is another."""

    def __init__(self, area: AreaScreen, changed: Callable[[bool], None]) -> None:
        self._area, self._changed = area, changed
        self._saved = {view.name: view for view in area.bench.context.settings.views}
        self.arranged = Arranged()
        self.scores: Mapping[str, float] = {}
        """What the last ranking gave to the memories that hold the words, where the order is by score."""

    @property
    def by_score(self) -> bool:
        """Whether a ranking has to say how much each memory is worth."""
        by = self.arranged.by
        return by is not None and by.id == SCORE

    def listed(self, found: Sequence[Memory]) -> Sequence[Memory]:
        """Return what a filter found in the order that was chosen."""
        return ordered(found, self.arranged, self.scores)

    def columns(self, found: Sequence[Memory], now: datetime) -> Columns:
        """Return what the columns of the rows show, dates in full also where others would all say the same."""
        by = self.arranged.by
        dates = self.arranged.dates
        absolute = dates == "absolute" or (not dates and not tell_apart([m.created_at for m in found], now))
        return Columns(absolute, by is not None and by.id == "read", by is not None and by.id == "confidence")

    def told(self, *, words: bool) -> str:
        """Return what is to be said of the order beside the count; nothing of the usual one."""
        by = self.arranged.by
        if by is None:
            return ""
        if by.key is None and not words:
            return "by score: needs words to rank for"
        return f"by {by.id}, {by.turned}" if self.arranged.is_turned else f"by {by.id}"

    def arrange(self, arranged: Arranged) -> None:
        """Take another arrangement."""
        before, self.arranged = self.arranged, arranged
        if before != arranged:
            self._changed(before.order != arranged.order)

    # Orders and dates

    async def sort(self) -> None:
        """Ask for an order; the present one once more turns it round."""
        now = self.arranged.order
        choices = [Choice(_FOUND, "default order", "newest first; with words, best match first")]
        for order in ORDERS:
            is_now = order.id == now.removeprefix(TURNED)
            turns = is_now and now == order.id
            remark = order.turned if turns else order.first
            choices.append(Choice(order.id, order.id, f"now; again: {remark}" if is_now else remark))
        chosen = await self._area.app.push_screen_wait(Choose("Sort by", choices, now.removeprefix(TURNED) or _FOUND))
        if chosen is not None:
            name = "" if chosen == _FOUND else f"{TURNED}{chosen}" if chosen == now else chosen
            self.arrange(self.arranged._replace(order=name))

    def turn_dates(self, *, absolute: bool) -> None:
        """Write dates the other way than they are written now."""
        self.arrange(self.arranged._replace(dates="relative" if absolute else "absolute"))

    # Views

    async def choose(self, text: str) -> Wanted | None:
        """Ask for a view; return what to show, or `None` where nothing else is to be shown. `text` is the filter."""
        saved = [Choice(f"{_SAVED}{name}", name, _remark(view)) for name, view in self._saved.items()]
        made = [Choice(f"{_MADE}{choice.id}", choice.label, choice.remark) for choice in READY_MADE]
        first = Choice(_SAVE, "Save this view as …", text.strip() or "everything")
        last = [Choice(_REMOVE, "Remove a saved view …")] if saved else []
        shown = self._area.bench.safety.masked
        choices = [Choice(c.id, shown(c.label), shown(c.remark)) for c in (first, *saved, *made, *last)]
        # The cursor stands on what is shown, so that enter without a move changes nothing.
        chosen = await self._area.app.push_screen_wait(Choose("Views", choices, self._present(text)))
        if chosen == _SAVE:
            await self._save(text)
        elif chosen == _REMOVE:
            await self._remove()
        elif chosen is not None and chosen.startswith(_SAVED):
            view = self._saved[chosen.removeprefix(_SAVED)]
            return Wanted(view.filter, view.arranged)
        elif chosen is not None:
            return Wanted(chosen.removeprefix(_MADE), Arranged(dates=self.arranged.dates))
        return None

    def _present(self, text: str) -> str:
        """Return the choice that stands for what is shown now."""
        here = (view.name for view in self._saved.values() if (view.filter, view.arranged) == (text, self.arranged))
        name = next(here, None)
        return f"{_MADE}{text}" if name is None else f"{_SAVED}{name}"

    async def _save(self, text: str) -> None:
        app = self._area.workbench_app
        if app.bench.safety.masked(text) != text:
            app.say("The filter holds a secret, so it is not kept. Nothing was saved.", "error")
            return
        name = await app.push_screen_wait(Prompt("Save this view as", placeholder="a name", check=self._name_problem))
        if not name:
            return
        if name in self._saved:
            question = f"There is a view “{name}”. Replace it?"
            if not await app.push_screen_wait(Confirm(question, clock=time.monotonic, yes="replace")):
                return
        view = SavedView(name, text.strip(), self.arranged)
        with app.reporting():
            if app.options.config is not None:
                save_view(app.options.config, view)
            self._saved[name] = view
            key = next(a.shown_key for a in self._area.as_mapped(self._area.area.actions) if a.id == "stream.views")
            kept = "" if app.options.config is not None else f" {_NOT_KEPT}"
            app.say(f"Saved as “{name}”: {key} opens it.{kept}")

    async def _remove(self) -> None:
        app = self._area.workbench_app
        mask = app.bench.safety.masked
        choices = [Choice(name, mask(name), mask(_remark(view))) for name, view in self._saved.items()]
        name = await app.push_screen_wait(Choose("Remove which view?", choices))
        if name is None:
            return
        shown = mask(name)
        question = f"Remove the view “{shown}”?"
        if await app.push_screen_wait(Confirm(question, clock=time.monotonic, yes="remove")):
            with app.reporting():
                if app.options.config is not None:
                    remove_view(app.options.config, name)
                del self._saved[name]
                app.say(f"The view “{shown}” is removed; no memory is.")

    def _name_problem(self, name: str) -> str | None:
        if not name:
            return "A view needs a name."
        if one_line(name, LONGEST) != name:
            return f"A name has at most {LONGEST} characters."
        holds = self._area.bench.safety.masked(name) != name
        return "The name holds a secret, which a config file is no place for." if holds else None


def _remark(view: SavedView) -> str:
    """Return what a saved view shows, in short."""
    by = find_order(view.arranged.order)
    parts = (
        view.filter or "everything",
        f"by {by.id}" if by else "",
        "dates in full" * (view.arranged.dates == "absolute"),
    )
    return f"{NO_BREAK}· ".join(filter(None, parts))
