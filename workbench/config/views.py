"""Saved views of the Stream in the person's `config.toml`: a table `[views."NAME"]` for each, read softly."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.config.writing import drop_table, put_table
from workbench.core.stream.confidence import DATES, Arranged, SavedView, find_order
from workbench.core.text import one_line

TABLE = "views"

_KEYS = ("filter", "order", "dates")


def read_views(table: object, file: str) -> tuple[tuple[SavedView, ...], list[str]]:
    """Return the views of a table and a sentence for each thing that cannot be used.

    A filter is not looked into: a view whose filter is broken opens, and says why it shows nothing.
    """
    if not isinstance(table, Mapping):
        return (), [f'{file}: "{TABLE}" is no table of saved views, so there are none.']
    views: list[SavedView] = []
    problems: list[str] = []
    for name, raw in table.items():
        shown = f'{file}: the view "{one_line(str(name), 60)}"'
        if not isinstance(raw, Mapping) or not isinstance(raw.get("filter", ""), str):
            problems.append(f"{shown} has no filter that is text, so it is left out.")
            continue
        order, dates = raw.get("order", ""), raw.get("dates", "")
        known_order = order == "" or (isinstance(order, str) and find_order(order) is not None)
        known_dates = next((one for one in DATES if one == dates), None)
        if not known_order:
            problems.append(f"{shown} names no order that there is; it opens as it is found.")
        if known_dates is None:
            problems.append(f'{shown} has dates that are neither "relative" nor "absolute"; they are as usual.')
        problems += [
            f'{shown} has an unknown key "{one_line(key, 60)}"; it is ignored.' for key in raw if key not in _KEYS
        ]
        arranged = Arranged(str(order) if known_order else "", known_dates or "")
        views.append(SavedView(str(name), raw.get("filter", ""), arranged))
    return tuple(views), problems


def show_views(views: Sequence[SavedView]) -> list[str]:
    """Return saved views as lines of the file."""
    import json

    lines: list[str] = []
    for view in views:
        lines += ["", f"[{TABLE}.{json.dumps(view.name, ensure_ascii=False)}]"]
        lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in _values(view).items()]
    return lines


def save_view(path: Path, view: SavedView) -> None:
    """Write a view into the file, in place of one of its name; raises what `put_table` does."""
    put_table(path, (TABLE, view.name), _values(view))


def remove_view(path: Path, name: str) -> None:
    """Take a view out of the file; raises what `drop_table` does."""
    drop_table(path, (TABLE, name))


def _values(view: SavedView) -> dict[str, str]:
    values = {"filter": view.filter, "order": view.arranged.order, "dates": view.arranged.dates}
    return {key: value for key, value in values.items() if value or key == "filter"}
