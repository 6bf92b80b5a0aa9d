"""`workbench doctor` and `workbench compact`: looking after the store."""

from typing import TYPE_CHECKING

from workbench.cli.describe import compact as in_one_line
from workbench.cli.output import counted, say, table, write_json
from workbench.cli.parsing import Commands, add_command, add_json, wants_json
from workbench.cli.session import Session
from workbench.core.text import one_line

if TYPE_CHECKING:
    from workbench.bench.care import Findings, OutsideEdit
    from workbench.store.doctor import Diagnosis

FOUND = 1
"""Exit code when something waits for a person."""

SHOWN = 60
"""Cells of a value, and how many fields of an outside edit are listed."""

_DOCTOR = """Names every damaged place by file, line and byte; imports that were not finished; and what another
program changed in memory.json. Nothing is changed unless an option asks for it.
Exit code: 0 when all is well or what was asked is done, 1 when something was found, 2 when it cannot be done."""

_COMPACT = """Closed journal files (64 MB each) are gzipped; the history reads them as before. Nothing is lost."""


def add_commands(commands: Commands) -> None:
    """Add `doctor` and `compact`."""
    parser = add_command(commands, "doctor", examine, "check the store and say what is wrong with it", _DOCTOR)
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument("--recover", action="store_true", help="save what can be read into a new store beside this one")
    asked.add_argument("--accept-edit", action="store_true", help="take over what another program changed")
    asked.add_argument("--dismiss-edit", action="store_true", help="turn it down; its file is kept")
    add_json(parser)
    add_command(commands, "compact", compact, "gzip the closed journal files", _COMPACT)


def examine(session: Session) -> int:
    """Say what was found, or do what was asked."""
    from workbench.bench import care

    args, folder = session.args, session.choice().folder
    if args.accept_edit or args.dismiss_edit:
        return _settle(session)
    diagnosis = care.examine(folder)
    if args.recover:
        return _recover(session, diagnosis)
    if not wants_json(args):
        _print_diagnosis(diagnosis)
    with session.reading(remarks=False) as bench:
        findings = bench.care.findings(diagnosis)
    if wants_json(args):
        write_json(_json(findings))
    else:
        _print_findings(findings)
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
            say(f"Took over {counted(bench.care.accept_edit(), 'record')}. `workbench undo` takes it back.")
        else:
            say(f"Turned down. The other version is kept as {bench.care.dismiss_edit().name}.")
        bench.close()
        if bench.care.edit() is not None:
            say("Another changed file waits; `workbench doctor` shows it.")
    return 0


def _recover(session: Session, diagnosis: "Diagnosis") -> int:
    from workbench.bench import care

    if diagnosis.is_sound:
        say(f"Nothing is damaged in {diagnosis.folder}, so there is nothing to recover.")
        return 0
    _print_diagnosis(diagnosis)
    saved = care.recover(diagnosis.folder, session.clock())
    say(f"Recovered {counted(saved.entries, 'change')} into {saved.folder}.")
    if saved.from_checkpoint:
        say(f"{counted(saved.from_checkpoint, 'record')} came from memory.json alone, without their history.")
    say(f"This store stays as it is. Look at the new one with: workbench --store {saved.folder}")
    return 0


def _print_diagnosis(diagnosis: "Diagnosis") -> None:
    state = "every line is sound" if diagnosis.is_sound else f"{counted(len(diagnosis.damage), 'place')} damaged"
    rows = [
        ("store", str(diagnosis.folder)),
        ("journal", f"{counted(diagnosis.entries, 'change')} up to revision {diagnosis.rev:,}; {state}"),
        *(("damage", str(place)) for place in diagnosis.damage),
    ]
    if not diagnosis.is_sound:
        rows.append(("", "`workbench doctor --recover` saves everything else into a new store beside this one"))
    if diagnosis.torn:
        rows.append(
            ("note", f"the last line is unfinished ({diagnosis.torn} bytes) and will be dropped: a crash left it")
        )
    rows += [("note", note) for note in diagnosis.notes]
    for line in table(rows):
        say(line)


def _print_findings(findings: "Findings") -> None:
    rows = []
    for group, label in findings.unfinished:
        rows += [("unfinished", label), ("", f"`workbench undo --group {group}` takes back what was written")]
    caches = ", ".join(f"{c.name} {_size(c.size)}" for c in findings.caches) or "none yet"
    rows.append(("caches", f"{caches}; made again whenever they are missing or wrong"))
    for line in table(rows):
        say(line)
    if findings.edit is not None:
        _print_edit(findings.edit)
        say("`workbench doctor --accept-edit` takes this over, `--dismiss-edit` turns it down and keeps the file.")


def _print_edit(edit: "OutsideEdit") -> None:
    say(f"{edit.file} was changed by another program since revision {edit.base}: {counted(edit.records, 'record')}")
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
        "damage": diagnosis.damage,
        "unfinished_last_line": diagnosis.torn,
        "notes": diagnosis.notes,
        "unfinished": [{"group": group, "label": label} for group, label in findings.unfinished],
        "outside_edit": edit,
        "caches": findings.caches,
    }


def _size(count: int) -> str:
    return f"{count / 1e6:,.1f} MB" if count >= 100_000 else f"{count:,} bytes"
