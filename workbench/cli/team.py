"""`workbench store`: stores that a team shares in a PostgreSQL database."""

from collections.abc import Mapping
from pathlib import Path

from workbench.cli.output import picked, warn
from workbench.cli.session import DONE, FOUND, actor_of
from workbench.cli.verbs import Answer, Call, Option, Verb, changing, flag, unopened, value
from workbench.core import team
from workbench.core.agents.actors import require_person
from workbench.core.record import WorkbenchError
from workbench.core.text import counted

_STORE = """A team shares a store in a PostgreSQL database that it runs already: everybody works with the same
memories at once, and the database says who wrote what. Wherever --store takes a folder it takes
postgresql://ROLE@HOST/DATABASE?store=NAME, too. Passwords stand in ~/.pgpass or PGPASSWORD, never
in an address. This machine keeps a copy, which is read while the database is away. Needs the
extra: pip install 'memory-workbench[team]'.

  workbench store list"""

_INIT = """The role that connects owns the new store. It may create a schema in the database; an existing store
stays as it is."""

_COPY = """FROM and TO are a folder and an address, or an address and a new folder. The whole history comes
along with votes, judgments and undo; who acted stays as it was written. The target has to be empty,
and is compared with the source afterwards.

  workbench store copy ~/notes 'postgresql://ann@db.example.org/app?store=notes'"""

_MOVE = """Copies the store of the project here into the team's, and lets `.workbench` point to that. The
files of the old store are kept in .workbench/before-team. Commit .workbench/store.json: it names
neither a role nor a password.

  workbench store move 'postgresql://ann@db.example.org/app?store=shop'"""

_INDEX = """Other tools read the view workbench.memories, and rank it by
workbench.search_memories(STORE, QUERY, K), as the profile `engram` does. They see what agents are
served, with secrets masked, as it was when this ran last. Takes level reviewer."""

_EXTENSION = (
    "For search_memories a superuser of the database runs CREATE EXTENSION vector; then run "
    "`workbench store init` and `workbench store index` again."
)

_MEMBERS = """Levels: reader; writer (append, vote, propose); reviewer (decide, edit, merge, undo what others did);
owner (members, purge). Give agents a role of their own with --agent: what it does never counts as a
person's word. The role has to exist on the server."""

_SEE = f"""{_MEMBERS}

  workbench store members"""

_LEVELS = ("reader", "writer", "reviewer", "owner")


def list_stores(_: Call) -> Answer:
    """List the stores of teams that this machine has a copy of."""
    from workbench.services.team.admin import known

    found = list(known())
    json = [picked(one, "address", "folder", "waiting") for one in found]
    lines = [
        f"{team.shown(one.address)}  {one.address}"
        + (f"  ({counted(one.waiting, 'thing')} to deliver)" if one.waiting else "")
        for one in found
    ]
    none = ["No store of a team; `workbench store init ADDRESS` makes one."]
    return Answer({"stores": json}, lines or none)


def init(call: Call) -> Answer:
    """Make a team's store."""
    from workbench.services.team.admin import make
    from workbench.services.team.index import lacks_extension

    made = make(call.args.address)
    name = team.shown(call.args.address)
    lines = [
        f"Made the store {name}." if made else f"The store {name} was there already.",
        f"Open it: workbench --store '{call.args.address}'",
    ]
    if lacks_extension(call.args.address):
        lines.append(_EXTENSION)
    return Answer({"made": made}, lines)


def copy(call: Call) -> Answer:
    """Copy a store with its whole history into a team's, or out of it."""
    from workbench.services.team.admin import copy_in, copy_out

    source, target = call.args.source, call.args.target
    if team.is_address(source) == team.is_address(target):
        raise WorkbenchError(
            "One of the two is a folder, the other the address of a team's store.",
            "workbench store copy ~/notes 'postgresql://ann@db.example.org/app?store=notes'",
        )
    clock = call.session.clock
    if team.is_address(target):
        done = copy_in(call.path(Path(source)), target, clock)
    else:
        done = copy_out(source, call.path(Path(target)), clock)
    changes, files = counted(done.entries, "change"), counted(done.files, "file")
    said = f"Copied {changes}, compared with the source afterwards, and {files}."
    return Answer(picked(done, "entries", "files", "hash"), [said])


def move(call: Call) -> Answer:
    """Move the store of this project to its team."""
    from workbench.services.team.admin import BEFORE
    from workbench.services.team.admin import move as carry_out

    done = carry_out(call.session.cwd, call.args.address, call.session.clock)
    lines = [
        f"Copied {counted(done.entries, 'change')} to {team.shown(call.args.address)}.",
        f"This project uses it from now on; the old files are in .workbench/{BEFORE}.",
        "Commit .workbench/store.json for the others.",
    ]
    return Answer(picked(done, "entries", "files", "hash"), lines)


def sync(call: Call) -> Answer:
    """Deliver what hooks and `append` could not, and bring the copy up to date."""
    from workbench.services.team.delivery import sync as deliver

    if call.bench.library.shared is None:
        raise WorkbenchError("This is a store of your own; there is nothing to deliver.")
    done = deliver(call.bench, call.session.clock)
    revision = call.bench.library.revision
    return Answer(
        {"delivered": done, "revision": revision},
        [f"Delivered {done:,}; the copy is at revision {revision:,}."],
    )


def list_proposed(call: Call) -> Answer:
    """Show what became of the memories that were proposed to a team."""
    from workbench.services.team.proposing import answers

    found = list(answers(call.bench.library, call.session.clock))
    rows = [
        f"{one.id}  {one.state}  {one.place}" + (f"  {one.said}" if one.said else "")
        for one in found
    ]
    none = ["Nothing was proposed; `workbench review promote ID --to team` does that."]
    return Answer({"proposed": found}, [call.shown(row) for row in rows] or none)


def index(call: Call) -> Answer:
    """Let other tools read and search the store as it is now."""
    from workbench.services.team.index import fill

    _require_person(call, "say what other tools read")
    done = fill(call.bench)
    lines = [
        f"Other tools read {counted(done.items, 'memory', 'memories')} and {counted(done.vectors, 'vector')} "
        f"of revision {done.revision:,}."
    ]
    if not done.has_extension:
        lines.append(_EXTENSION)
    elif not done.takes:
        lines.append("This model makes vectors of another size than 256: they are left out.")
    return Answer(picked(done, "items", "vectors", "revision"), lines)


def check(call: Call) -> Answer:
    """Look how the team's store is reached, and what is wrong with that."""
    from workbench.services.team.admin import check as examine

    facts, problems = examine(_folder(call))
    me = facts.me
    agent = ", for agents" if me.is_agent else ""
    lines = [
        f"PostgreSQL {facts.server}, schema {facts.schema}; you are {me.role}, {me.level}{agent}.",
        f"{counted(len(facts.members), 'member')}; encrypted: {'yes' if facts.is_encrypted else 'no'}; "
        f"clock {facts.clock:+.1f} seconds.",
    ]
    for problem in problems:
        warn(problem)
    json = {
        **picked(facts, "server", "schema", "user", "me", "members", "missing"),
        "problems": problems,
    }
    return Answer(json, lines, code=FOUND if problems else DONE)


def list_members(call: Call) -> Answer:
    """Show who uses the team's store."""
    from workbench.services.team.admin import members

    found = members(_folder(call))
    lines = [f"{one.role}  {one.level}{'  for agents' if one.is_agent else ''}" for one in found]
    return Answer({"members": found}, lines)


def add_member(call: Call) -> Answer:
    """Let a role of the server use the store, or change what it may do."""
    from workbench.services.team import admin

    args = call.args
    _require_person(call, "change who uses a store")
    admin.add_member(_folder(call), args.role, args.level, is_agent=args.agent)
    json = {"role": args.role, "level": args.level, "is_agent": args.agent}
    return Answer(json, [f"{args.role} is a {args.level} of this store now."])


def remove_member(call: Call) -> Answer:
    """Take a role out of the store."""
    from workbench.services.team.admin import remove_member as remove

    _require_person(call, "change who uses a store")
    remove(_folder(call), call.args.role)
    return Answer({"removed": call.args.role}, [f"{call.args.role} is no member any more."])


def _require_person(call: Call, what: str) -> None:
    require_person(actor_of(call.args), what)


def _folder(call: Call) -> Path:
    return call.session.choice().folder


OPTIONS: Mapping[str, Option] = {
    "address": value("ADDRESS", "postgresql://ROLE@HOST/DATABASE?store=NAME"),
    "source": value("FROM", "a folder, or the address of a team's store"),
    "target": value("TO", "the address of an empty store, or a new folder"),
    "role": value("ROLE", "a role of the database server"),
    "--level": value(
        "LEVEL", "what the role may do (default: writer)", choices=_LEVELS, default="writer"
    ),
    "--agent": flag("the role is one of agents"),
}

_OF_MEMBERS = (
    Verb("list", list_members, "show who uses it", "--json", opens=unopened),
    Verb("add", add_member, "add a member, or change its level", "role --level --agent --json", _MEMBERS,
         "ann_agent --agent", unopened),
    Verb("remove", remove_member, "remove a member", "role --json", "", "bob", unopened),
)  # fmt: skip

_VERBS = (
    Verb("list", list_stores, "list the team's stores that this machine knows", "--json", opens=unopened),
    Verb("init", init, "make a team's store", "address --json", _INIT,
         "'postgresql://ann@db.example.org/app?store=main'", unopened),
    Verb("copy", copy, "copy a store to a team, or back", "source target --json", _COPY, None, unopened),
    Verb("move", move, "move this project's store to its team", "address --json", _MOVE, None, unopened),
    Verb("proposed", list_proposed, "show what became of what you proposed", "--json"),
    Verb("sync", sync, "deliver what waits", "--json", opens=changing),
    Verb("index", index, "let other tools search the team's store", "--json", _INDEX, opens=changing),
    Verb("check", check, "look how the team's store is reached", "--json", opens=unopened),
    Verb("members", list_members, "see and change who uses it", "", _SEE, None, unopened, _OF_MEMBERS),
)  # fmt: skip

VERBS = (
    Verb("store", list_stores, "share a store with a team", "", _STORE, None, unopened, _VERBS),
)
