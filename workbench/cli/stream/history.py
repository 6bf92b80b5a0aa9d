"""`workbench undo`, `redo` and `history`: what was done, and the way back."""

import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from workbench.cli.describe import compact
from workbench.cli.output import fail, moment, plain, say, table, warn, write_json
from workbench.cli.parsing import Commands, add_command, add_json, count, wants_json
from workbench.cli.safety.flags import Shown, add_secrets
from workbench.cli.session import PROBLEM, Session
from workbench.core.record import parse_time
from workbench.core.text import one_line

if TYPE_CHECKING:
    from workbench.services.health.history import Event, FieldEvent

DEFAULT = 20
SHOWN = 60
"""Cells of a value in a history line."""

_UNDO = """Without an option: your own latest change; what agents did is not touched. --rev takes back any change that
`workbench history` lists, --group all parts of an import that was stopped. A change that something later
stands on is not taken back; both values are named then."""


def add_commands(commands: Commands) -> None:
    """Add `undo`, `redo` and `history`."""
    parser = add_command(commands, "undo", undo, "take back your latest change, or any one", _UNDO, example="--rev 41")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--rev", metavar="REV", type=count, help="the change with this revision, whoever made it")
    which.add_argument("--group", metavar="NAME", help="everything that was written under this name")
    add_json(parser)
    add_json(add_command(commands, "redo", redo, "do again what was undone last", example=""))
    history = add_command(
        commands, "history", show_history, "list what was done, the newest first",
        example="mem-20261121-0000001 --values",
    )  # fmt: skip
    history.add_argument("id", metavar="ID", nargs="?", help="only what changed in this record, with every value")
    history.add_argument("-n", metavar="N", type=count, default=DEFAULT, help=f"how many (default: {DEFAULT})")
    history.add_argument("--values", action="store_true", help="show every value before and after")
    history.add_argument("--reads", action="store_true", help="list what agents read and what files were written, too")
    add_secrets(history)
    add_json(history)


def undo(session: Session) -> int:
    """Undo and say what, or say what stands in the way."""
    from workbench.core.change import UndoConflict, told

    args = session.args
    with session.changing() as bench:
        history = bench.history
        try:
            if args.rev is not None:
                label = history.undo_revision(args.rev)
            else:
                label = history.undo() if args.group is None else history.undo_group(args.group)
        except UndoConflict as conflict:
            fail(conflict)
            for clash in conflict.clashes[1:]:
                warn(f"      {clash.key} {clash.name}: now {told(clash.present)}, would become {told(clash.wanted)}")
            return PROBLEM
        revision = bench.library.revision
    if wants_json(args):
        write_json({"undone": label, "revision": revision})
    else:
        say(f"Undone: {label}.")
    return 0


def redo(session: Session) -> int:
    with session.changing() as bench:
        label, revision = bench.history.redo(), bench.library.revision
    if wants_json(session.args):
        write_json({"redone": label, "revision": revision})
    else:
        say(f"Done again: {label}.")
    return 0


def show_history(session: Session) -> int:
    """Print transactions, or the changes of one record."""
    args = session.args
    with session.reading() as bench:
        place = None if args.id is None else bench.history.place_of(args.id)
        shown = Shown(bench, secrets=args.show_secrets)
        found: Iterator[Event] = islice(bench.history.events(place, accesses=args.reads), args.n)
        if not (values := wants_json(args) or args.values or place is not None):
            found = (replace(event, fields=()) for event in found)
        events = [shown(event) for event in found]
    if wants_json(args):
        write_json([_json(event) for event in events])
        shown.remark()
        return 0
    if not events:
        warn("Nothing was done in this store yet.")
    for event, line in zip(events, table([_row(event) for event in events], right=(0,)), strict=True):
        say(line)
        if values:
            _print_fields(event, place is None)
    shown.remark()
    return 0


def _row(event: "Event") -> tuple[str, ...]:
    return (str(event.rev), moment(parse_time(event.at)), event.actor, event.label)


def _print_fields(event: "Event", with_keys: bool) -> None:
    for field in event.fields:
        say(f"      {f'{field.key} ' if with_keys else ''}{field.field}: {_change(field)}")


def _change(field: "FieldEvent") -> str:
    if field.redacted:
        return "(purged)"
    if field.step is not None:
        return f"{field.step:+g}"
    old, new = compact(field.before), compact(field.after)
    start = 0 if field.before is None or field.after is None else _start(old, new)
    before = "" if field.before is None else f"{_value(old, start)} → "
    return f"{before}{'(default)' if field.after is None else _value(new, start)}"


def _start(old: str, new: str) -> int:
    """Return from which character on two texts are shown, so that what differs is in sight."""
    same = len(os.path.commonprefix((old, new)))  # noqa: RUF071 - letters of texts, not parts of paths
    if same < SHOWN // 2 or max(len(old), len(new)) <= SHOWN:
        return 0
    cut = same - SHOWN // 6
    space = old.rfind(" ", cut - SHOWN // 6, cut)
    return space + 1 if space >= 0 else cut


def _value(text: str, start: int) -> str:
    return one_line(f"… {text[start:]}" if start else text, SHOWN) or "(empty)"


def _json(event: "Event") -> dict[str, object]:
    keys = list(dict.fromkeys(field.key for field in event.fields))
    return {
        "rev": event.rev, "at": event.at, "actor": event.actor, "label": event.label, "kind": event.kind,
        "group": event.group, "target": event.target, "records": keys, "fields": plain(event.fields),
    }  # fmt: skip
