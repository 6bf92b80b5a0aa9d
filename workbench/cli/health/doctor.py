"""`workbench doctor` and `workbench compact`: looking after the store."""

from typing import TYPE_CHECKING

from workbench.cli.describe import compact as in_one_line
from workbench.cli.output import moment, say, say_table, write_json
from workbench.cli.parsing import Commands, add_command, add_json, wants_json
from workbench.cli.session import FOUND, Session
from workbench.config import paths
from workbench.config.recent import last_backup
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.config.recent import LastBackup
    from workbench.core.health import Diagnosis
    from workbench.services.health.doctor import Findings, OutsideEdit
    from workbench.services.open import Workbench
    from workbench.services.promotion.placements import HalfDone

SHOWN = 60
"""Cells of a value, and how many fields of an outside edit or lines of a file's change are listed."""

_DOCTOR = """Names every damaged place by file, line and byte; what was stored on this machine and is gone; changes that
were merged under one number; imports, purges, maskings and changes of files that were broken off; what killed
processes left; what lies beside the store and is missing or damaged; and what another program changed in memory.json.
The read index of a large store is held against its files, and made anew where it differs; nothing else is changed
unless an option asks for it.
`--accept` is for a journal that is shorter on purpose, after a checkout or a backup that was put back: what is missing
from it is not spoken of any more.
Exit code: 0 when all is well or what was asked is done, 1 when something was found, 2 when it cannot be done."""

_COMPACT = """Closed journal files (64 MB each) are gzipped; the history reads them as before. Nothing is lost."""


def add_commands(commands: Commands) -> None:
    """Add `doctor` and `compact`."""
    parser = add_command(
        commands,
        "doctor",
        examine,
        "check the store and say what is wrong with it",
        _DOCTOR,
        example="--json",
    )
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument(
        "--recover",
        action="store_true",
        help="save what can be read into a new store beside this one",
    )
    asked.add_argument(
        "--accept",
        action="store_true",
        help="take the journal as it is, with what is missing from it",
    )
    asked.add_argument(
        "--finish",
        action="store_true",
        help="go on with a purge, a masking or a change of files that was broken off",
    )
    asked.add_argument(
        "--accept-edit", action="store_true", help="take over what another program changed"
    )
    asked.add_argument("--dismiss-edit", action="store_true", help="turn it down; its file is kept")
    add_json(parser)
    add_command(commands, "compact", compact, "gzip the closed journal files", _COMPACT, example="")


def examine(session: Session) -> int:
    """Say what was found, or do what was asked."""
    from workbench.services.health import doctor

    args, folder = session.args, session.known_store()
    if args.accept_edit or args.dismiss_edit:
        return _settle(session)
    if args.finish:
        return _finish(session)
    diagnosis = doctor.examine(folder, paths.heads_dir())
    if args.accept:
        return _accept(session, diagnosis)
    if args.recover:
        return _recover(session, diagnosis)
    if not wants_json(args):
        _print_diagnosis(diagnosis)
    with session.reading(remarks=False, whole=True) as bench:
        findings = bench.care.findings(diagnosis, paths.state_dir())
    if wants_json(args):
        write_json(_json(findings))
    else:
        _print_findings(findings, last_backup(paths.state_dir(), folder))
    return 0 if findings.is_clean else FOUND


def compact(session: Session) -> int:
    """Pack, and say what that saved."""
    with session.changing() as bench:
        packed = bench.care.compact()
    for one in packed:
        say(f"{one.file.name}: {_size(one.before)} → {_size(one.after)}")
    if not packed:
        say("Nothing to pack: no closed journal file is unpacked.")
    return 0


def _settle(session: Session) -> int:
    with session.changing(remarks=False) as bench:
        edit = bench.care.edit()
        if edit is not None:
            _print_edit(edit)
        if session.args.accept_edit:
            say(
                f"Took over {counted(bench.care.accept_edit(), 'record')}. `workbench undo` takes it back."
            )
        else:
            say(f"Turned down. The other version is kept as {bench.care.dismiss_edit().name}.")
        bench.close()
        if bench.care.edit() is not None:
            say("Another changed file waits; `workbench doctor` shows it.")
    return 0


def _accept(session: Session, diagnosis: "Diagnosis") -> int:
    with session.changing(remarks=False) as bench:
        accepted = bench.care.accept()
        rev = bench.library.revision
    if not accepted:
        say(f"Nothing is missing from {diagnosis.folder}, so there is nothing to accept.")
        return 0
    say(f"Accepted: the journal ends at revision {rev:,}.")
    for one in accepted:
        say(f"No longer missed: {one}")
    return 0


def _finish(session: Session) -> int:
    with session.changing(remarks=False) as bench:
        found = bench.care.half_done()
        for number, one in enumerate(found):
            # An earlier one may have changed a file that a later one speaks of.
            now = bench.care.half_done()[0] if number else one
            _print_half_done(now)
            bench.care.finish(now)
        code, purges = _finish_purges(bench)
    if found:
        say(f"Settled {counted(len(found), 'broken change')}.")
    if not (found or purges):
        say("Nothing is half done.")
    return code


def _finish_purges(bench: "Workbench") -> tuple[int, int]:
    """Go on with the purges that were broken off; return the exit code, and how many those were."""
    from workbench.cli.health.purge import erase
    from workbench.cli.safety.scan import mask

    broken, codes = bench.care.broken_purges(), [0]
    for one in broken:
        say(str(one))
        if not one.masks:
            codes.append(erase(bench, bench.eraser.plan_rest(one)))
    if any(one.masks for one in broken):
        codes.append(mask(bench))
    return max(codes), len(broken)


def _recover(session: Session, diagnosis: "Diagnosis") -> int:
    from workbench.services.health import doctor

    if diagnosis.is_sound:
        say(f"Nothing is damaged in {diagnosis.folder}, so there is nothing to recover.")
        return 0
    _print_diagnosis(diagnosis)
    saved = doctor.recover(diagnosis.folder, session.clock())
    say(f"Recovered {counted(saved.entries, 'change')} into {saved.folder}.")
    if saved.from_checkpoint:
        say(
            f"{counted(saved.from_checkpoint, 'record')} came from memory.json alone, without their history."
        )
    say(f"This store stays as it is. Look at the new one with: workbench --store {saved.folder}")
    return 0


def _print_diagnosis(diagnosis: "Diagnosis") -> None:
    state = (
        "every line is sound"
        if not diagnosis.damage
        else f"{counted(len(diagnosis.damage), 'place')} damaged"
    )
    rows = [
        ("store", str(diagnosis.folder)),
        (
            "journal",
            f"{counted(diagnosis.entries, 'change')} up to revision {diagnosis.rev:,}; {state}",
        ),
        *(("damage", str(place)) for place in diagnosis.damage),
    ]
    if diagnosis.damage:
        rows.append(
            (
                "",
                "`workbench doctor --recover` saves everything else into a new store beside this one",
            )
        )
    rows += [*_gone(diagnosis), *(("merged", str(one)) for one in diagnosis.renumbered)]
    if diagnosis.renumbered:
        rows.append(("", "both are kept; the next change writes them down in order"))
    if diagnosis.torn:
        rows.append(
            (
                "note",
                f"the last line is unfinished ({diagnosis.torn} bytes) and will be dropped: a crash left it",
            )
        )
    for one in diagnosis.purges:
        rows += [
            ("purge", str(one)),
            ("", "`workbench doctor --finish` goes on with it; there is no way back"),
        ]
    rows += [("beside", str(one)) for one in diagnosis.blobs[:SHOWN]]
    if len(diagnosis.blobs) > SHOWN:
        rows.append(("", f"and {len(diagnosis.blobs) - SHOWN:,} more; --json names all"))
    rows += [("note", note) for note in diagnosis.notes]
    say_table(rows)


def _gone(diagnosis: "Diagnosis") -> "Iterator[tuple[str, str]]":
    """Yield what is gone, what it held as far as that is known, and what to do."""
    if not diagnosis.gone:
        return
    for one in diagnosis.gone:
        yield "gone", str(one)
    if diagnosis.held:
        names = ", ".join(key for _, key in diagnosis.held[:SHOWN])
        more = f" and {len(diagnosis.held) - SHOWN:,} more" if len(diagnosis.held) > SHOWN else ""
        yield (
            "",
            f"memory.json still knows what the journal does not, or not like that: {names}{more}",
        )
        yield "", "`workbench doctor --recover` saves that too, into a new store beside this one"
    else:
        yield (
            "",
            "what it was is not known here; a backup, or the place it was copied from, may have it",
        )
    yield (
        "",
        "`workbench doctor --accept` takes the journal as it is: after a checkout, or a backup put back",
    )


def _print_findings(findings: "Findings", backup: "LastBackup | None") -> None:
    rows = [("backup", _backup(findings, backup))]
    for group, label in findings.unfinished:
        rows += [
            ("unfinished", label),
            ("", f"`workbench undo --group {group}` takes back what was written"),
        ]
    rows += [
        ("leftover", f"{name}: a process left it; the next change removes it")
        for name in findings.leavings
    ]
    rows += [
        ("leftover", f"{path}: a process left it; the next one of its kind removes it")
        for path in findings.outside
    ]
    about = "is not JSON; the next snapshot of its session writes it anew from the store"
    rows += [("working", f"{name} {about}") for name in findings.unreadable]
    rows += [("too long", f"{name} is kept whole and shown cut") for name in findings.too_long]
    if findings.open_to_git:
        rows.append(
            (
                "git",
                "`git add` would take this store in; a .gitignore in it with the line * keeps it out",
            )
        )
    if findings.later:
        said = counted(findings.later, "memory is", "memories are")
        rows.append(
            (
                "clock",
                f"{said} dated after now, and not found before then; is this machine's clock right?",
            )
        )
    for one in findings.half_done:
        _print_half_done(one)
        say("`workbench doctor --finish` does this.")
    caches = ", ".join(f"{c.name} {_size(c.size)}" for c in findings.caches) or "none yet"
    rows.append(("caches", f"{caches}; made again whenever they are missing or wrong"))
    if findings.mended is not None:
        rows.append(("", f"{moment(findings.mended.at)}: {findings.mended}, and was made anew"))
    if findings.old_caches:
        names = ", ".join(f"cache/{part.name}" for part in findings.old_caches)
        rows.append(("", f"{names} in the store's folder are not used any more and may be deleted"))
    say_table(rows)
    if findings.edit is not None:
        _print_edit(findings.edit)
        say(
            "`workbench doctor --accept-edit` takes this over, `--dismiss-edit` turns it down and keeps the file."
        )


def _backup(findings: "Findings", backup: "LastBackup | None") -> str:
    if backup is None:
        return "none made here yet; `workbench backup FILE` makes one"
    since = max(0, findings.diagnosis.rev - backup.rev)
    return f"{backup.file}, {moment(backup.at)}, revision {backup.rev:,}; {counted(since, 'change')} since"


def _print_half_done(one: "HalfDone") -> None:
    if not one.readable:
        say(
            f"A change of files was broken off; which ones is not known any more: {one.note.name} cannot be read."
        )
        return
    say(f"A change of files was broken off ({one.note.name}); the store says that they are to be:")
    for edit in one.edits:
        what = "made" if edit.before is None else "deleted" if edit.after is None else "changed"
        say(f"  {edit.name} is {what}")
        lines = edit.lines()
        for line in lines[:SHOWN]:
            say(f"    {line}")
        if len(lines) > SHOWN:
            say(f"    … {len(lines) - SHOWN:,} more lines")
    for path in one.outside:
        say(f"  {path} lies outside the project and is not touched; look at it.")
    if one.problem:
        say(f"  It cannot be done: {one.problem}")
    elif not one.edits:
        say("  Nothing is left to do in the project; only the note of it goes.")


def _print_edit(edit: "OutsideEdit") -> None:
    say(
        f"{edit.file} was changed by another program since revision {edit.base}: {counted(edit.records, 'record')}"
    )
    for field in edit.fields[:SHOWN]:
        say(f"      {field.key} {field.field}: {_value(field.before)} → {_value(field.after)}")
    if len(edit.fields) > SHOWN:
        say(f"      … {len(edit.fields) - SHOWN:,} more fields")


def _value(value: object) -> str:
    return "(none)" if value is None else one_line(in_one_line(value), SHOWN) or "(empty)"


def _json(findings: "Findings") -> dict[str, object]:
    diagnosis, edit = findings.diagnosis, findings.edit
    return {
        "store": diagnosis.folder,
        "clean": findings.is_clean,
        "revision": diagnosis.rev,
        "changes": diagnosis.entries,
        "damage": [one._asdict() for one in diagnosis.damage],
        "gone": [one._asdict() for one in diagnosis.gone],
        "still_in_checkpoint": [{"table": table, "id": key} for table, key in diagnosis.held],
        "renumbered": diagnosis.renumbered,
        "unfinished_purges": diagnosis.purges,
        "blobs": [one._asdict() for one in diagnosis.blobs],
        "unfinished_last_line": diagnosis.torn,
        "notes": diagnosis.notes,
        "unfinished": [{"group": group, "label": label} for group, label in findings.unfinished],
        "half_done": [
            {
                "note": one.note.name,
                "readable": one.readable,
                "files": [edit.name for edit in one.edits],
                "outside": one.outside,
                "problem": one.problem,
            }
            for one in findings.half_done
        ],
        "outside_edit": edit,
        "caches": findings.caches,
        "leavings": findings.leavings,
        "leavings_outside": findings.outside,
        "unreadable_working": findings.unreadable,
        "too_long": findings.too_long,
        "open_to_git": findings.open_to_git,
        "dated_after_now": findings.later,
        "old_caches": findings.old_caches,
        "index_made_anew": None if findings.mended is None else findings.mended._asdict(),
    }


def _size(count: int) -> str:
    return f"{count / 1e6:,.1f} MB" if count >= 100_000 else f"{count:,} bytes"
