"""`workbench undo`, `redo` and `history`: what was done, and the way back."""

from itertools import islice
from typing import TYPE_CHECKING

from workbench.cli.describe import compact
from workbench.cli.output import moment, plain, say, table, warn, write_json
from workbench.cli.parsing import Commands, add_command, add_json, count, wants_json
from workbench.cli.session import Session
from workbench.core.errors import UnknownRecord
from workbench.core.text import one_line

if TYPE_CHECKING:
    from workbench.bench.history import Step
    from workbench.bench.workbench import Workbench

DEFAULT = 20
SHOWN = 60
"""Cells of a value in a history line."""


def add_commands(commands: Commands) -> None:
    """Add `undo`, `redo` and `history`."""
    add_command(commands, "undo", undo, "take back your latest change", "Agents' changes are not touched.")
    add_command(commands, "redo", redo, "do again what was undone last")
    history = add_command(commands, "history", show_history, "list what was done, the newest first")
    history.add_argument("id", metavar="ID", nargs="?", help="only what changed in this memory or bullet")
    history.add_argument("-n", metavar="N", type=count, default=DEFAULT, help=f"how many (default: {DEFAULT})")
    add_json(history)


def undo(session: Session) -> int:
    """Undo and say what."""
    with session.changing() as bench:
        say(f"Undone: {bench.history.undo()}.")
    return 0


def redo(session: Session) -> int:
    """Redo and say what."""
    with session.changing() as bench:
        say(f"Done again: {bench.history.redo()}.")
    return 0


def show_history(session: Session) -> int:
    """Print transactions, or the changes of one record."""
    args = session.args
    with session.reading() as bench:
        key = None if args.id is None else _key(bench, args.id)
        steps = list(islice(bench.history.steps(key), args.n))
    if key is not None and not steps:
        raise UnknownRecord(f"Nothing called {args.id} was ever in this store.")
    if wants_json(args):
        write_json([_json(step, key is not None) for step in steps])
        return 0
    if not steps:
        warn("Nothing was done in this store yet.")
    for step, line in zip(steps, table([_row(step) for step in steps], right=(0,)), strict=True):
        say(line)
        if key is not None:
            _print_fields(step)
    return 0


def _key(bench: "Workbench", name: str) -> str:
    """Return the key of a memory or bullet; of one that is gone, the name as given."""
    from workbench.bench.votes import find_votable
    from workbench.core.playbook import Bullet

    try:
        record = find_votable(bench.context, name)
    except UnknownRecord:
        return name
    return f"{record.book}/{record.id}" if isinstance(record, Bullet) else record.id


def _row(step: "Step") -> tuple[str, ...]:
    return (str(step.rev), moment(step.at), step.actor, step.label)


def _print_fields(step: "Step") -> None:
    for field in step.fields:
        before = "" if field.before is None else f"{_value(field.before)} → "
        say(f"      {field.field}: {before}{'(default)' if field.after is None else _value(field.after)}")


def _value(value: object) -> str:
    return one_line(compact(value), SHOWN) or "(empty)"


def _json(step: "Step", with_fields: bool) -> dict[str, object]:
    doc = {"rev": step.rev, "at": plain(step.at), "actor": step.actor, "label": step.label, "kind": step.kind}
    keys = list(dict.fromkeys(field.key for field in step.fields))
    return {**doc, "records": keys, **({"fields": plain(step.fields)} if with_fields else {})}
