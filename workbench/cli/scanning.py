"""`workbench scan` and `workbench allow`: finding secrets and orders in files or in the store, and letting one pass."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import counted, say, write_json
from workbench.cli.parsing import Commands, add_command, add_json, wants_json
from workbench.cli.session import Session
from workbench.core.errors import UnreadableFile, WorkbenchError

if TYPE_CHECKING:
    from workbench.bench.safety import Held
    from workbench.safety.finding import Finding

FOUND = 1
"""Exit code when something was found that is not allowed to pass."""

_SCAN = """Looks for secrets (keys, tokens, passwords, private keys), for text that gives orders to an agent, and for
hidden characters. Without FILE the store is scanned; - reads stdin. No secret is ever printed, only where it stands.
Exit code: 0 when nothing was found or all of it may pass, 1 when something was found, 2 when it cannot be done."""

_ALLOW = """ID is a memory's or a bullet's (BOOK/ID when several playbooks have it). A flagged record is promoted and
exported only when it came in by import and is unchanged, or when it is allowed here. The permission ends when the
flagged text changes; `workbench undo` takes it back too."""


def add_commands(commands: Commands) -> None:
    """Add `scan` and `allow`."""
    scan = add_command(commands, "scan", scan_texts, "find secrets and orders to agents in files or the store", _SCAN)
    scan.add_argument("files", metavar="FILE", nargs="*", help="files of text (default: the store)")
    add_json(scan)
    allow = add_command(commands, "allow", allow_record, "let a flagged record be promoted and exported", _ALLOW)
    allow.add_argument("id", metavar="ID")
    allow.add_argument("--reason", metavar="TEXT", default="", help="why; kept with the permission")
    allow.add_argument("--withdraw", action="store_true", help="take the permission back")


def scan_texts(session: Session) -> int:
    """List what was found."""
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
            say(f"{held.id} may pass as it is now. `workbench allow {args.id} --withdraw` takes it back.")
    return 0


def _scan_store(session: Session) -> int:
    with session.reading() as bench:
        found = bench.safety.flagged()
    if wants_json(session.args):
        write_json([_held_json(held) for held in found])
    else:
        for held in found:
            say(held.line)
        refused = sum(not held.why for held in found)
        say(f"{counted(len(found), 'flagged record')}, {refused:,} held back from promotion and export." if found else
            "Nothing is flagged.")  # fmt: skip
    return FOUND if any(not held.why for held in found) else 0


def _scan_files(session: Session) -> int:
    from workbench.safety.scanning import scan

    found = [(name, text, f) for name, text in _texts(session) for f in scan(text)]
    if wants_json(session.args):
        write_json([_finding_json(finding, file=name, line=_line(text, finding)) for name, text, finding in found])
    else:
        for name, text, finding in found:
            say(f"{name}:{_line(text, finding)}: {finding.rule}: {finding.reason}")
        if not found:
            say("Nothing was found.")
    return FOUND if found else 0


_NOT_SCANNED = "Nothing was changed, and no file was reported on."


def _texts(session: Session) -> Iterator[tuple[str, str]]:
    for name in session.args.files:
        try:
            data = sys.stdin.buffer.read() if name == "-" else (session.cwd / Path(name).expanduser()).read_bytes()
        except IsADirectoryError as error:
            raise UnreadableFile(f"{name} is a folder.", f"Name the files in it. {_NOT_SCANNED}") from error
        except (OSError, RuntimeError) as error:
            said = (getattr(error, "strerror", None) or str(error)).lower().rstrip(".")
            raise UnreadableFile(f"{name} cannot be read: {said}.", f"Check the name. {_NOT_SCANNED}") from error
        # What cannot be decoded is scanned all the same: a secret may stand beside it.
        yield name, data.decode("utf-8", "replace")


def _line(text: str, finding: "Finding") -> int:
    return text.count("\n", 0, finding.start) + 1


def _held_json(held: "Held") -> dict[str, object]:
    findings = [_finding_json(finding) for finding in held.findings]
    return {"id": held.id, "passes": held.why, "findings": findings}


def _finding_json(finding: "Finding", **more: object) -> dict[str, object]:
    return {**more, "kind": finding.kind, "rule": finding.rule, "reason": finding.reason, "start": finding.start,
            "end": finding.end}  # fmt: skip
