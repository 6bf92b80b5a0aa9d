"""What the owner of a team's store does: make it, copy a store into it and out of it, let people in,
and look whether it is well.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from workbench.config import paths
from workbench.core import team
from workbench.core.files.atomic import write_file
from workbench.core.files.locks import FileLock
from workbench.core.record import StoreProblem, cannot_read, cannot_write
from workbench.core.text import counted
from workbench.services.team.reach import connected
from workbench.services.team.spool import waiting
from workbench.store import log as shared_log
from workbench.store.blobs import BlobProblem, Blobs
from workbench.store.entry import Level
from workbench.store.files import LOCK
from workbench.store.folder import belongs, id_of, is_store, share_pointer
from workbench.store.library import Library
from workbench.store.team import admin
from workbench.store.team.admin import Facts, Member
from workbench.store.team.log import TeamLog, connect

BEFORE = "before-team"
"""The folder in which the files of a store are kept that moved to its team's."""


def make(address: str) -> bool:
    """Make a team's store, owned by who connects, and bring its database up to date; tell whether
    it was made. Raises `StoreProblem`.
    """
    return admin.init(team.checked(address), shared_log.new_header())


class Copied(NamedTuple):
    """What was copied: how many entries, how many files beside them, and the hash of the last
    entry, which is the same on both sides.
    """

    entries: int
    files: int
    hash: str


def copy_in(folder: Path, address: str, clock: Callable[[], datetime]) -> Copied:
    """Copy the whole history of the store in a folder into a team's store, which must be empty; for
    its owner. Raises `StoreProblem`.
    """
    team.checked(address)
    if not is_store(folder):
        raise StoreProblem(f"There is no store in {folder}.", "Nothing was copied.")
    library = Library(folder, clock, heads=paths.heads_dir(), believed=paths.is_believed(folder))
    library.require_trust()
    if library.damage:
        raise StoreProblem(
            "This store has damaged lines, which cannot be copied.",
            "Nothing was copied; `workbench doctor` shows them.",
        )
    with closing(connect(address)) as log, library.turn():
        if log.state().rev:
            raise StoreProblem(
                f"{team.shown(address)} is not empty.", "Nothing was copied; make another store."
            )
        try:
            names = library.blobs.names()
            for name in names:
                log.put_blob(library.blobs.read(name))
            end = shared_log.load(log, folder)
        except OSError as error:
            raise cannot_read(folder, error) from error
        said = f"copied {counted(end.rev, 'change')} by {log.role}"
        shared_log.note(log, end, said)
        return Copied(end.rev, len(names), end.hash)


def copy_out(address: str, folder: Path, clock: Callable[[], datetime]) -> Copied:
    """Copy a team's store with its whole history into a new folder of one's own. Raises
    `StoreProblem`.
    """
    if is_store(folder):
        raise StoreProblem(f"{folder} already has a store.", "Nothing was copied.")
    with closing(connect(team.checked(address))) as log:
        own, kept = Blobs(folder, log), 0
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            for name in log.blob_names():
                with suppress(BlobProblem):  # a writer put other bytes there
                    own.read(name)  # which keeps it
                    kept += 1
            shared_log.Copy(folder, log, FileLock(folder / LOCK, with_folder=True)).catch_up()
        except OSError as error:
            raise cannot_write(folder, error) from error
    (folder / team.BEGUN_ANEW).unlink(missing_ok=True)
    library = Library(folder, clock, heads=paths.heads_dir())
    library.trust()
    _, rev, mark = library.named_state
    return Copied(rev, kept, mark)


def move(project: Path, address: str, clock: Callable[[], datetime]) -> Copied:
    """Copy the store of a project into a team's, and let the project point to that from now on; the
    files are kept beside the pointer. Raises `StoreProblem`.
    """
    folder = project / paths.PROJECT_STORE
    if not is_store(folder):
        raise StoreProblem(f"There is no store in {folder}.", "Nothing was moved.")
    done = copy_in(folder, address, clock)
    connected(address, paths.team_copy(address)).close()
    kept = folder / BEFORE
    try:
        kept.mkdir(mode=0o700, exist_ok=True)
        for path in sorted(folder.iterdir()):
            if belongs(path.name):
                path.rename(kept / path.name)
        (kept / ".gitignore").write_text("*\n", "utf-8")
        pointer = {"store": team.without_role(address)}
        write_file(folder / team.POINTER, f"{json.dumps(pointer)}\n".encode())
        share_pointer(folder)
    except OSError as error:
        raise cannot_write(folder, error) from error
    return done


class Known(NamedTuple):
    """This machine's copy of a team's store, and how much waits to be delivered to it."""

    address: str
    folder: Path
    id: str
    waiting: int


def known() -> Iterator[Known]:
    """Yield the stores of teams that this machine has a copy of, or something that waits for."""
    connected_to = paths.team_copies()
    for folder in paths.team_places():
        if (count := len(waiting(folder))) or folder in connected_to:
            yield Known(paths.team_address(folder), folder, id_of(folder), count)


def check(folder: Path) -> tuple[Facts, list[str]]:
    """Return how the team's store is reached that a folder is the copy of, and what is wrong with
    that, in sentences. Raises `StoreProblem`, as the others below do.
    """
    with closing(_log_of(folder)) as log:
        facts = admin.check(log)
    return facts, list(_problems(facts))


def look(library: Library) -> team.TeamState | None:
    """Return how the team's store is reached that an open store is a copy of, `None` for a store of
    its own. While it is away nothing is asked of it.
    """
    folder = library.folder
    address = paths.team_address(folder)
    if not address:
        return None
    state = team.TeamState(team.shown(address), len(waiting(folder)))
    try:
        if library.away is not None:
            raise library.away
        with closing(_log_of(folder)) as log:
            facts, behind = admin.check(log), log.state().rev - library.revision
    except StoreProblem as problem:
        return state._replace(away=str(problem))
    return state._replace(
        role=facts.me.role,
        level=facts.me.level,
        is_agent=facts.me.is_agent,
        server=facts.server,
        is_encrypted=facts.is_encrypted,
        clock=facts.clock,
        members=len(facts.members),
        behind=max(0, behind),
        problems=tuple(_problems(facts)),
    )


_SECONDS = 60


def _problems(facts: Facts) -> Iterator[str]:
    if facts.me.role != facts.user:
        yield f"The server knows {facts.user} as {facts.me.role}: a pooler makes several people one."
    if facts.missing:
        yield f"{facts.me.role} lacks rights: {', '.join(facts.missing)}."
    if not (facts.is_encrypted or facts.is_local):
        yield "The connection is not encrypted; add sslmode=require to the address."
    if abs(facts.clock) > _SECONDS:
        yield f"The clocks differ by {abs(facts.clock):,.0f} seconds; the server's counts."
    if facts.me.level != "reader" and not any(one.is_agent for one in facts.members):
        yield (
            "No role is for agents: one that connects as a person counts as that person. "
            "`workbench store members add ROLE --agent` adds one."
        )


def members(folder: Path) -> tuple[Member, ...]:
    """Return who uses a team's store."""
    with closing(_log_of(folder)) as log:
        return admin.members(log)


def add_member(folder: Path, role: str, level: Level, *, is_agent: bool) -> None:
    """Let a role of the server use a team's store, or change what it may do."""
    with closing(_log_of(folder)) as log:
        admin.set_member(log, Member(role, level, is_agent))


def remove_member(folder: Path, role: str) -> None:
    """Take a role out of a team's store."""
    with closing(_log_of(folder)) as log:
        admin.remove_member(log, role)


def _log_of(folder: Path) -> TeamLog:
    address = paths.team_address(folder)
    if not address:
        raise StoreProblem(
            f"{folder} is a store of your own.",
            "Name a team's by --store postgresql://ROLE@HOST/DATABASE?store=NAME.",
        )
    return connected(address, folder)
