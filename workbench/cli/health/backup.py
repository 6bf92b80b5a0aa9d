"""`workbench backup` and `workbench restore`: a store in one file, and a store of such a file."""

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import moment, say, say_table, warn, write_json
from workbench.cli.parsing import Commands, Parser, add_command, add_json, wants_json
from workbench.cli.progress import ProgressLine
from workbench.cli.session import CLI_ACTOR, Session, actor_of
from workbench.config import paths, recent
from workbench.core.agents.actors import require_person
from workbench.core.record import WorkbenchError, parse_time
from workbench.core.text import counted

if TYPE_CHECKING:
    from workbench.core.health import Manifest
    from workbench.core.runtime import Progress
    from workbench.services.open import Workbench

_LONG = 32
"""Megabytes that are copied without a word."""

_BACKUP = """Writes the store as it is at this moment, its whole history with it, into one compressed file, and reads it
back.
Others may go on writing meanwhile. Caches are left out; they are made again. A backup keeps what is purged later.
Secrets in it are counted on stderr (those in the records as they are now); it keeps them unless --mask is given."""

_RESTORE = """Makes a new store of a backup, which is checked while it is read and counted afterwards.
Nothing is left behind when something in it is not what the backup itself says.

  workbench restore memories.tar.gz ~/shop/.workbench"""


def add_commands(commands: Commands) -> None:
    """Add `backup` and `restore`."""
    backup = add_command(
        commands,
        "backup",
        write_file,
        "write the store into one file",
        _BACKUP,
        example="memories.tar.gz",
    )
    backup.add_argument(
        "file", metavar="FILE", type=Path, help="the file to write, such as memories.tar.gz"
    )
    about = "back up a copy without the secrets you did not allow, in its whole history; the store stays as it is"
    backup.add_argument("--mask", action="store_true", help=about)
    backup.add_argument(
        "--force", action="store_true", help="replace the file if it is there already"
    )
    add_json(backup)
    restore: Parser = add_command(
        commands, "restore", restore_into, "make a new store of a backup", _RESTORE
    )
    restore.add_argument("file", metavar="FILE", type=Path, help="the backup")
    restore.add_argument(
        "dir",
        metavar="DIR",
        type=Path,
        help="the folder of the new store; it must not be there yet",
    )
    add_json(restore)


def write_file(session: Session) -> int:
    """Write the backup, remember it, and say what it holds."""
    args, store = session.args, session.known_store()
    args.mask = args.mask or actor_of(args) != CLI_ACTOR  # an agent reads what it has written
    file = session.cwd / args.file.expanduser()
    line = ProgressLine("MB backed up", _LONG)
    with session.reading(whole=True) as bench:
        if bench.context.settings.agents.only_approved(bench.context.actor):
            require_person(
                bench.context.actor, "back up what nobody approved", "Nothing was written"
            )
        try:
            made, secrets = _written(session, bench, file, _megabytes(line))
        finally:
            line.clear()
    if secrets:
        what = counted(secrets, "secret")
        warn(
            f"{what} masked in it." if args.mask else f"It holds {what}; --mask writes it without."
        )
    recent.remember_backup(
        paths.state_dir(), store, recent.LastBackup(file, parse_time(made.at), made.rev)
    )
    if wants_json(args):
        write_json(_json(made, file))
    else:
        _print(made, "backup", file)
    return 0


def _written(
    session: Session, bench: "Workbench", file: Path, progress: "Progress"
) -> "tuple[Manifest, int]":
    """Write the backup; return it, and how many secrets its records hold, or how many were masked."""
    from workbench.services.health.backup import back_up, write_masked

    at, force = session.clock(), session.args.force
    if session.args.mask:
        return write_masked(bench, file, at, force=force, progress=progress)
    return back_up(bench, file, at, force=force, progress=progress)


def restore_into(session: Session) -> int:
    """Make the new store, and say what it holds."""
    from workbench.services.health.backup import make_of

    args = session.args
    if args.store is not None:
        raise WorkbenchError(
            "A backup is restored into a new folder.", "Name it as DIR, and leave --store out."
        )
    folder = session.cwd / args.dir.expanduser()
    line = ProgressLine("MB restored", _LONG)
    try:
        made = make_of(session.cwd / args.file.expanduser(), folder, _megabytes(line))
    finally:
        line.clear()
    if wants_json(args):
        write_json(_json(made, folder))
    else:
        _print(made, "restored", folder)
        say(f"Open it with: workbench --store {folder}")
    return 0


def _megabytes(line: ProgressLine) -> "Progress":
    return lambda done, total: line(done >> 20, total >> 20)


def _print(made: "Manifest", what: str, where: Path) -> None:
    from workbench.services.health.backup import held

    rows = [
        (what, str(where)),
        ("made", f"{moment(parse_time(made.at))}, revision {made.rev:,}, every byte checked"),
        ("holds", held(made.counts)),
        *(
            ("", f"{member.name}, {member.size:,} bytes, SHA-256 {member.sha256}")
            for member in made.members
        ),
    ]
    if made.damaged:
        rows.append(
            (
                "note",
                f"{counted(made.damaged, 'place')} of the store itself damaged: see `workbench doctor`",
            )
        )
    say_table(rows)


def _json(made: "Manifest", where: Path) -> dict[str, object]:
    return {
        "path": where, "at": made.at, "revision": made.rev, "counts": made.counts, "bytes": made.size,
        "damaged": made.damaged, "members": made.members,
    }  # fmt: skip
