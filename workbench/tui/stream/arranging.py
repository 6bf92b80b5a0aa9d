"""Choosing how the Stream is arranged: the order of the list, and the views that a person saves."""

import time

from workbench.config.views import remove_view, save_view
from workbench.core.stream.confidence import ORDERS, TURNED, Arranged, SavedView, find_order
from workbench.core.text import one_line
from workbench.tui.app.area import AreaScreen
from workbench.tui.widgets.content import key_of
from workbench.tui.widgets.dialog import Choice, Choose, Confirm
from workbench.tui.widgets.figures import NO_BREAK
from workbench.tui.widgets.texts.prompt import Prompt

LONGEST = 60
"""Characters of a view's name at most."""

READY_MADE = {
    "": ("Everything", "newest first"),
    "type:error,failure since:7d": ("Errors and failures of the last week", "type:error,failure since:7d"),
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
        choices.append(Choice(order.id, order.id, f"now; again: {remark}" if order.id == base else remark))
    chosen = await area.app.push_screen_wait(Choose("Sort by", choices, base or _FOUND))
    if chosen is None:
        return arranged
    return arranged._replace(order="" if chosen == _FOUND else f"{TURNED}{chosen}" if chosen == now else chosen)


async def choose_view(area: AreaScreen, saved: dict[str, SavedView], shown: SavedView) -> SavedView | None:
    """Ask for a view; return what to show, or `None` where nothing else is to be shown than is `shown`."""
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
        choices.append(Choice(f"{prefix}{name}", mask(name), mask(f"{NO_BREAK}· ".join(filter(None, parts)))))
    return choices


async def _save(area: AreaScreen, saved: dict[str, SavedView], shown: SavedView) -> None:
    app = area.workbench_app
    mask, config = app.bench.safety.masked, app.options.config

    def problem(name: str) -> str | None:
        if not name:
            return "A view needs a name."
        if one_line(name, LONGEST) != name:
            return f"A name has at most {LONGEST} characters."
        return "The name holds a secret, which a config file is no place for." if mask(name) != name else None

    if mask(shown.filter) != shown.filter:
        app.say("The filter holds a secret, so it is not kept. Nothing was saved.", "error")
        return
    name = await app.push_screen_wait(Prompt("Save this view as", placeholder="a name", check=problem))
    if not name:
        return
    if name in saved:
        question = f"There is a view “{name}”. Replace it?"
        if not await app.push_screen_wait(Confirm(question, clock=time.monotonic, yes="replace")):
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
    if await app.push_screen_wait(Confirm(f"Remove the view “{shown}”?", clock=time.monotonic, yes="remove")):
        with app.reporting():
            if app.options.config is not None:
                remove_view(app.options.config, name)
            del saved[name]
            app.say(f"The view “{shown}” is removed; no memory is.")
