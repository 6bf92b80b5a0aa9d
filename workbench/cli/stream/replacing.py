"""`workbench replace`: other words in every record that holds them, each one seen first."""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from workbench.cli.output import say, warn, write_json
from workbench.cli.parsing import Commands, add_command, add_json, wants_json
from workbench.cli.session import Session
from workbench.cli.stream.copies import Told, are_wanted, tell
from workbench.cli.worddiff import word_diff
from workbench.core.agents.actors import require_person
from workbench.core.record import UnknownRecord, WorkbenchError
from workbench.core.text import counted

if TYPE_CHECKING:
    from workbench.services.open import Workbench
    from workbench.services.stream.replacing import Elsewhere, Misfit, NameKind, Place, Wanted

_REPLACE = """Shows every memory and bullet that holds FIND, with its words in place, and asks about each: a takes it,
x leaves it, A takes all that are left, q stops there. What you took is written as one action with one undo; nothing
else changes. Archived memories are left out. Without a terminal --yes takes all places, --only some of them.
Tags, categories and titles of sections are places with --names; where else it stands and stays is said at the end.

  workbench replace authd gatekeeper --word --names
  workbench replace "npm run" "pnpm run" --filter type:command --dry-run
  workbench replace authd gatekeeper --only mem-20261121-0000001,main/ops-00002"""

_MISFITS: "dict[Misfit, str]" = {
    "long": "it would be too long", "empty": "nothing would be left of it",
    "taken": "a section has that title already",
}  # fmt: skip

_ELSEWHERE: "dict[NameKind, tuple[str, str]]" = {
    "tag": ("tag", "tags"), "category": ("category", "categories"),
    "section": ("title of a section", "titles of sections"), "query": ("saved query", "saved queries"),
    "view": ("saved view", "saved views"), "pattern": ("pattern", "patterns"),
}  # fmt: skip
"""What a name stands in besides the texts, one and several."""

_NAMED = ("tag", "category", "section")
"""What --names takes along."""

NOT_WRITTEN = "Nothing was changed."


def add_commands(commands: Commands) -> None:
    """Add `replace`."""
    from argparse import BooleanOptionalAction

    title = "find and replace in all memories and bullets"
    command = add_command(commands, "replace", replace_words, title, _REPLACE)
    command.add_argument("find", metavar="FIND", help="the exact words to find")
    command.add_argument("replacement", metavar="REPLACEMENT", help="the replacement; may be empty")
    command.add_argument("--word", action="store_true", help="only where they are no part of a longer word")
    command.add_argument("--ignore-case", action="store_true", help="in whatever case")
    named = "also in tags, categories, and titles of sections"
    command.add_argument("--names", action="store_true", help=named)
    command.add_argument("--filter", metavar="F", help="only in these memories, and in no bullets")
    command.add_argument("--only", metavar="ID,ID", help="only in these, unasked; bullets as BOOK/ID")
    command.add_argument("--yes", action="store_true", help="in all of them, unasked")
    command.add_argument("--dry-run", action="store_true", help="only show the places")
    also = "in the files that hold these records too: those they were promoted or exported to"
    command.add_argument("--copies", action=BooleanOptionalAction, help=also)
    add_json(command)


def replace_words(session: Session) -> int:
    """Show the places, ask about them, and replace."""
    from workbench.services.stream.replacing import Wanted

    args = session.args
    wanted = Wanted(args.find, args.replacement, args.word, args.ignore_case, args.names)
    with session.reading() if args.dry_run else session.changing() as bench:
        if not args.dry_run:
            require_person(bench.context.actor, "replace words across the store")
        among = None if args.filter is None else bench.stream.view(args.filter).memories
        places = _only(args.only, bench.replacing.places(wanted, among))
        if args.dry_run or not places:
            return _show(session, bench, places, bench.replacing.elsewhere(wanted))
        chosen = _chosen(session, bench, places)
        plan = bench.replacing.copies(chosen)
        question = f"Replace in {counted(len(plan.updated), 'file')} too?"
        along = bool(plan.updated) and are_wanted(session, bench, plan.updated, question)
        if bench.safety.masked(args.replacement) != args.replacement:
            warn("The replacement holds a secret, which is stored masked.")
        bench.replacing.carry_out(wanted, chosen, plan if along else None)
        told = Told(plan.updated if along else (), plan.left if along else plan.copies, ())
        return _report(session, bench, wanted, chosen, told)


def _stays(elsewhere: "Sequence[Elsewhere]") -> None:
    """Say where else it stands, and what takes that along."""
    if not elsewhere:
        return
    said = ", ".join(counted(count, *_ELSEWHERE[kind]) for kind, count in elsewhere)
    more = " --names takes tags, categories and titles along." if any(e.kind in _NAMED for e in elsewhere) else ""
    stays = "which stays as it is" if sum(count for _, count in elsewhere) == 1 else "which stay as they are"
    warn(f"It stands in {said} too, {stays}.{more}")


def _only(names: str | None, places: "Sequence[Place]") -> "list[Place]":
    if names is None:
        return list(places)
    asked = [name.strip() for name in names.split(",") if name.strip()]
    known = {place.name: place for place in places}
    if missing := [name for name in asked if name not in known]:
        raise UnknownRecord(f"{missing[0]} does not hold it.", f"{NOT_WRITTEN} --dry-run lists the places.")
    return [known[name] for name in dict.fromkeys(asked)]


def _chosen(session: Session, bench: "Workbench", places: "Sequence[Place]") -> "list[Place]":
    """Return the places to replace in: all, or those that a person takes."""
    fitting = [place for place in places if not place.misfit]
    for place in places:
        if place.misfit:
            warn(f"{place.name} stays: {_MISFITS[place.misfit]}.")
    if session.args.yes or session.args.only is not None:
        return fitting
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise WorkbenchError("No terminal to ask in.", f"{NOT_WRITTEN} --yes takes all, --dry-run shows them.")
    return list(_asked(bench, fitting))


def _asked(bench: "Workbench", places: "Sequence[Place]") -> "Iterator[Place]":
    """Yield the places that a person takes, one after the other."""
    for at, place in enumerate(places):
        _print(bench, place)
        while True:
            sys.stdout.write(f"{at + 1} of {len(places)}: take, leave, all, quit [a/x/A/q]? ")
            sys.stdout.flush()
            answer = sys.stdin.readline()
            if answer.strip() in ("a", "x", "A", "q") or not answer:
                break
        if answer.strip() == "A":
            yield from places[at:]
        if answer.strip() not in ("a", "x"):
            return
        if answer.strip() == "a":
            yield place


def _show(session: Session, bench: "Workbench", places: "Sequence[Place]", elsewhere: "Sequence[Elsewhere]") -> int:
    if wants_json(session.args):
        values = {"dry_run": session.args.dry_run, "places": [_json(bench, place) for place in places], "ids": []}
        write_json({**values, "elsewhere": dict(elsewhere)})
        return 0
    for place in places:
        _print(bench, place)
    say(f"{counted(len(places), 'place')}. {NOT_WRITTEN}")
    _stays(elsewhere)
    return 0


def _report(session: Session, bench: "Workbench", wanted: "Wanted", chosen: "Sequence[Place]", told: Told) -> int:
    elsewhere = bench.replacing.elsewhere(wanted)
    if wants_json(session.args):
        values = {"dry_run": False, "places": [_json(bench, place) for place in chosen], "elsewhere": dict(elsewhere)}
        copies = {"copies": told.values(bench)["copies"]}
        write_json({**values, "ids": [place.name for place in chosen], **copies})
        return 0
    if not chosen:
        say(f"Taken nowhere. {NOT_WRITTEN}")
        return 0
    mask = bench.safety.masked
    what = chosen[0].name if len(chosen) == 1 else counted(len(chosen), "record")
    say(f"Replaced “{mask(wanted.find)}” in {what}. `workbench undo` takes it back.")
    tell(bench, told, "`workbench undo`, then the same with --copies, replaces there too.")
    _stays(elsewhere)
    return 0


def _print(bench: "Workbench", place: "Place") -> None:
    say(f"{place.name}  {counted(place.count, 'time')}")
    for line in _diff(place, bench.safety.masked).splitlines():
        say(f"  {line}")


def _diff(place: "Place", mask: Callable[[str], str]) -> str:
    return "\n".join(word_diff(mask(old), mask(new)) for old, new in place.texts)


def _json(bench: "Workbench", place: "Place") -> dict[str, object]:
    return {
        "id": place.name,
        "count": place.count,
        "diff": _diff(place, bench.safety.masked),
        "misfit": place.misfit,
    }
