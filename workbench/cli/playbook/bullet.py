"""`workbench bullet`: rules of a playbook, added, edited, moved and listed from a shell."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench.cli.output import say, table, warn, write_json
from workbench.cli.parsing import Commands, Parser, add_command, add_json, wants_json
from workbench.cli.session import CLI_ACTOR, Session, actor_of
from workbench.cli.stream.append import text_of
from workbench.core.errors import UnknownRecord, WorkbenchError
from workbench.core.text import one_line

if TYPE_CHECKING:
    from workbench.bench.open import Workbench
    from workbench.core.playbook.book import Bullet, Playbook, Section

_DETAILS = """Sections are named by their id or title. Without --book the store's only playbook is meant. Each change
can be undone. An agent does not change a playbook: it votes (`workbench vote`), or suggests (`workbench curate`).

  workbench bullet add strategies "Run the migrations before the workers restart"
  workbench bullet edit shr-00001 "Never write to production without asking"
  workbench bullet move shr-00001 pitfalls
  workbench bullet list"""


def add_commands(commands: Commands) -> None:
    """Add `bullet`."""
    parser = add_command(commands, "bullet", listed, "add, edit, move or list bullets of a playbook", _DETAILS)
    steps = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Parser)
    add = add_command(steps, "add", add_bullet, "add a bullet at the end of a section")
    add.add_argument("section", metavar="SECTION")
    add.add_argument("text", metavar="TEXT", help="the rule, or - to read it from stdin")
    edit = add_command(steps, "edit", edit_bullet, "change the text of a bullet")
    edit.add_argument("id", metavar="ID")
    edit.add_argument("text", metavar="TEXT", help="the rule, or - to read it from stdin")
    move = add_command(steps, "move", move_bullet, "move a bullet to the end of another section")
    move.add_argument("id", metavar="ID")
    move.add_argument("section", metavar="SECTION")
    names = add_command(steps, "list", listed, "list the bullets with their sections and votes")
    for each in (add, edit, move, names):
        each.add_argument("--book", metavar="NAME", help="which playbook, when there are several")
        add_json(each)


def add_bullet(session: Session) -> int:
    """Add a bullet."""
    _for_a_person(session)
    args = session.args
    text = text_of(args.text)
    with session.changing() as bench:
        book = _book(bench, args.book)
        section = _section(bench.playbooks.open(book), args.section)
        id = bench.playbooks.add(book, section.id, text)
        _tell(session, {"id": id, "book": book, "section": section.id}, f"Added {id} to {one_line(section.title, 60)}.")
    return 0


def edit_bullet(session: Session) -> int:
    """Change the text of a bullet."""
    _for_a_person(session)
    args = session.args
    text = text_of(args.text)
    with session.changing() as bench:
        bullet = _bullet(bench, args.id, args.book)
        bench.playbooks.edit(bullet.book, bullet.id, text)
        _tell(session, {"id": bullet.id, "book": bullet.book}, f"Edited {bullet.id}.")
    return 0


def move_bullet(session: Session) -> int:
    """Move a bullet."""
    _for_a_person(session)
    args = session.args
    with session.changing() as bench:
        bullet = _bullet(bench, args.id, args.book)
        section = _section(bench.playbooks.open(bullet.book), args.section)
        bench.playbooks.move(bullet.book, [bullet.id], section.id)
        moved = {"id": bullet.id, "book": bullet.book, "section": section.id}
        _tell(session, moved, f"Moved {bullet.id} to {one_line(section.title, 60)}.")
    return 0


def listed(session: Session) -> int:
    """List the bullets."""
    args = session.args
    with session.reading() as bench:
        book = bench.playbooks.open(_book(bench, args.book))
        masked = bench.safety.masked
        titles = {section.id: section.title for section in book.sections}
        if wants_json(args):
            write_json([_json(bullet, masked(bullet.content)) for bullet in book.bullets])
            return 0
        rows = [
            (b.id, one_line(titles.get(b.section, b.section), 30), f"+{b.helpful_count} −{b.harmful_count}",
             one_line(masked(b.content), 100))
            for b in book.bullets
        ]  # fmt: skip
    for line in table(rows):
        say(line)
    if not rows:
        warn("The playbook has no bullets yet; `workbench bullet add SECTION TEXT` adds one.")
    return 0


def _json(bullet: "Bullet", content: str) -> dict[str, object]:
    counts = {"helpful_count": bullet.helpful_count, "harmful_count": bullet.harmful_count}
    return {"id": bullet.id, "book": bullet.book, "section": bullet.section, "content": content, **counts}


def _book(bench: "Workbench", name: str | None) -> str:
    """Return the playbook that is meant. Raises `UnknownRecord`."""
    names = [line.book.id for line in bench.playbooks.books()]
    if name in names:
        return str(name)
    if name is None and len(names) == 1:
        return names[0]
    if not names:
        raise UnknownRecord("The store has no playbook yet.", "`workbench import FILE` brings one in.")
    message = "Say which playbook." if name is None else f"There is no playbook {one_line(name, 60)}."
    raise UnknownRecord(message, f"There are: {', '.join(names)}.")


def _section(playbook: "Playbook", name: str) -> "Section":
    """Return a section by its id or title. Raises `UnknownRecord`, which names those there are."""
    wanted = name.strip().casefold()
    for section in playbook.sections:
        if wanted in (section.id.casefold(), section.title.strip().casefold()):
            return section
    known = ", ".join(one_line(section.id, 40) for section in playbook.sections) or "none"
    raise UnknownRecord(f"There is no section {one_line(name, 60)}.", f"There are: {known}. Nothing was changed.")


def _bullet(bench: "Workbench", id: str, book: str | None) -> "Bullet":
    from workbench.bench.stream.votable import find_votable
    from workbench.core.playbook.book import Bullet

    record = find_votable(bench.context, f"{book}/{id}" if book else id)
    if not isinstance(record, Bullet):
        raise UnknownRecord(f"{id} is a memory, no bullet of a playbook.", "Nothing was changed.")
    return record


def _for_a_person(session: Session) -> None:
    if actor_of(session.args) != CLI_ACTOR:
        message = "An agent does not change a playbook: it votes, or suggests with `workbench curate`."
        raise WorkbenchError(message, "Nothing was changed.")


def _tell(session: Session, values: Mapping[str, object], sentence: str) -> None:
    if wants_json(session.args):
        write_json(dict(values))
    else:
        say(f"{sentence} `workbench undo` takes it back.")
