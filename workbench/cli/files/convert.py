"""`workbench convert`: one file format into another, without a store."""

from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.issues import issue_lines
from workbench.cli.output import say, warn
from workbench.cli.parsing import Commands, add_command
from workbench.cli.session import Session
from workbench.config import paths
from workbench.core.record import WorkbenchError
from workbench.core.text import counted

if TYPE_CHECKING:
    from workbench.services.files.convert import Converted


# Files as they were named on the command line: a relative name in, a relative name out.


@dataclass(frozen=True, slots=True)
class Given:
    """A file's whole path, and how somebody wrote it."""

    full: Path
    name: Path

    def of(self, path: Path) -> Path:
        """Return the name of this file, or of one in its folder or below that, as somebody would
        write it here.
        """
        if path == self.full:
            return self.name
        folder = self.full.parent
        return self.name.parent / path.relative_to(folder) if path.is_relative_to(folder) else path

    def said(self, error: WorkbenchError) -> WorkbenchError:
        """Return an error of the same kind that calls the file as somebody did."""
        said = copy(error)
        said.message, said.hint = (
            text.replace(str(self.full), str(self.name)) for text in (error.message, error.hint)
        )
        return said


def given(cwd: Path, name: Path) -> Given:
    """Return where a file is that somebody named in the folder `cwd`."""
    return Given(cwd / name.expanduser(), name)


_DETAILS = """The format of IN is recognised, that of OUT follows from its name: .txt an ACE playbook, .jsonl
learning entries, .json a skillbook or plain JSON, .yaml a cass playbook or plain YAML, .csv, .md,
.af, .qrels. --from and --to name them otherwise. OUT may be - for stdout. No store is read or changed."""


def add_commands(commands: Commands) -> None:
    """Add `convert`."""
    parser = add_command(
        commands, "convert", convert_file, "convert a file to another format", _DETAILS,
        example="playbook.md skillbook.json",
    )  # fmt: skip
    parser.add_argument("source", metavar="IN", type=Path)
    parser.add_argument("target", metavar="OUT", type=Path)
    parser.add_argument("--from", dest="read_as", metavar="F", help="the format of IN")
    parser.add_argument("--to", dest="write_as", metavar="F", help="the format of OUT")
    parser.add_argument(
        "--force",
        action="store_true",
        help="replace OUT if it exists; a copy of what it held is kept",
    )


def convert_file(session: Session) -> int:
    """Convert, say what was lost, and write the new file in one step."""
    source, target = (
        given(session.cwd, name) for name in (session.args.source, session.args.target)
    )
    try:
        return _converted(session, source.full, target.full)
    except WorkbenchError as error:
        raise target.said(source.said(error)) from error


def _converted(session: Session, source: Path, target: Path) -> int:
    from workbench.cli.files.export import to_stdout
    from workbench.core.files.replacing import bytes_of, present_bytes, replace_file
    from workbench.services.files.convert import convert
    from workbench.services.files.replaced import Replaced

    args = session.args
    to_screen = str(args.target) == "-"
    there = None if to_screen else present_bytes(target)
    if there is not None and not args.force:
        raise WorkbenchError(f"{target} exists.", "Nothing was written; --force replaces it.")
    done = convert(
        source,
        args.target,
        session.clock(),
        read_as=args.read_as,
        write_as=args.write_as,
    )
    for line in (*issue_lines(args.source, done.issues), *done.remarks):
        warn(line)
    if to_screen:
        to_stdout(done.text)
        return 0
    goes = there is not None and there != bytes_of(done.text)
    copy = Replaced(paths.replaced_dir()).keep(target, there) if goes and there else None
    replace_file(target, done.text, there)
    _report(done, args.target)
    if copy is not None:
        say(f"What {args.target} held is kept as {copy}.")
    return 0


def _report(done: "Converted", target: Path) -> None:
    read = done.parsed.records_read
    if done.written is not None and done.written != read:
        warn(f"{counted(read, 'record')} read, {done.written:,} found again in the new file.")
    said = f"{counted(read, 'record')}" + (
        f" of {done.parsed.records_in:,}" if done.parsed.records_in != read else ""
    )
    say(f"{target}: {said} as {done.export_format.title}.")
