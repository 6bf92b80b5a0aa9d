"""`workbench doctor`, `compact`, `backup`, `restore`, `migrate` and `purge`: looking after a store."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.describe import compact as in_one_line
from workbench.cli.output import few, moment, picked, say, shortened, table, warn
from workbench.cli.progress import ProgressLine
from workbench.cli.safety import mask, rewritten_lines
from workbench.cli.session import CLI_ACTOR, DONE, FOUND, actor_of
from workbench.cli.verbs import (
    UNDO,
    Answer,
    Call,
    Option,
    Verb,
    changing,
    flag,
    reading_whole,
    several,
    unopened,
    value,
)
from workbench.config import drafts, paths, recent
from workbench.core.agents.actors import require_person
from workbench.core.record import WorkbenchError, parse_time
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from workbench.core.health import Diagnosis, Manifest
    from workbench.services.health.doctor import Findings, OutsideEdit
    from workbench.services.health.purge import PurgePlan, PurgeResult
    from workbench.services.open import Workbench
    from workbench.services.promotion.placements import HalfDone


# `workbench doctor` and `workbench compact`: what is wrong with a store, and putting it right.


SHOWN = 60
"""Cells of a value, and how many fields of an outside edit or lines of a file's change are listed."""

_DOCTOR = """Reports damaged places by file, line and byte; changes stored on this machine that are missing
now; changes merged under one revision; interrupted imports, purges, maskings and file changes;
files left by killed processes; missing or damaged files beside the store; and edits of
memory.json by other programs. The read index of a large store is compared with its files and
rebuilt if it differs; nothing else changes unless an option asks for it. Use --accept when the
journal is shorter on purpose, after a checkout or a restored backup: what is missing is no longer
reported. Exit code: 0 when all is well or the option was carried out, 1 when something was found,
2 when it cannot be done."""

_COMPACT = """Compresses closed journal files (64 MB each) with gzip. The history still reads them, and nothing
is lost."""


def examine(call: Call) -> Answer:
    """Say what was found, or do what was asked."""
    from workbench.services.health import doctor

    args, session, folder = call.args, call.session, call.session.known_store()
    if args.accept_edit or args.dismiss_edit:
        return _settle(call)
    if args.finish:
        return _finish(call)
    diagnosis = doctor.examine(folder, paths.heads_dir())
    if args.accept:
        return _accept(call, diagnosis)
    if args.recover:
        return _recover(call, diagnosis)
    for line in _diagnosis_lines(diagnosis):
        call.say(line)
    with session.reading(remarks=False, whole=True) as bench:
        findings = bench.care.findings(diagnosis, paths.state_dir())
    code = DONE if findings.is_clean else FOUND
    return Answer(lambda: _findings_json(findings), lambda: _findings_lines(findings), code=code)


def compact(call: Call) -> Answer:
    """Pack, and say what that saved."""
    packed = call.bench.care.compact()
    lines = [f"{one.file.name}: {_size(one.before)} → {_size(one.after)}" for one in packed]
    return Answer(lines=lines or ["Nothing to compress."])


def _settle(call: Call) -> Answer:
    with call.session.changing(remarks=False) as bench:
        edit = bench.care.edit()
        lines = [] if edit is None else list(_edit_lines(edit))
        if call.args.accept_edit:
            lines.append(f"Accepted {counted(bench.care.accept_edit(), 'record')}. {UNDO}")
        else:
            kept = bench.care.dismiss_edit().name
            lines.append(f"Dismissed. The other version is kept as {kept}.")
        bench.close()
        if bench.care.edit() is not None:
            lines.append("Another changed file waits; `workbench doctor` shows it.")
    return _said(lines)


def _accept(call: Call, diagnosis: "Diagnosis") -> Answer:
    with call.session.changing(remarks=False) as bench:
        accepted, rev = bench.care.accept(), bench.library.revision
    if not accepted:
        return _said(
            [f"Nothing is missing from {diagnosis.folder}, so there is nothing to accept."]
        )
    lines = [f"No longer reported as missing: {one}" for one in accepted]
    return _said([f"Accepted: the journal ends at revision {rev:,}.", *lines])


def _finish(call: Call) -> Answer:
    """Go on with all that was broken off: changes of files, purges and maskings."""
    with call.session.changing(remarks=False) as bench:
        found = bench.care.half_done()
        for number, one in enumerate(found):
            # An earlier one may have changed a file that a later one speaks of.
            now = bench.care.half_done()[0] if number else one
            for line in _half_done_lines(now):
                say(line)
            bench.care.finish(now)
        broken, codes = bench.care.broken_purges(), [DONE]
        for purge in broken:
            say(str(purge))
            if not purge.masks:
                codes.append(erase(bench, bench.eraser.plan_rest(purge)))
        if any(purge.masks for purge in broken):
            codes.append(mask(bench))
    if found:
        say(f"Settled {counted(len(found), 'broken change')}.")
    if not (found or broken):
        say("No interrupted change.")
    return Answer(code=max(codes))


def _said(lines: Sequence[str]) -> Answer:
    """Print what was done, also with `--json`, which is for what was found."""
    for line in lines:
        say(line)
    return Answer()


def _recover(call: Call, diagnosis: "Diagnosis") -> Answer:
    from workbench.services.health import doctor

    if diagnosis.is_sound:
        return _said([f"Nothing is damaged in {diagnosis.folder}, so there is nothing to recover."])
    _said(_diagnosis_lines(diagnosis))
    saved = doctor.recover(diagnosis.folder, call.session.clock())
    lines = [f"Recovered {counted(saved.entries, 'change')} into {saved.folder}."]
    if saved.from_checkpoint:
        came = counted(saved.from_checkpoint, "record")
        lines.append(f"{came} came from memory.json only, without history.")
    look = f"Open the new one with: workbench --store {saved.folder}"
    return _said([*lines, f"This store stays as it is. {look}"])


def _diagnosis_lines(diagnosis: "Diagnosis") -> list[str]:
    damage = diagnosis.damage
    state = f"{counted(len(damage), 'place')} damaged" if damage else "no damage"
    changes = f"{counted(diagnosis.entries, 'change')} up to revision {diagnosis.rev:,}"
    rows = [("store", str(diagnosis.folder)), ("journal", f"{changes}; {state}")]
    rows += [("damage", str(place)) for place in damage]
    aside = "into a new store beside this one"
    if damage:
        rows.append(("", f"`workbench doctor --recover` saves everything else {aside}"))
    rows += [("gone", str(one)) for one in diagnosis.gone]
    if diagnosis.gone and diagnosis.held:
        names = few([key for _, key in diagnosis.held], SHOWN)
        rows.append(("", f"memory.json differs from the journal: {names}"))
        rows.append(("", f"`workbench doctor --recover` saves that too, {aside}"))
    elif diagnosis.gone:
        rows.append(
            ("", "its content is not known here; look in a backup, or where it was copied from")
        )  # fmt: skip
    if diagnosis.gone:
        how = "after a checkout, or a backup put back"
        rows.append(("", f"`workbench doctor --accept` takes the journal as it is: {how}"))
    rows += [("merged", str(one)) for one in diagnosis.renumbered]
    if diagnosis.renumbered:
        rows.append(("", "both are kept; the next change records their order"))
    if diagnosis.torn:
        unfinished = f"the last line is unfinished ({diagnosis.torn} bytes) and will be dropped"
        rows.append(("note", f"{unfinished}: left by a crash"))
    for one in diagnosis.purges:
        rows.append(("purge", str(one)))
        rows.append(("", "`workbench doctor --finish` continues it; there is no undo"))
    rows += [("beside", str(one)) for one in diagnosis.blobs[:SHOWN]]
    if len(diagnosis.blobs) > SHOWN:
        rows.append(("", f"and {len(diagnosis.blobs) - SHOWN:,} more; --json names all"))
    return table([*rows, *(("note", note) for note in diagnosis.notes)])


def _findings_lines(findings: "Findings") -> Iterator[str]:
    for one in findings.half_done:
        yield from _half_done_lines(one)
        yield "`workbench doctor --finish` does this."
    team = findings.team
    told = [] if team is None else [*team.sentences(), *team.problems]
    rows = [("" if at else "team", sentence) for at, sentence in enumerate(told)]
    rows.append(("backup", _last_backup(findings)))
    for group, label in findings.unfinished:
        rows.append(("unfinished", label))
        rows.append(("", f"`workbench undo --group {group}` takes back what was written"))
    for name in findings.leavings:
        rows.append(("leftover", f"{name}: left by a process; the next change removes it"))
    for path in findings.outside:
        rows.append(("leftover", f"{path}: left by a process; the next one of its kind removes it"))
    about = "is not JSON; the next snapshot of its session rewrites it from the store"
    rows += [("working", f"{name} {about}") for name in findings.unreadable]
    rows += [
        ("too long", f"{name} is kept in full and shown truncated") for name in findings.too_long
    ]
    if findings.open_to_git:
        how = "a .gitignore in it with the line * excludes it"
        rows.append(("git", f"`git add` would add this store; {how}"))
    if findings.later:
        said = counted(findings.later, "memory is", "memories are")
        late = "dated in the future and not found until then; is this machine's clock right?"
        rows.append(("clock", f"{said} {late}"))
    caches = ", ".join(f"{c.name} {_size(c.size)}" for c in findings.caches) or "none yet"
    rows.append(("caches", f"{caches}; rebuilt when missing or wrong"))
    if findings.mended is not None:
        rows.append(("", f"{moment(findings.mended.at)}: {findings.mended}, and was rebuilt"))
    if findings.old_caches:
        names = ", ".join(f"cache/{part.name}" for part in findings.old_caches)
        rows.append(("", f"{names} in the store's folder are no longer used and may be deleted"))
    yield from table(rows)
    if findings.edit is not None:
        yield from _edit_lines(findings.edit)
        how = "`--dismiss-edit` dismisses it and keeps the file"
        yield f"`workbench doctor --accept-edit` accepts it, {how}."


def _last_backup(findings: "Findings") -> str:
    backup = recent.last_backup(paths.state_dir(), findings.diagnosis.folder)
    if backup is None:
        return "none yet; `workbench backup FILE` makes one"
    since = counted(max(0, findings.diagnosis.rev - backup.rev), "change")
    return f"{backup.file}, {moment(backup.at)}, revision {backup.rev:,}; {since} since"


def _half_done_lines(one: "HalfDone") -> Iterator[str]:
    name = one.note.name
    if not one.readable:
        yield f"A change of files was interrupted; which ones is unknown: {name} cannot be read."
        return
    yield f"A change of files was interrupted ({name}); according to the store:"
    for edit in one.edits:
        what = "made" if edit.before is None else "deleted" if edit.after is None else "changed"
        yield f"  {edit.name} is {what}"
        yield from (f"    {line}" for line in shortened(edit.lines(), SHOWN))
    for path in one.outside:
        yield f"  {path} lies outside the project and is not touched; please check it."
    if one.problem:
        yield f"  It cannot be done: {one.problem}"
    elif not one.edits:
        yield "  Nothing is left to do in the project; only the record of it is removed."


def _edit_lines(edit: "OutsideEdit") -> Iterator[str]:
    from workbench.services.safety.masking import masked_text

    since = f"since revision {edit.base}: {counted(edit.records, 'record')}"
    yield f"{edit.file} was changed by another program {since}"
    for field in edit.fields[:SHOWN]:
        before, after = (
            "(none)"
            if value is None
            else one_line(masked_text(in_one_line(value)), SHOWN) or "(empty)"
            for value in (field.before, field.after)
        )
        yield f"      {field.key} {field.field}: {before} → {after}"
    if len(edit.fields) > SHOWN:
        yield f"      … {len(edit.fields) - SHOWN:,} more fields"


def _findings_json(findings: "Findings") -> dict[str, object]:
    diagnosis = findings.diagnosis
    about = ("revision:rev", "changes:entries", "damage", "gone")
    rest = ("renumbered", "unfinished_purges:purges", "blobs", "unfinished_last_line:torn", "notes")
    beside = (
        "outside_edit:edit", "caches", "leavings", "leavings_outside:outside", "unreadable_working:unreadable",
        "too_long", "open_to_git", "dated_after_now:later", "old_caches", "index_made_anew:mended",
    )  # fmt: skip
    return {
        "store": diagnosis.folder,
        "clean": findings.is_clean,
        **picked(diagnosis, *about),
        "still_in_checkpoint": [{"table": table, "id": key} for table, key in diagnosis.held],
        **picked(diagnosis, *rest),
        "unfinished": [{"group": group, "label": label} for group, label in findings.unfinished],
        "half_done": [
            {
                "note": one.note.name,
                "readable": one.readable,
                "files": [edit.name for edit in one.edits],
                **picked(one, "outside", "problem"),
            }
            for one in findings.half_done
        ],
        **picked(findings, *beside),
        **({"team": findings.team} if findings.team is not None else {}),
    }


def _size(count: int) -> str:
    return f"{count / 1e6:,.1f} MB" if count >= 100_000 else f"{count:,} bytes"


# `workbench backup` and `workbench restore`: a store in one file, and a store of such a file.


_BACKUP = """Writes the store with its whole history into one compressed file, and verifies it. Other processes
may keep writing. Caches are left out; they are rebuilt. A backup keeps what is purged later.
Secrets in the present records are counted on stderr and kept, unless --mask is given."""

_RESTORE = """Creates a new store from a backup, which is verified while it is read. If the backup is damaged
nothing is left behind.

  workbench restore memories.tar.gz ~/shop/.workbench"""


_MIGRATE = """Creates a new store from one that a development version before 1.0 wrote, or from a backup of
it: all records, their history, votes, judgments and undo. The new store is read back and compared
with the old one, which stays as it is. If they differ nothing is left behind.

  workbench migrate .workbench .workbench-1"""


class _Megabytes(ProgressLine):
    """The progress of a copy, of which small ones are made without a word."""

    def __init__(self, what: str) -> None:
        super().__init__(f"MB {what}", 32)

    def __call__(self, done: int, total: int) -> None:
        super().__call__(done >> 20, total >> 20)


def write_backup(call: Call) -> Answer:
    """Write the backup, remember it, and say what it holds."""
    from workbench.services.health.backup import back_up, write_masked

    args, bench, file = call.args, call.bench, call.path(call.args.file)
    actor = bench.context.actor
    masks = args.mask or actor_of(args) != CLI_ACTOR  # an agent reads what it has written
    if bench.context.settings.agents.only_approved(actor):
        require_person(actor, "back up unapproved data", "Nothing was written")
    line = _Megabytes("backed up")
    try:
        made, secrets = (write_masked if masks else back_up)(
            bench, file, call.session.clock(), force=args.force, progress=line
        )
    finally:
        line.clear()
    if secrets:
        what = counted(secrets, "secret")
        warn(f"{what} masked in it." if masks else f"It contains {what}; --mask leaves them out.")
    last = recent.LastBackup(file, parse_time(made.at), made.rev)
    recent.remember_backup(paths.state_dir(), call.session.known_store(), last)
    return Answer(_manifest_json(made, file), _manifest_lines(made, "backup", file))


def restore(call: Call) -> Answer:
    """Make the new store, and say what it holds."""
    from workbench.services.health.backup import make_of

    args = call.args
    if args.store is not None:
        raise WorkbenchError(
            "A backup is restored into a new folder.", "Give it as DIR, without --store."
        )
    folder, line = call.path(args.dir), _Megabytes("restored")
    try:
        made = make_of(call.path(args.file), folder, line)
    finally:
        line.clear()
    lines = _manifest_lines(made, "restored", folder)
    return Answer(
        _manifest_json(made, folder), [*lines, f"Open it with: workbench --store {folder}"]
    )


def migrate(call: Call) -> Answer:
    """Make the new store, and say what it holds."""
    from workbench.services.health.backup import held, migrate

    args = call.args
    if args.store is not None:
        raise WorkbenchError(
            "A store is migrated into a new folder.", "Give both as OLD and NEW, without --store."
        )
    made = migrate(call.path(args.old), call.path(args.dir), paths.heads_dir())
    rows = [
        ("migrated", str(made.folder)),
        ("holds", held(made.counts)),
        ("history", f"{counted(made.changes, 'change')}, all read back and compared"),
        ("records", f"SHA-256 {made.sha256}" + ("" if made.damage else ", as in the old store")),
        *(("not readable", str(place)) for place in made.damage),
    ]
    lines = [*table(rows), f"Open it with: workbench --store {made.folder}"]
    if not made.trusted:
        lines.append(
            "It has changes that were not made here; `workbench trust` shows them and asks."
        )
    told = {
        "path": made.folder,
        **picked(made, "changes", "counts", "sha256", "trusted"),
        "damaged": len(made.damage),
    }
    return Answer(told, lines, code=FOUND if made.damage else DONE)


def _manifest_lines(made: "Manifest", what: str, where: Path) -> list[str]:
    from workbench.services.health.backup import held

    rows = [
        (what, str(where)),
        ("made", f"{moment(parse_time(made.at))}, revision {made.rev:,}, every byte checked"),
        ("holds", held(made.counts)),
    ]
    rows += [
        ("", f"{member.name}, {member.size:,} bytes, SHA-256 {member.sha256}")
        for member in made.members
    ]
    if made.damaged:
        places = counted(made.damaged, "place")
        rows.append(("note", f"{places} of the store itself damaged: see `workbench doctor`"))
    return table(rows)


def _manifest_json(made: "Manifest", where: Path) -> dict[str, object]:
    names = ("at", "revision:rev", "counts", "bytes:size", "damaged", "members")
    return {"path": where, **picked(made, *names)}


# `workbench purge`: erasing records for good.


_PURGE = """Erases records with their votes, judgments, proposals and every text they ever had from
memory.json, the journal, backups and caches of this store, and from copies of replaced files.
There is no undo (use `forget` for that). Type each id again to confirm, or give --yes-erase ID in
a script. Promoted text is removed from those files; a file you edited there is only named, with
its line, and the exit code is 1. Exported files and copies of the store are not touched."""


def purge(call: Call) -> Answer:
    """Erase what was asked for and agreed to, and report what was removed where."""
    plan = call.bench.eraser.plan(call.args.ids)
    require_agreement(call.args.ids, call.args.yes_erase, plan)
    return Answer(code=erase(call.bench, plan))


def erase(bench: "Workbench", plan: "PurgePlan") -> int:
    """Erase what a plan names, with what was typed about it; say what was removed where, and return
    the exit code.
    """
    drafts.drop_about(
        drafts.folder_of(paths.state_dir(), bench.library.folder),
        [f"{table}/{key}" for table, key in plan.asked],
    )
    erased = bench.eraser.carry_out(plan)
    for line in _erased_lines(erased):
        say(line)
    for place in erased.elsewhere:
        warn(f"{place} is a copy of this store and was not touched.")
    for left in erased.edited:
        warn(
            f"The text may still be in {left}, which was edited by hand. Remove it there and purge again to check."
        )
    return FOUND if erased.edited else DONE


def require_agreement(ids: list[str], agreed: list[str], plan: "PurgePlan") -> None:
    """Ask for every id that was not agreed to; raises `WorkbenchError` when it is not given."""
    missing = [name for name in dict.fromkeys(ids) if name not in agreed]
    if not missing:
        return
    if not sys.stdin.isatty():
        hint = "Nothing was erased. Confirm with --yes-erase " + " --yes-erase ".join(missing)
        raise WorkbenchError("Purging asks for confirmation, and there is no terminal.", hint)
    warn(f"This erases {_erasing(plan)} for good. There is no undo.")
    for name in missing:
        sys.stderr.write(f"Type {ascii(name)[1:-1]} to erase it: ")
        sys.stderr.flush()
        if sys.stdin.readline().strip() != name:
            raise WorkbenchError(f"That is not {name}.", "Nothing was erased.")


def _erasing(plan: "PurgePlan") -> str:
    parts = [
        counted(len(places), kind.word)
        for kind, places in plan.about.items()
        if places and kind.word
    ]
    return ", ".join([*(key for _, key in plan.asked), *parts])


def _erased_lines(erased: "PurgeResult") -> Iterator[str]:
    done = erased.done
    if not done.rewritten:
        named = ", ".join(key for _, key in erased.plan.asked)
        yield f"{named}: already erased, nothing is left in the store."
        return
    yield f"Erased {_erasing(erased.plan)}."
    yield from rewritten_lines(erased, "the text")
    if erased.files:
        yield f"removed from: {', '.join(erased.files)}"
    if erased.copies:
        copies = counted(len(erased.copies), "copy", "copies")
        yield f"deleted: {copies} of replaced files that contained it"


OPTIONS: Mapping[str, Option] = {
    "--recover": flag("save what is readable into a new store beside this one"),
    "--accept": flag("accept the journal as it is, without the missing changes"),
    "--finish": flag("finish an interrupted purge, masking or file change"),
    "--accept-edit": flag("accept another program's changes"),
    "--dismiss-edit": flag("dismiss them; the file is kept"),
    "file": value("FILE", "the file to write, such as memories.tar.gz", type=Path),
    "file:backup": value("FILE", "the backup", type=Path),
    "old": value("OLD", "the old store, or a backup of it", type=Path),
    "--mask": flag(
        "leave out secrets you did not allow, in the whole history; the store itself stays unchanged"
    ),
    "--force": flag("replace an existing file"),
    "dir": value("DIR", "the folder of the new store; must not exist", type=Path),
    "ids": value("ID", "a memory's id or a bullet's (BOOK/ID)"),
    "--yes-erase": several("ID", "confirm erasing this id"),
}  # fmt: skip

VERBS = (
    Verb("doctor", examine, "check the store for problems",
         "--recover|--accept|--finish|--accept-edit|--dismiss-edit --json", _DOCTOR, "--json", unopened),
    Verb("compact", compact, "compress closed journal files", "", _COMPACT, "", changing),
    Verb("backup", write_backup, "back up the store into one file", "file --mask --force --json", _BACKUP,
         "memories.tar.gz", reading_whole),
    Verb("restore", restore, "create a new store from a backup", "file:backup dir --json", _RESTORE, None, unopened),
    Verb("migrate", migrate, "create a store from one of a version before 1.0", "old dir --json", _MIGRATE, None,
         unopened),
    Verb("purge", purge, "erase memories or bullets for good", "ids+ --yes-erase", _PURGE,
         "mem-20261121-0000001", changing),
)  # fmt: skip
