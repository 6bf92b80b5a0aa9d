"""`workbench scan`, `allow` and `trust`: secrets and orders in texts, and a person's word on what is
flagged or came from elsewhere.
"""

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import picked, say, typed_yes, warn, write_json
from workbench.cli.parsing import file_or_stdin
from workbench.cli.session import DONE, FOUND, Session
from workbench.cli.verbs import (
    Answer,
    Call,
    Option,
    Verb,
    changing,
    flag,
    reading_whole,
    text,
    unopened,
    value,
)
from workbench.config import paths
from workbench.core.agents.actors import agent_in
from workbench.core.files.fresh import read_named
from workbench.core.record import UnreadableFile, WorkbenchError
from workbench.core.text import counted

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from workbench.core.files.format import Parsed
    from workbench.core.safety import Finding
    from workbench.services.health.purge import PurgeResult
    from workbench.services.open import Workbench
    from workbench.services.safety.leaks import Masked
    from workbench.services.safety.trust import Arrived

NOTHING = "Nothing was written."

LISTED = 20
"""Flagged records, and actors, that are listed at most."""


# Flagged text at the door of the command line: what is held back, what goes out with a warning.


def allow(bench: "Workbench", ids: Sequence[str], reason: str) -> None:
    """Let the flagged records pass that a person named. Raises `WorkbenchError` without a reason,
    or for an id.
    """
    if reason and not ids:
        raise WorkbenchError("--reason needs --allow-flagged ID.", NOTHING)
    if ids and not reason.strip():
        raise WorkbenchError("--allow-flagged needs --reason TEXT.", NOTHING)
    for id in dict.fromkeys(ids):
        bench.safety.allow(id, reason)


def held_back(
    bench: "Workbench", parsed: "Parsed", *, imported: bool = True
) -> frozenset[tuple[str, str]]:
    """Return the places of flagged records that no person let pass, and say on stderr which they
    are.

    Those that came in with an import, which go out with a warning otherwise, count only as long as
    `imported`. A flagged name of a playbook or section cannot be left out: it is refused with the
    rest by `require_clean`.
    """
    from workbench.core.playbook.book import Bullet
    from workbench.core.stream.memory import Memory
    from workbench.services.files.exporting import parts_of
    from workbench.services.safety.texts import place_of

    safety, parts = bench.safety, parts_of(parsed)
    flagged = safety.unpermitted(parts) if imported else safety.check_outgoing(parts).refused
    held = [h for h in flagged if isinstance(h.record, Memory | Bullet)]
    for line in _cut([f"left out: {h.line}" for h in held]):
        warn(line)
    return frozenset(place_of(h.record) for h in held)


def require_clean(bench: "Workbench", parsed: "Parsed") -> tuple[str, ...]:
    """Return remarks about flagged records of a file that may go out.

    Lists those that may not on stderr, and raises `FlaggedText`.
    """
    from workbench.services.files.exporting import parts_of
    from workbench.services.safety.safety import FlaggedText

    try:
        lines = bench.safety.require_outgoing(parts_of(parsed))
    except FlaggedText as error:
        for line in _cut([held.line for held in error.held]):
            warn(line)
        raise FlaggedText(
            error.held, "--allow-flagged ID --reason TEXT; or skip it: --skip-flagged"
        ) from error
    return _cut([f"flagged: {line}" for line in lines])


def _cut(lines: list[str]) -> tuple[str, ...]:
    more = len(lines) - LISTED
    rest = (f"… and {more:,} more; `workbench scan` lists all.",) if more > 0 else ()
    return (*lines[:LISTED], *rest)


# `workbench scan` and `workbench allow`: finding secrets and orders in files or in the store, and
# letting one pass.


_SCAN = """Looks for secrets (keys, tokens, passwords, private keys), text that gives orders to an agent, and
hidden characters. Without FILE it scans the store: every field of every record, the history, the
files beside it, and in your state folder drafts and copies of replaced files; - reads stdin.
Secrets are never printed, only their location.

--mask replaces every secret that you did not allow by a marker, in the records and in everything
ever written (memory.json, the journal, copies, caches). There is no undo. A secret of 16
characters or more is removed wherever it occurs; an imported file is not touched, and its next
export has the marker. Copies that cannot be reached are named. Exit code: 0 when nothing was
found or all of it is allowed, 1 when something was found, 2 when it cannot be done."""

_ALLOW = """ID is a memory's, a bullet's (BOOK/ID when several playbooks have it), a pattern's or an episode's
(including everything in it). A flagged record is promoted and exported only when it is unchanged
since its import, or when you allow it here. The permission ends when the flagged text changes;
`workbench undo` also takes it back."""


def _opened_to_scan(session: Session) -> "AbstractContextManager[Workbench]":
    args = session.args
    if args.mask and args.files:
        raise WorkbenchError("--mask is for the store, not for files.", "Nothing was changed.")
    if args.mask:
        return changing(session)
    return unopened(session) if args.files else reading_whole(session)


def scan(call: Call) -> Answer:
    """List what was found, or take it out."""
    from workbench.services.safety.suspicion import findings_in

    if call.args.mask:
        done = call.bench.leaks.mask(call.bench.safety.flagged(), paths.state_dir())
        json = picked(done.done, "rewritten", "lines", "removed", "damaged")
        remarks = [
            f"{place} still contains a secret and was not touched." for place in done.elsewhere
        ]
        return Answer(
            {"secrets": done.secrets, **json, "elsewhere": done.elsewhere},
            _masked_lines(done),
            remarks,
            FOUND if done.elsewhere else DONE,
        )
    if not call.args.files:
        return _scan_store(call)
    found = list(_with_lines(findings_in(_texts(call))))
    return Answer(
        [_finding_json(finding, file=name, line=line) for name, line, finding in found],
        _finding_lines(found) or ["Nothing was found."],
        code=FOUND if found else DONE,
    )


def _scan_store(call: Call) -> Answer:
    from workbench.services.safety.suspicion import findings_in

    bench = call.bench
    found, copies = bench.safety.flagged(), bench.replaced.copies()
    inside = list(_with_lines(findings_in(_in_copies(copies))))
    leaks = bench.leaks.find(found, paths.state_dir(), frozenset(copies))
    refused = sum(not held.why for held in found)
    json: list[dict[str, object]] = [
        {"id": held.name, "passes": held.why, "findings": [_finding_json(one) for one in held.findings]}
        for held in found
    ]  # fmt: skip
    json += [
        {"id": leak.place, "passes": "", "findings": [_finding_json(leak.finding)]}
        for leak in leaks
    ]
    json += [_finding_json(finding, file=name, line=line) for name, line, finding in inside]
    lines = [held.line for held in found] + [leak.line for leak in leaks] + _finding_lines(inside)
    if found or inside:
        copied = f", and {counted(len(inside), 'finding')} in copies of replaced files"
        flagged = counted(len(found), "flagged record")
        out = f"{refused:,} held back from promotion and export{copied if inside else ''}"
        lines.append(f"{flagged}, {out}.")
    if leaks:
        secrets = counted(len(leaks), "secret")
        lines.append(f"{secrets} outside the records' texts; `workbench scan --mask` removes them.")
    code = FOUND if inside or leaks or refused else DONE
    return Answer(json, lines or ["Nothing is flagged."], code=code)


def _in_copies(copies: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """Yield the copies of files that were replaced, each with its text."""
    for copy in copies:
        with contextlib.suppress(OSError):  # one that went meanwhile, or that was closed by hand
            yield str(copy), copy.read_bytes().decode("utf-8", "replace")


def _with_lines(
    found: "Iterable[tuple[str, str, Finding]]",
) -> "Iterator[tuple[str, int, Finding]]":
    """Yield findings with the line, from 1, that each begins on; many in one text cost no more than
    the text.
    """
    last, at, line = "", 0, 1
    for name, whole, finding in found:
        if whole is not last or finding.start < at:
            last, at, line = whole, 0, 1
        line += whole.count("\n", at, finding.start)
        at = finding.start
        yield name, line, finding


def _finding_lines(found: "Iterable[tuple[str, int, Finding]]") -> list[str]:
    return [f"{name}:{line}: {one.rule}: {one.reason}" for name, line, one in found]


def _finding_json(finding: "Finding", **more: object) -> dict[str, object]:
    return {**more, **picked(finding, "kind", "rule", "reason", "start", "end")}


def mask(bench: "Workbench") -> int:
    """Take the secrets out of a store for good; say what was done, and return the exit code."""
    done = bench.leaks.mask(bench.safety.flagged(), paths.state_dir())
    for line in _masked_lines(done):
        say(line)
    for place in done.elsewhere:
        warn(f"{place} still contains a secret and was not touched.")
    return FOUND if done.elsewhere else DONE


def _masked_lines(masked: "Masked") -> Iterator[str]:
    yield f"Masked {counted(masked.secrets, 'secret')} for good."
    yield from rewritten_lines(masked, "a secret")
    yield "Rotate it: it may have been read, and version control or backups may still contain it."


def rewritten_lines(result: "PurgeResult | Masked", what: str) -> Iterator[str]:
    """Say in which files something was taken out for good."""
    done = result.done
    yield f"rewritten: {', '.join(done.rewritten)} ({counted(done.lines, 'journal line')} changed)"
    if done.removed:
        yield f"removed: {', '.join(done.removed)}"
    if done.damaged:
        yield f"{counted(done.damaged, 'damaged journal line')} contained {what} and had to be removed as a whole."


_LARGEST = 1 << 30
"""Bytes of a file that is scanned as a whole at most."""

_NOT_SCANNED = "Nothing was changed, and no file was scanned."


def _texts(call: Call) -> Iterator[tuple[str, str]]:
    for name in call.args.files:
        if name != "-" and (call.session.cwd / name).is_dir():
            raise UnreadableFile(f"{name} is a folder.", f"Give the files in it. {_NOT_SCANNED}")
        try:
            data = _data(call, name)
        except (OSError, RuntimeError) as error:
            said = (getattr(error, "strerror", None) or str(error)).lower().rstrip(".")
            raise UnreadableFile(
                f"{name} cannot be read: {said}.", f"Check the name. {_NOT_SCANNED}"
            ) from error
        # What cannot be decoded is scanned all the same: a secret may stand beside it.
        yield name, data.decode("utf-8", "replace")


def _data(call: Call, name: str) -> bytes:
    """Return what is in a file. Raises `OSError`, and `UnreadableFile` for one that is too large."""
    if name == "-":
        return sys.stdin.buffer.read()
    path = call.path(Path(name))
    data = read_named(path, _LARGEST)
    if len(data) > _LARGEST:
        raise UnreadableFile(
            f"{path} is larger than {_LARGEST >> 20:,} MiB.", f"Scan it in parts. {_NOT_SCANNED}"
        )
    return data


def allow_record(call: Call) -> Answer:
    """Let one record pass, or no longer."""
    args, safety = call.args, call.bench.safety
    if args.withdraw:
        safety.withdraw(args.id)
        return Answer(lines=[f"{args.id} is held back again."])
    if not args.reason.strip():
        raise WorkbenchError(
            "--reason TEXT is required: why it is allowed.", "Nothing was changed."
        )
    held = safety.allow(args.id, args.reason)
    back = f"`workbench allow {args.id} --withdraw` takes it back."
    return Answer(lines=[f"{held.id} is allowed as it is now. {back}"])


# `workbench trust`: what came into a store from elsewhere.


_TRUST = """A store that came with a clone, a pull or a copy may say anything. Until you have reviewed what
came, none of it is served to agents, exported to where they read, or promoted, and only `append`
writes to the store. This command shows how many changes came, who wrote them and what is flagged,
and asks; `workbench list` and `history` show all of it. Refused when an agent runs it. In CI,
WORKBENCH_TRUST=PATH names trusted stores."""


def _opened_to_trust(session: Session) -> "AbstractContextManager[Workbench]":
    return session.reading(remarks=False, whole=True)


def trust(call: Call) -> Answer:
    """Show what came, and take it over after a yes."""
    args, bench = call.args, call.bench
    if bench.trust.standing.trusted:
        said = "This store is trusted: nothing in it came from elsewhere."
        return Answer({"trusted": True, "store": call.session.choice().folder}, [said])
    arrived, folder = bench.trust.arrived(), bench.library.folder
    json = {
        "trusted": False,
        "store": folder,
        **picked(arrived, "changes", "actors", "memories", "bullets"),
        "flagged": [held.name for held in arrived.flagged],
    }
    if args.show:
        return Answer(json, _arrived_lines(arrived))
    if call.wants_json:
        write_json(json)
    for line in _arrived_lines(arrived):
        call.say(line)
    bench.trust.require_own()
    if not agreed(yes=args.yes):
        say("Not trusted; nothing was changed.")
        return Answer(code=FOUND)
    bench.trust.accept(arrived)
    say(f"Trusted: {folder}")
    return Answer()


def _arrived_lines(arrived: "Arrived") -> Iterator[str]:
    flagged = arrived.flagged
    yield f"{counted(arrived.changes, 'change')} came from elsewhere, written by:"
    for actor, count in sorted(arrived.actors.items(), key=lambda one: -one[1])[:LISTED]:
        yield f"  {actor or '(nobody named)'}  {count:,}"
    records = f"{counted(arrived.memories, 'memory', 'memories')} and {counted(arrived.bullets, 'bullet')}"
    yield f"The store holds {records}; {counted(len(flagged), 'record')} flagged."
    yield from (f"  {line}" for line in _cut([held.line for held in flagged]))


def agreed(*, yes: bool, what: str = "a store") -> bool:
    """Ask; where nobody can answer only `yes` does, and nothing under an agent."""
    if agent := agent_in(os.environ):
        hint = "Nothing was changed; run this command in a terminal of your own."
        raise WorkbenchError(f"An agent cannot trust {what} ({agent} runs this command).", hint)
    return yes or typed_yes("Trust it?", "--yes trusts it without asking.")


OPTIONS: Mapping[str, Option] = {
    "files": value("FILE", "files of text (default: the store)", type=file_or_stdin),
    "--mask": flag("remove what is found from the store and its whole history for good"),
    "id": {},
    "--reason": text("why; kept with the permission"),
    "--withdraw": flag("withdraw the permission"),
    "--yes": flag("trust it without asking (not when run by an agent)"),
    "--show": flag("show what came, without asking"),
}

VERBS = (
    Verb("scan", scan, "find secrets and prompt injections in files or the store", "files* --mask --json", _SCAN,
         "CLAUDE.md notes/", _opened_to_scan),
    Verb("allow", allow_record, "allow a flagged record to be promoted and exported", "id --reason --withdraw", _ALLOW,
         'mem-20261121-0000001 --reason "it quotes an attack"', changing),
    Verb("trust", trust, "review and trust data from elsewhere", "--yes|--show --json", _TRUST, "--show",
         _opened_to_trust),
)  # fmt: skip
