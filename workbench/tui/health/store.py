"""Health: whether the store is sound, what waits to be settled, and how large it is."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from textual.content import Content

from workbench.config import paths
from workbench.config.backups import LastBackup, last_backup
from workbench.core.health import Diagnosis
from workbench.core.text import printable
from workbench.services.health import doctor
from workbench.services.health.doctor import Findings, OutsideEdit
from workbench.services.open import Workbench
from workbench.services.promotion.placements import HalfDone
from workbench.services.safety.masking import masked
from workbench.tui.health.reflection import Facts, Hands, Row, Section, Watch, figures, key_line
from workbench.tui.widgets.content import MUTED, assemble, body, undo, word_diff
from workbench.tui.widgets.figures import amount, number, since

ID = "store"
GOOD, BAD = "✓", "✗"
ERROR = "$text-error"
LISTED = 40
HELD = "memory.json still knows {} records that the journal does not, or not like that."
NOT_HELD = "What it was is not known here: look into a backup, or where the store was copied or checked out from."
ACCEPT = "`workbench doctor --accept` takes the journal as it is: after a checkout, or a backup that was put back."


@dataclass(frozen=True, slots=True)
class State:
    """What the doctor found, how many records there are, the bytes of journal and checkpoint, and the last backup."""

    findings: Findings
    memories: int
    bullets: int
    size: int
    backup: LastBackup | None = None


def gather(bench: Workbench, _watch: Watch) -> State:
    """Read every line of the journal, as `workbench doctor` does."""
    library = bench.library
    findings = bench.care.findings(doctor.examine(library.folder, library.heads))
    size, backup = doctor.size_of(library.folder), last_backup(paths.state_dir(), library.folder)
    return State(findings, len(library.memories), len(library.bullets), size, backup)


def rows(facts: Facts) -> Sequence[Row]:
    """Return a row for the journal, for whatever waits, and for the sizes."""
    state = cast(State, facts.found[ID].value)
    findings, mask = state.findings, facts.bench.safety.masked
    found = [_journal(findings.diagnosis, facts)]
    for group, label in findings.unfinished:
        found.append(
            figures(ID, f"unfinished-{group}", BAD, f"not finished: {mask(label)}", item=(group, label), style=ERROR)
        )
    for broken in findings.half_done:
        text = f"a change of files was broken off ({len(broken.edits)} to settle)"
        found.append(figures(ID, f"half-done-{broken.note.name}", BAD, text, item=broken, style=ERROR))
    if findings.edit is not None:
        text = f"{findings.edit.file} was changed by another program"
        found.append(figures(ID, "edit", BAD, text, item=findings.edit, style=ERROR))
    library = facts.bench.library  # what was counted with the journal may be of a while ago
    records = f"{amount(len(library.memories), 'memory', 'memories')}, {amount(len(library.bullets), 'bullet')}"
    found.append(figures(ID, "size", "", f"{records}, {_bytes(state.size)}", item=state))
    caches = ", ".join(f"{c.name} {_bytes(c.size)}" for c in findings.caches) or "none yet"
    found.append(figures(ID, "caches", "", f"caches: {caches}", item=state))
    found.append(figures(ID, "backup", "", _backup(state, facts), item=state))
    return found


def detail(row: Row, facts: Facts) -> Content:
    """Return what a row means, and what can be done about it."""
    state = cast(State, facts.found[ID].value)
    if isinstance(row.item, OutsideEdit):
        return _edit(row, row.item, facts)
    if isinstance(row.item, HalfDone):
        return _half_done(row.item, facts)
    if isinstance(row.item, tuple):
        group, label = row.item
        hint = f"workbench undo --group {printable(group)}"
        return Content("\n").join(
            [body(facts.bench.safety.masked(label), "bold"), Content(""),
             body("It was stopped before it was through. What was written is here."),
             assemble([("Take it back with: ", MUTED), (hint, "")])]
        )  # fmt: skip
    diagnosis = state.findings.diagnosis
    parts = [Content.styled("The store", "bold"), body(str(diagnosis.folder), MUTED), Content("")]
    parts += _wrong(diagnosis)
    parts += [body(note, MUTED) for note in diagnosis.notes]
    parts += [Content(""), body(_backup(state, facts), MUTED)]
    parts += _caches(state.findings, facts)
    return Content("\n").join([*parts, Content(""), *_ways(facts)])


def _ways(facts: Facts) -> list[Content]:
    """Return what the keys do with a store."""
    keys = facts.keys
    return [
        key_line(keys["health.check"], "reads every line again"),
        key_line(keys["health.compact"], "packs the closed files of the journal; the history reads them as before"),
        key_line(keys["health.backup"], "writes the store with its whole history into one file"),
    ]


async def back_up(health: Hands, row: Row) -> None:
    """Ask where to, and write a backup there."""
    del row
    from workbench.tui.health.backup import BackupDialog

    if await health.workbench_app.push_screen_wait(BackupDialog(health.bench, Path.cwd())):
        health.gather(ID)


def _wrong(diagnosis: Diagnosis) -> list[Content]:
    """Return what is wrong with a store, and what to do about it."""
    parts = [body(_sound(diagnosis))]
    parts += [body(f"{BAD} {place}", ERROR) for place in diagnosis.damage[:LISTED]]
    parts += [body(f"{BAD} {one}", ERROR) for one in diagnosis.gone]
    parts += [body(f"{BAD} {one}", ERROR) for one in diagnosis.renumbered[:LISTED]]
    if diagnosis.gone:
        parts.append(body(HELD.format(number(len(diagnosis.held)))) if diagnosis.held else body(NOT_HELD))
        parts.append(body(ACCEPT))
    if diagnosis.renumbered:
        parts.append(body("Both are kept; the next change writes them down in order."))
    if diagnosis.damage:
        parts.append(body("`workbench doctor --recover` saves everything else into a new store beside this one."))
    if diagnosis.purges:
        parts += [body(f"{BAD} {one}", ERROR) for one in diagnosis.purges]
        parts.append(body("`workbench doctor --finish` goes on with it; there is no way back."))
    parts += [body(f"{BAD} {one}", ERROR) for one in diagnosis.blobs[:LISTED]]
    if diagnosis.torn:
        parts.append(
            body(f"The last line is unfinished ({diagnosis.torn} bytes) and will be dropped: a crash left it.")
        )
    return parts


async def compact(health: Hands, row: Row) -> None:
    """Pack, and say what that saved."""
    del row
    packed = await asyncio.to_thread(health.bench.care.compact)
    if not packed:
        health.workbench_app.say("Nothing to pack: no closed journal file is unpacked.")
        return
    before, after = sum(p.before for p in packed), sum(p.after for p in packed)
    files = f"{len(packed)} file{'' if len(packed) == 1 else 's'}"
    health.workbench_app.say(f"Packed {files}: {_bytes(before)} became {_bytes(after)}.")
    health.gather(ID)


async def accept(health: Hands, row: Row) -> None:
    """Take over an outside edit, or settle a broken change of files, after a yes."""
    if isinstance(row.item, HalfDone):
        await _finish(health, row.item)
        return
    if not isinstance(row.item, OutsideEdit):
        health.workbench_app.say("Nothing to decide here.")
        return
    question = f"Take over what another program changed in {row.item.file}?"
    if await _asked(
        health, question, f"{row.item.records} records change as shown. {undo()} takes it back.", "take over"
    ):

        def take_over() -> None:
            count = health.bench.care.accept_edit()
            health.workbench_app.say(f"Took over {count} record{'' if count == 1 else 's'}. {undo()} takes it back.")
            health.gather(ID)

        health.workbench_app.change(take_over)


async def _finish(health: Hands, broken: HalfDone) -> None:
    count = len(broken.edits)
    files = f"{count} file{'' if count == 1 else 's'}"
    if await _asked(health, "Bring the files to what the store says?", f"{files} change as shown.", "do it"):

        def finish() -> None:
            health.bench.care.finish(broken)
            health.workbench_app.say(f"Settled: {files} changed.")
            health.gather(ID)

        health.workbench_app.change(finish)


async def dismiss(health: Hands, row: Row) -> None:
    """Turn an outside edit down, after a yes."""
    if not isinstance(row.item, OutsideEdit):
        health.workbench_app.say("Nothing to decide here.")
        return
    question = f"Turn down what another program changed in {row.item.file}?"
    if await _asked(health, question, "Its version of the file is kept beside it.", "turn down"):

        def turn_down() -> None:
            health.workbench_app.say(f"Turned down; kept as {health.bench.care.dismiss_edit().name}.")
            health.gather(ID)

        health.workbench_app.change(turn_down)


async def _asked(health: Hands, question: str, detail: str, yes: str) -> bool:
    from workbench.tui.widgets.dialog import Confirm

    asked = Confirm(question, clock=health.seconds, detail=body(detail), yes=yes)
    return await health.workbench_app.push_screen_wait(asked) or False


def _journal(diagnosis: Diagnosis, facts: Facts) -> Row:
    good = diagnosis.is_sound and not (diagnosis.purges or diagnosis.blobs)
    sign, style = (GOOD, "") if good else (BAD, ERROR)
    newer = facts.bench.library.revision - diagnosis.rev
    return figures(ID, "journal", sign, _sound(diagnosis, max(0, newer)), item=diagnosis, style=style)


def _backup(state: State, facts: Facts) -> str:
    """Say when the last backup was made here and what came after it, or how to make one."""
    if state.backup is None:
        return f"no backup yet: {facts.keys['health.backup']} makes one"
    changes = facts.bench.library.revision - state.backup.rev
    then = f"{amount(changes, 'change')} since" if changes > 0 else "nothing changed since"
    return f"last backup {since(state.backup.at, facts.now)}: {state.backup.file.name}, {then}"


def _sound(diagnosis: Diagnosis, newer: int = 0) -> str:
    """Say what was found, and how many changes there are that are `newer` than the look."""
    count = len(diagnosis.damage)
    found = [f"{count} place{'' if count == 1 else 's'} damaged"] if count else []
    found += ["something that was stored is gone"] if diagnosis.gone else []
    found += ["changes under one number"] if diagnosis.renumbered else []
    found += ["a purge was broken off"] if diagnosis.purges else []
    found += ["something beside the store cannot be read"] if diagnosis.blobs else []
    state = ", ".join(found) or "every line is sound"
    if newer:
        return f"{state} up to revision {number(diagnosis.rev)}; {number(newer)} since"
    return f"{state}; {amount(diagnosis.entries, 'change')} up to revision {number(diagnosis.rev)}"


def _edit(row: Row, edit: OutsideEdit, facts: Facts) -> Content:
    keys = facts.keys
    parts = [
        body(f"{edit.file} was changed by another program since revision {edit.base}", "bold"),
        key_line(keys["health.apply"], f"takes over {edit.records} record{'' if edit.records == 1 else 's'}"),
        key_line(keys["health.refuse"], "turns it down; that file is kept"),
        Content(""),
    ]
    fields = edit.fields[:LISTED]
    shown = fields if row.key in facts.unfolded else masked(fields, facts.bench.safety.masked)
    if shown != fields:
        parts[-1:-1] = [key_line(keys["health.unfold"], "shows the secrets that are masked below")]
    for field in shown:
        before, after = (
            ("" if v is None else v if isinstance(v, str) else repr(v)) for v in (field.before, field.after)
        )
        parts.append(body(f"{field.key} {field.field}: ", MUTED) + word_diff(before, after))
    if len(edit.fields) > LISTED:
        parts.append(Content.styled(f"… and {number(len(edit.fields) - LISTED)} more fields", MUTED))
    return Content("\n").join(parts)


def _half_done(broken: HalfDone, facts: Facts) -> Content:
    parts = [body("A change of files was broken off", "bold"), body(broken.note.name, MUTED), Content("")]
    if not broken.readable:
        parts.append(body("Which files it had written is not known any more: the note cannot be read."))
    if broken.problem:
        return Content("\n").join([*parts, body(f"It cannot be settled: {broken.problem}", ERROR)])
    parts.append(key_line(facts.keys["health.apply"], "brings the files to what the store says, as below"))
    for edit in broken.edits:
        what = "is made" if edit.before is None else "is deleted" if edit.after is None else "is changed"
        lines = facts.bench.safety.masked_diff(edit.lines(), map(_text, (edit.before, edit.after)))
        parts += [Content(""), body(f"{edit.name} {what}", "bold"), *(body(str(line)) for line in lines[:LISTED])]
        if len(lines) > LISTED:
            parts.append(Content.styled(f"… and {number(len(lines) - LISTED)} more lines", MUTED))
    parts += [body(f"{path} lies outside the project and is left; look at it.", MUTED) for path in broken.outside]
    if not broken.edits:
        parts.append(body("Nothing is left to do in the project; only the note of it goes.", MUTED))
    return Content("\n").join(parts)


def _text(side: str | bytes | None) -> str:
    return side.decode("utf-8", "replace") if isinstance(side, bytes) else side or ""


def _caches(findings: Findings, facts: Facts) -> list[Content]:
    parts = [Content(""), Content.styled("Caches are made again whenever they are missing or wrong:", MUTED)]
    parts += [body(f"  {c.name}: {c.files} files, {_bytes(c.size)}") for c in findings.caches]
    if findings.mended is not None:
        parts.append(body(f"{since(findings.mended.at, facts.now)}: {findings.mended}, and was made anew.", MUTED))
    if findings.old_caches:
        names = ", ".join(f"cache/{part.name}" for part in findings.old_caches)
        parts.append(body(f"{names} in the store's folder are not used any more and may be deleted.", MUTED))
    return parts


def _bytes(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 100_000 else f"{count / 1e3:.1f} kB"


SECTION = Section(
    ID, "Store", gather, rows, detail, "once",
    {"compact": compact, "backup": back_up, "apply": accept, "refuse": dismiss},
)  # fmt: skip
