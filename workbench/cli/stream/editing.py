"""`workbench edit`, `pin`, `forget` and `unforget`: the daily care of single memories and bullets.

Inside an agent, or with --actor, nothing is changed at once: another text and a forgetting become proposals that wait
in Review, as over MCP; the rest is for a person.
"""

import os
import sys
from argparse import BooleanOptionalAction, Namespace
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from workbench.cli.naming import UNCHANGED, memories, records
from workbench.cli.output import say, write_json
from workbench.cli.parsing import (
    Commands,
    Parser,
    add_actor,
    add_command,
    add_json,
    add_keep,
    level,
    points,
    wants_json,
)
from workbench.cli.session import CLI_ACTOR, Session, keeps
from workbench.cli.stream.append import tags_of, text_of
from workbench.cli.stream.copies import NOTHING_TOLD, Told, tell, with_copies
from workbench.core.agents.actors import require_person
from workbench.core.playbook.book import Bullet
from workbench.core.record import Conflict, InvalidQuery, WorkbenchError
from workbench.core.stream.memory import MEMORY_TYPES, OBSERVATION_TYPES, Memory
from workbench.core.text import clean_for_store

if TYPE_CHECKING:
    from workbench.services.open import Workbench
    from workbench.services.stream.fields import FieldEdit

_EDIT = """Changes the text of a memory, and any field that says something of it; --also gives further memories the same
values, all of them or none. A bullet has a text and --section. Without anything to change the text opens in your editor
(`editor` in the config, else $VISUAL, $EDITOR). An empty value empties a field: --summary "". --status takes candidate
(it waits in Review then) and confirmed; `forget`, `review promote` and `undo` lead to the others. By an agent another
text becomes a question that waits in Review; the other fields are for a person. Where copies of the text stand
elsewhere (CLAUDE.md, a playbook, an insight), they are shown; on a terminal you are asked, else --copies updates them,
all as one action with one undo. A file that somebody changed since stays as it is.

  workbench edit mem-20261121-0000001 "Deploys need AUTH_SECRET in CI" --type gotcha
  workbench edit mem-20261121-0000001 --also mem-20261121-0000002 --add-tag ci
  git log -1 --format=%b | workbench edit mem-20261121-0000001 -"""

_PIN = """What is pinned does not decay, is never archived by age, and stands first in what an agent is served. IDs are
those of memories or bullets.

  workbench pin mem-20261121-0000001 shr-00004
  workbench pin shr-00004 --off"""

_FORGET = """Archives memories: they are served to no agent any more. Nothing is erased (`workbench purge` does that),
and `workbench undo` or `workbench unforget` brings them back. By an agent it is a question that waits in Review.

  workbench forget mem-20261121-0000001 mem-20261121-0000002 --reason "the job is gone\""""

_UNFORGET = """Brings archived memories back with the status they had: forgotten, rejected, pruned, superseded or done
ones. What was merged comes back by undoing the merge. (`restore` is another thing: it makes a store of a backup.)

  workbench unforget mem-20261121-0000001"""

_ACTOR = "the agent this is done by (otherwise: the agent that runs the command, or you)"


def add_commands(commands: Commands) -> None:
    """Add `edit`, `pin`, `forget` and `unforget`."""
    edit = add_command(commands, "edit", edit_records, "change the text or any field of a memory, or a bullet", _EDIT)
    edit.add_argument("id", metavar="ID", help="a memory's id, or a bullet's (BOOK/ID when several playbooks have it)")
    edit.add_argument("text", metavar="TEXT", nargs="?", help="the text, or - to read it from stdin")
    edit.mixes = True
    also = "update its copies too: files it was promoted or exported to, bullets and insights that say the same"
    edit.add_argument("--copies", action=BooleanOptionalAction, help=also)
    _add_fields(edit)
    add_actor(edit, "what is given")
    pin = add_command(commands, "pin", pin_records, "pin memories or bullets, so that they do not decay", _PIN)
    pin.add_argument("ids", metavar="ID", nargs="+")
    pin.add_argument("--off", action="store_true", help="unpin them")
    forget = add_command(commands, "forget", forget_memories, "archive memories; nothing is erased", _FORGET)
    forget.add_argument("ids", metavar="ID", nargs="+")
    forget.add_argument("--reason", metavar="TEXT", default="", help="why; a person sees it where an agent asks")
    add_keep(forget, "the reason")
    unforget = add_command(commands, "unforget", unforget_memories, "bring archived memories back", _UNFORGET)
    unforget.add_argument("ids", metavar="ID", nargs="+")
    for parser in (pin, forget, unforget):
        parser.add_argument("--actor", metavar="NAME", help=_ACTOR)
    for parser in (edit, pin, forget, unforget):
        add_json(parser)


def _add_fields(edit: Parser) -> None:
    edit.add_argument("--content", metavar="TEXT", help="the text, as after ID")
    edit.add_argument("--also", metavar="ID", action="append", default=[], help="another memory; several times")
    edit.add_argument("--summary", metavar="TEXT", help="the line that lists show")
    edit.add_argument("--type", metavar="T", choices=OBSERVATION_TYPES, help="observation type")
    edit.add_argument("--memory-type", metavar="M", choices=MEMORY_TYPES, help="memory type")
    edit.add_argument("--importance", metavar="N", type=points, help="0 to 10")
    edit.add_argument("--confidence", metavar="N", type=level, help="0 to 5")
    edit.add_argument("--tags", metavar="A,B", help="all tags, with commas between")
    edit.add_argument("--add-tag", metavar="T", action="append", default=[], help="one tag more; several times")
    edit.add_argument("--remove-tag", metavar="T", action="append", default=[], help="one tag less; several times")
    edit.add_argument("--category", metavar="C", help="command, convention, gotcha, …")
    edit.add_argument("--section", metavar="S", help="its section; a bullet moves to the end of it")
    edit.add_argument("--related", metavar="ID,ID", help="the memories it refers to, with commas between")
    edit.add_argument("--note", metavar="TEXT", help="a note for people; no agent reads it")
    edit.add_argument("--session", metavar="S", help="the agent session it comes from")
    edit.add_argument("--speaker", metavar="WHO", help="who said it: user, assistant, tool or a name")
    edit.add_argument("--status", metavar="S", choices=("candidate", "confirmed"), help="candidate or confirmed")


def edit_records(session: Session) -> int:
    """Change the text and fields, or open the text in an editor."""
    wanted = _wanted(session.args)
    with session.changing() as bench:
        found = records(bench, [session.args.id, *session.args.also])
        if not wanted.named:
            return _in_editor(session, bench, found)
        bullet = next((record for record in found if isinstance(record, Bullet)), None)
        if bullet is not None and (len(found) > 1 or set(wanted.named) - {"content", "section"}):
            raise InvalidQuery(f"{bullet.id} is a bullet: it has a text and a section, and is edited alone.", UNCHANGED)
        if bench.context.actor != CLI_ACTOR and wanted.named == ("content",) and isinstance(found[0], Memory):
            return _ask_to_replace(session, bench, found[0], wanted.content or "")
        changed, told = _edit(session, bench, found, wanted)
        return _report_edit(session, bench, found[0].id, changed, told)


def _edit(
    session: Session, bench: "Workbench", found: "Sequence[Memory | Bullet]", wanted: "FieldEdit"
) -> "tuple[Sequence[str], Told | None]":
    """Write new values, with the copies of what is corrected where that is wanted; return what differs now."""
    ids, places = [record.id for record in found], [_place(record) for record in found]
    changed: list[str] = []

    def write() -> None:
        one = found[0]
        changed[:] = bench.fields.edit(ids, wanted) if isinstance(one, Memory) else _edit_bullet(bench, one, wanted)

    if keeps(session.args) or _hides(bench, wanted.content):
        with bench.safety.keeping(f"edit {_named(ids)}", wanted.typed if keeps(session.args) else (), lambda: places):
            write()
        return changed, None
    corrected = [_as_edited(bench, record, wanted) for record in found]
    return changed, with_copies(session, bench, corrected, write, f"edit {_named(ids)}")


def _hides(bench: "Workbench", text: str | None) -> bool:
    """Tell whether a text is stored with a secret masked: then it is not what copies are to say."""
    return text is not None and bench.safety.masked(text) != clean_for_store(text)


def _as_edited(
    bench: "Workbench", record: Memory | Bullet, wanted: "FieldEdit"
) -> "tuple[Memory | Bullet, Memory | Bullet]":
    if isinstance(record, Memory):
        return record, bench.fields.edited(record, wanted)
    return bench.playbooks.edited(record.book, record.id, wanted.content or record.content)


def pin_records(session: Session) -> int:
    """Pin, or let go."""
    pinned = not session.args.off
    with session.changing() as bench:
        require_person(bench.context.actor, "pin or unpin anything")
        every = records(bench, session.args.ids)
        found = [record for record in every if record.pinned != pinned]
        with ExitStack() as stack:
            if found:
                label = f"{'pin' if pinned else 'unpin'} {_named([record.id for record in found])}"
                stack.enter_context(bench.library.transaction(bench.context.actor, label))
            for record in found:
                if isinstance(record, Memory):
                    bench.stream.pin([record.id], pinned)
                else:
                    bench.playbooks.pin(record.book, [record.id], pinned)
    ids, verb = [record.id for record in every], "Pinned" if pinned else "Unpinned"
    said = f"{verb} {_named(ids)}. `workbench undo` takes it back." if found else f"{verb} already: {_named(ids)}."
    return _tell(session, {"ids": ids, "pinned": pinned}, said)


def forget_memories(session: Session) -> int:
    """Archive, or ask for it as an agent."""
    args = session.args
    reason, kept = " ".join(clean_for_store(args.reason).split()), keeps(args)
    with session.changing() as bench:
        found = memories(bench, args.ids)
        if bench.context.actor != CLI_ACTOR:
            return _ask_to_forget(session, bench, found, reason)
        ids = [memory.id for memory in found]
        label = f"forget {_named(ids)}" + (f": {reason}" if reason else "")
        with bench.library.transaction(bench.context.actor, label):
            bench.stream.forget(ids)
            if kept:
                bench.safety.keep_typed(reason)
    return _tell(session, {"ids": ids}, f"Forgot {_named(ids)}. `workbench undo` takes it back.")


def unforget_memories(session: Session) -> int:
    """Bring back."""
    with session.changing() as bench:
        require_person(bench.context.actor, "bring anything back")
        ids = [memory.id for memory in memories(bench, session.args.ids)]
        bench.stream.restore(ids)
    return _tell(session, {"ids": ids}, f"Brought back {_named(ids)}. `workbench undo` takes it back.")


def _wanted(args: Namespace) -> "FieldEdit":
    from workbench.services.stream.fields import FieldEdit

    if args.text is not None and args.content is not None:
        raise InvalidQuery("The text was given twice.", f"{UNCHANGED} Leave out --content.")
    text = args.content if args.text is None else args.text
    return FieldEdit(
        content=None if text is None else text_of(text), summary=args.summary,
        observation_type=args.type, memory_type=args.memory_type, importance=args.importance,
        confidence=args.confidence, tags=_listed(args.tags), added=tags_of(args.add_tag),
        removed=tags_of(args.remove_tag), category=args.category, section=args.section,
        related=_listed(args.related), note=args.note, session=args.session, speaker=args.speaker, status=args.status,
    )  # fmt: skip


def _listed(given: str | None) -> tuple[str, ...] | None:
    return None if given is None else tags_of(given.split(","))


def _in_editor(session: Session, bench: "Workbench", found: "Sequence[Memory | Bullet]") -> int:
    """Open the text of one record in the person's editor, and store what they saved."""
    from workbench.config import editor
    from workbench.services.stream.fields import FieldEdit

    if len(found) > 1:
        raise InvalidQuery("The editor opens one text at a time.", f"{UNCHANGED} Say which field is to change.")
    if bench.context.actor != CLI_ACTOR:
        raise WorkbenchError("An agent has no editor here.", f"{UNCHANGED} Give the text after the id.")
    setting = session.settings().settings.editor
    known = setting or os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not known and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise WorkbenchError("There is no terminal for an editor.", f"{UNCHANGED} Give the text after the id.")
    record = found[0]
    saved = editor.edit(record.content, setting)
    if saved is None:
        return _report_edit(session, bench, record.id, (), None)
    if records(bench, [_place(record)])[0].content != record.content:
        raise Conflict(f"{record.id} was changed by someone else meanwhile.", "Nothing was written.")
    changed, told = _edit(session, bench, found, FieldEdit(content=saved))
    return _report_edit(session, bench, record.id, changed, told)


def _edit_bullet(bench: "Workbench", bullet: Bullet, wanted: "FieldEdit") -> list[str]:
    require_person(bench.context.actor, "change a bullet")
    bench.playbooks.edit(bullet.book, bullet.id, wanted.content, section=wanted.section)
    now = bench.playbooks.bullet(bullet.book, bullet.id)
    return [] if now == bullet else [bullet.id]


def _ask_to_replace(session: Session, bench: "Workbench", memory: Memory, text: str) -> int:
    from workbench.services.agents.requests import AgentRequests
    from workbench.services.stream.observation import Observation

    same = Observation(text, memory.observation_type, memory.memory_type, memory.session_id, memory.tags)
    proposal = AgentRequests(bench.context).replace(memory, same)
    said = f"A person is asked whether this takes the place of {memory.id}; until then nothing changes."
    return _tell(session, {"id": memory.id, "changed": False, "ids": [], "proposed": proposal.id}, said)


def _ask_to_forget(session: Session, bench: "Workbench", found: Sequence[Memory], reason: str) -> int:
    from workbench.services.agents.requests import AgentRequests

    done = AgentRequests(bench.context).forget(found, (), bench.safety.masked(reason))
    return _tell(session, dict(done), "A person is asked; until then nothing changes.")


def _place(record: Memory | Bullet) -> str:
    return record.id if isinstance(record, Memory) else f"{record.book}/{record.id}"


def _named(ids: Sequence[str]) -> str:
    return ids[0] if len(ids) == 1 else f"{len(ids)} records"


def _report_edit(session: Session, bench: "Workbench", id: str, changed: Sequence[str], told: Told | None) -> int:
    said = (
        f"Edited {_named(changed)}. `workbench undo` takes it back."
        if changed
        else "Nothing differs; nothing was changed."
    )
    copies = {} if told is None or told == NOTHING_TOLD else told.values(bench)
    code = _tell(session, {"id": id, "changed": bool(changed), "ids": list(changed), **copies}, said)
    if told is not None and changed and not wants_json(session.args):
        tell(bench, told, "`workbench undo`, then the same with --copies, updates them too.")
    return code


def _tell(session: Session, values: dict[str, object], sentence: str) -> int:
    if wants_json(session.args):
        write_json(values)
    else:
        say(sentence)
    return 0
