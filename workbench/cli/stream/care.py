"""`workbench edit`, `pin`, `forget` and `unforget`: what a person does to single memories, from a shell.

Inside an agent, or with --actor, nothing is changed at once: an edit and a forgetting become proposals that wait in
Review, as over MCP.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from workbench.cli.output import say, write_json
from workbench.cli.parsing import Commands, Parser, add_actor, add_command, add_json, wants_json
from workbench.cli.session import CLI_ACTOR, Session, actor_of, keeps
from workbench.cli.stream.append import text_of
from workbench.core.errors import UnknownRecord, WorkbenchError

if TYPE_CHECKING:
    from workbench.bench.open import Workbench
    from workbench.core.stream.memory import Memory

_EDIT = """Changes the text of a memory; a title that was cut from it follows. Bullets are edited in the app, or in
their file.

  workbench edit mem-20261121-0000001 "Deploys need AUTH_SECRET in CI"
  git log -1 --format=%b | workbench edit mem-20261121-0000001 -"""

_PIN = """Pinned memories do not decay and stand first in what an agent is given. --off lets go of them.

  workbench pin mem-20261121-0000001"""

_FORGET = """Archives memories: no agent is given them any more. Nothing is erased (`workbench purge` does that), and
`workbench undo` or `workbench unforget` brings them back.

  workbench forget mem-20261121-0000001 --reason "the job is gone\""""

_UNFORGET = """Brings archived memories back into the stream, as signals or as they were confirmed.

  workbench unforget mem-20261121-0000001"""


def add_commands(commands: Commands) -> None:
    """Add `edit`, `pin`, `forget` and `unforget`."""
    parser = add_command(commands, "edit", edit, "change the text of a memory", _EDIT)
    parser.add_argument("id", metavar="ID")
    parser.add_argument("text", metavar="TEXT", help="the text, or - to read it from stdin")
    add_actor(parser)
    add_json(parser)
    parser = add_command(commands, "pin", pin, "pin memories, so that they do not decay", _PIN)
    _add_ids(parser)
    parser.add_argument("--off", action="store_true", help="let go of them")
    parser = add_command(commands, "forget", forget, "archive memories; nothing is erased", _FORGET)
    _add_ids(parser)
    parser.add_argument("--reason", metavar="TEXT", default="", help="why; a person sees it where an agent asks")
    parser = add_command(commands, "unforget", unforget, "bring archived memories back", _UNFORGET)
    _add_ids(parser)


def _add_ids(parser: Parser) -> None:
    parser.add_argument("ids", metavar="ID", nargs="+")
    parser.add_argument("--actor", metavar="NAME", help="the agent this is done by (otherwise: as for `append`)")
    add_json(parser)


def edit(session: Session) -> int:
    """Change the text of a memory."""
    args = session.args
    text, keep = text_of(args.text), keeps(args)
    with session.changing() as bench:
        (memory,) = _memories(bench, [args.id])
        if actor_of(args) != CLI_ACTOR:
            return _propose_text(session, bench, memory, text)
        with bench.safety.keeping(f"edit {memory.id}", (text,) if keep else (), lambda: (memory.id,)):
            changed = bench.stream.edit(memory.id, text)
        said = f"Edited {memory.id}." if changed else f"{memory.id} says that already."
        _tell(session, {"id": memory.id, "changed": changed}, said)
    return 0


def pin(session: Session) -> int:
    """Pin memories, or let go of them."""
    _for_a_person(session, "Pinning")
    pinned = not session.args.off
    verb = "Pinned" if pinned else "Unpinned"
    return _done(session, lambda bench, ids: bench.stream.pin(ids, pinned), verb, pinned=pinned)


def forget(session: Session) -> int:
    """Archive memories; an agent asks a person to."""
    if actor_of(session.args) == CLI_ACTOR:
        return _done(session, lambda bench, ids: bench.stream.forget(ids), "Forgot")
    with session.changing() as bench:
        from workbench.bench.agents.wishes import Wishes

        reason = bench.safety.masked(session.args.reason)
        done = Wishes(bench.context).forget(_memories(bench, session.args.ids), (), reason)
        _tell(session, done, "A person is asked; until then nothing changes.")
    return 0


def unforget(session: Session) -> int:
    """Bring archived memories back."""
    _for_a_person(session, "Bringing back")
    return _done(session, lambda bench, ids: bench.stream.restore(ids), "Brought back")


def _done(session: Session, step: "Callable[[Workbench, list[str]], object]", verb: str, **more: object) -> int:
    with session.changing() as bench:
        ids = [memory.id for memory in _memories(bench, session.args.ids)]
        step(bench, ids)
        named = ids[0] if len(ids) == 1 else f"{len(ids)} memories"
        _tell(session, {"ids": ids, **more}, f"{verb} {named}. `workbench undo` takes it back.")
    return 0


def _propose_text(session: Session, bench: "Workbench", memory: "Memory", text: str) -> int:
    from workbench.bench.agents.wishes import Wishes
    from workbench.bench.stream.observation import Observation

    same = Observation(text, memory.observation_type, memory.memory_type, memory.session_id, memory.tags)
    proposal = Wishes(bench.context).replace(memory, same)
    said = f"A person is asked whether this takes the place of {memory.id}; until then nothing changes."
    _tell(session, {"id": memory.id, "changed": False, "proposed": proposal.id}, said)
    return 0


def _memories(bench: "Workbench", names: list[str]) -> "list[Memory]":
    """Return the memories that are meant, each once. Raises `UnknownRecord`."""
    from workbench.bench.stream.votable import find_votable
    from workbench.core.stream.memory import Memory

    found = {}
    for name in names:
        record = find_votable(bench.context, name)
        if not isinstance(record, Memory):
            raise UnknownRecord(f"{name} is a bullet of a playbook, no memory.", "Nothing was changed.")
        found[record.id] = record
    return list(found.values())


def _for_a_person(session: Session, what: str) -> None:
    if actor_of(session.args) != CLI_ACTOR:
        raise WorkbenchError(f"{what} memories is for a person.", "Nothing was changed.")


def _tell(session: Session, values: Mapping[str, object], sentence: str) -> None:
    if wants_json(session.args):
        write_json(dict(values))
    else:
        say(sentence)
