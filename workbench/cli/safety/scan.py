"""`workbench scan` and `workbench allow`: finding secrets and orders in files or in the store, and
letting one pass.
"""

import contextlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import say, warn, write_json
from workbench.cli.parsing import Commands, add_command, add_json, file_or_stdin, wants_json
from workbench.cli.session import FOUND, Session
from workbench.config import paths
from workbench.core.files.fresh import read_named
from workbench.core.record import UnreadableFile, WorkbenchError
from workbench.core.text import counted

if TYPE_CHECKING:
    from workbench.core.safety import Finding
    from workbench.services.open import Workbench
    from workbench.services.safety.leaks import Leak, Masked
    from workbench.services.safety.safety import Held

_SCAN = """Looks for secrets (keys, tokens, passwords, private keys), for text that gives orders to an agent, and for
hidden characters. Without FILE the store is scanned: every field of every record, the history, the files beside it,
and in your state folder what was being typed (drafts) and the copies of replaced files; - reads stdin. No secret is
ever printed, only where it stands.
With --mask every secret that you did not allow is replaced by a marker, in the records and in all that was ever
written (memory.json, the journal, copies, caches). There is no undo. A secret of 16 characters and more is taken out
wherever it stands; an imported file is not touched, and its next export says the marker. Copies that cannot be
reached are named.
Exit code: 0 when nothing was found or all of it may pass, 1 when something was found, 2 when it cannot be done."""

_ALLOW = """ID is a memory's, a bullet's (BOOK/ID when several playbooks have it), a pattern's or an episode's, of
which all counts that it says. A flagged record is promoted and exported only when it came in by import and is
unchanged, or when it is allowed here. The permission ends when the flagged text changes; `workbench undo` takes it back
too."""


def add_commands(commands: Commands) -> None:
    """Add `scan` and `allow`."""
    scan = add_command(
        commands, "scan", scan_texts, "find secrets and orders to agents in files or the store", _SCAN,
        example="CLAUDE.md notes/",
    )  # fmt: skip
    scan.add_argument(
        "files",
        metavar="FILE",
        nargs="*",
        type=file_or_stdin,
        help="files of text (default: the store)",
    )
    about = "take what is found out of the store and its whole history for good"
    scan.add_argument("--mask", action="store_true", help=about)
    add_json(scan)
    allow = add_command(
        commands, "allow", allow_record, "let a flagged record be promoted and exported", _ALLOW,
        example='mem-20261121-0000001 --reason "it quotes an attack"',
    )  # fmt: skip
    allow.add_argument("id", metavar="ID")
    allow.add_argument("--reason", metavar="TEXT", default="", help="why; kept with the permission")
    allow.add_argument("--withdraw", action="store_true", help="take the permission back")


def scan_texts(session: Session) -> int:
    """List what was found."""
    if session.args.mask:
        if session.args.files:
            raise WorkbenchError("--mask is for the store, not for files.", "Nothing was changed.")
        return _mask_store(session)
    return _scan_files(session) if session.args.files else _scan_store(session)


def allow_record(session: Session) -> int:
    """Let one record pass, or no longer."""
    args = session.args
    if not args.withdraw and not args.reason.strip():
        raise WorkbenchError("Say why it may pass: --reason TEXT.", "Nothing was changed.")
    with session.changing() as bench:
        if args.withdraw:
            bench.safety.withdraw(args.id)
            say(f"{args.id} is held back again.")
        else:
            held = bench.safety.allow(args.id, args.reason)
            say(
                f"{held.id} may pass as it is now. `workbench allow {args.id} --withdraw` takes it back."
            )
    return 0


def _scan_store(session: Session) -> int:
    from workbench.services.safety.suspicion import findings_in

    with session.reading(whole=True) as bench:
        found = bench.safety.flagged()
        copies = bench.replaced.copies()
        inside = tuple(findings_in(_in_copies(copies)))
        leaks = bench.leaks.find(found, paths.state_dir(), frozenset(copies))
    if wants_json(session.args):
        line = _Lines()
        places = [
            _finding_json(finding, file=name, line=line(text, finding))
            for name, text, finding in inside
        ]
        write_json([*map(_held_json, found), *map(_leak_json, leaks), *places])
    else:
        for told in (*(held.line for held in found), *(leak.line for leak in leaks)):
            say(told)
        _list(inside)
        refused = sum(not held.why for held in found)
        more = (
            f", and {counted(len(inside), 'finding')} in copies of files that were replaced"
            if inside
            else ""
        )
        said = f"{counted(len(found), 'flagged record')}, {refused:,} held back from promotion and export"
        if found or inside:
            say(f"{said}{more}.")
        if leaks:
            say(
                f"{counted(len(leaks), 'secret')} beside the records' texts; `workbench scan --mask` takes them out."
            )
        if not (found or inside or leaks):
            say("Nothing is flagged.")
    return FOUND if inside or leaks or any(not held.why for held in found) else 0


def _in_copies(copies: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Yield the copies of files that were replaced, each with its text."""
    for copy in copies:
        with contextlib.suppress(OSError):  # one that went meanwhile, or that was closed by hand
            yield str(copy), copy.read_bytes().decode("utf-8", "replace")


def _list(found: "Iterable[tuple[str, str, Finding]]") -> None:
    line = _Lines()
    for name, text, finding in found:
        say(f"{name}:{line(text, finding)}: {finding.rule}: {finding.reason}")


def _mask_store(session: Session) -> int:
    with session.changing() as bench:
        if not wants_json(session.args):
            return mask(bench)
        masked = bench.leaks.mask(bench.safety.flagged(), paths.state_dir())
    write_json(_masked_json(masked))
    return FOUND if masked.elsewhere else 0


def mask(bench: "Workbench") -> int:
    """Take the secrets out of a store for good; say what was done, and return the exit code."""
    masked = bench.leaks.mask(bench.safety.flagged(), paths.state_dir())
    say(f"Masked {counted(masked.secrets, 'secret')} for good.")
    say(
        f"rewritten: {', '.join(masked.done.rewritten)} ({counted(masked.done.lines, 'journal line')} changed)"
    )
    if masked.done.removed:
        say(f"removed: {', '.join(masked.done.removed)}")
    if masked.done.damaged:
        say(
            f"{counted(masked.done.damaged, 'damaged journal line')} held a secret and had to go as a whole."
        )
    for place in masked.elsewhere:
        warn(f"{place} still holds a secret and was not touched.")
    say(
        "Rotate it: what was stored may have been read, and version control or backups may hold it still."
    )
    return FOUND if masked.elsewhere else 0


def _scan_files(session: Session) -> int:
    from workbench.services.safety.suspicion import findings_in

    found = list(findings_in(_texts(session)))
    if wants_json(session.args):
        line = _Lines()
        write_json(
            [
                _finding_json(finding, file=name, line=line(text, finding))
                for name, text, finding in found
            ]
        )
    else:
        _list(found)
        if not found:
            say("Nothing was found.")
    return FOUND if found else 0


_LARGEST = 1 << 30
"""Bytes of a file that is scanned as a whole at most."""

_NOT_SCANNED = "Nothing was changed, and no file was reported on."


def _texts(session: Session) -> Iterator[tuple[str, str]]:
    for name in session.args.files:
        if name != "-" and (session.cwd / name).is_dir():
            raise UnreadableFile(f"{name} is a folder.", f"Name the files in it. {_NOT_SCANNED}")
        try:
            data = (
                sys.stdin.buffer.read()
                if name == "-"
                else _data(session.cwd / Path(name).expanduser())
            )
        except (OSError, RuntimeError) as error:
            said = (getattr(error, "strerror", None) or str(error)).lower().rstrip(".")
            raise UnreadableFile(
                f"{name} cannot be read: {said}.", f"Check the name. {_NOT_SCANNED}"
            ) from error
        # What cannot be decoded is scanned all the same: a secret may stand beside it.
        yield name, data.decode("utf-8", "replace")


def _data(path: Path) -> bytes:
    """Return what is in a file. Raises `OSError`, and `UnreadableFile` for one that is too large."""
    data = read_named(path, _LARGEST)
    if len(data) > _LARGEST:
        raise UnreadableFile(
            f"{path} is larger than {_LARGEST >> 20:,} MiB.", f"Scan it in parts. {_NOT_SCANNED}"
        )
    return data


class _Lines:
    """Tells the lines of findings, counting on from the one before: many in one text cost no more
    than the text.
    """

    def __init__(self) -> None:
        self._text, self._at, self._line = "", 0, 1

    def __call__(self, text: str, finding: "Finding") -> int:
        """Return the line, from 1, on which a finding begins."""
        if text is not self._text or finding.start < self._at:
            self._text, self._at, self._line = text, 0, 1
        self._line += text.count("\n", self._at, finding.start)
        self._at = finding.start
        return self._line


def _held_json(held: "Held") -> dict[str, object]:
    findings = [_finding_json(finding) for finding in held.findings]
    return {"id": held.name, "passes": held.why, "findings": findings}


def _leak_json(leak: "Leak") -> dict[str, object]:
    return {"id": leak.place, "passes": "", "findings": [_finding_json(leak.finding)]}


def _masked_json(masked: "Masked") -> dict[str, object]:
    done = masked.done
    return {"secrets": masked.secrets, "rewritten": done.rewritten, "lines": done.lines, "removed": done.removed,
            "damaged": done.damaged, "elsewhere": masked.elsewhere}  # fmt: skip


def _finding_json(finding: "Finding", **more: object) -> dict[str, object]:
    return {**more, "kind": finding.kind, "rule": finding.rule, "reason": finding.reason, "start": finding.start,
            "end": finding.end}  # fmt: skip
