"""Health: whether the store is sound, what waits to be settled, how large it is, and a backup of it
in one file.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from textual import on, work
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from workbench.config import paths, recent
from workbench.config.recent import LastBackup, last_backup
from workbench.core.health import Diagnosis, Manifest
from workbench.core.record import WorkbenchError, parse_time
from workbench.core.text import printable
from workbench.services.health import backup, doctor
from workbench.services.health.doctor import Findings, OutsideEdit
from workbench.services.open import Workbench
from workbench.services.promotion.placements import HalfDone
from workbench.services.safety.masking import masked
from workbench.tui.actions import BACKUP
from workbench.tui.app.actions import bindings
from workbench.tui.app.waiting import asking
from workbench.tui.files.preview import FileDialog, labelled
from workbench.tui.health.sections import (
    BAD,
    ERROR,
    GOOD,
    SHOWN_EVERY,
    Row,
    Section,
    more,
    title,
)
from workbench.tui.widgets.bars import gauge
from workbench.tui.widgets.content import (
    BLANK,
    MUTED,
    assemble,
    body,
    joined,
    key_line,
    key_of,
    keyed,
    muted,
    undo,
    word_diff,
)
from workbench.tui.widgets.dialog import SafeInput, sure
from workbench.tui.widgets.figures import amount, day, number, since

LISTED = 40
"""Places, fields and lines that are listed at most."""

HELD = "memory.json has {} records that the journal lacks or has differently."
NOT_HELD = "Its content is unknown here: look in a backup, or where the store was copied or checked out from."
ACCEPT = "`workbench doctor --accept` accepts the journal as it is, after a checkout or a restored backup."


@dataclass(frozen=True, slots=True)
class State:
    """What the doctor found, the bytes of journal and checkpoint, and the last backup."""

    findings: Findings
    size: int
    backup: LastBackup | None = None


class Store(Section[State]):
    """Whether the store is sound, and what waits to be settled."""

    ID, TITLE, WHEN = "store", "Store", "once"

    def look(self) -> State:
        """Read every line of the journal, as `workbench doctor` does."""
        library = self.bench.library
        findings = self.bench.care.findings(doctor.examine(library.folder, library.heads))
        return State(
            findings, doctor.size_of(library.folder), last_backup(paths.state_dir(), library.folder)
        )

    def rows(self) -> Sequence[Row]:
        """Return a row for the journal, for whatever waits, and for the sizes."""
        findings, library = self.value.findings, self.bench.library
        diagnosis = findings.diagnosis
        good = diagnosis.is_sound and not (diagnosis.purges or diagnosis.blobs)
        newer = max(0, library.revision - diagnosis.rev)
        found = [
            self.row(
                "journal",
                GOOD if good else BAD,
                _sound(diagnosis, newer),
                style="" if good else ERROR,
            )
        ]
        for group, label in findings.unfinished:
            text = f"not finished: {self.masked(label)}"
            found.append(
                self.row(f"unfinished-{group}", BAD, text, item=(group, label), style=ERROR)
            )
        for broken in findings.half_done:
            text = f"a change of files was interrupted ({len(broken.edits)} to settle)"
            found.append(
                self.row(f"half-done-{broken.note.name}", BAD, text, item=broken, style=ERROR)
            )
        if findings.edit is not None:
            text = f"{findings.edit.file} was changed by another program"
            found.append(self.row("edit", BAD, text, item=findings.edit, style=ERROR))
        if (team := findings.team) is not None:
            mark, text = (BAD, team.problems[0]) if team.problems else ("", team.sentences()[0])
            found.append(self.row("team", mark, text))
        records = f"{amount(len(library.memories), 'memory', 'memories')}, {amount(len(library.bullets), 'bullet')}"
        caches = ", ".join(f"{c.name} {_bytes(c.size)}" for c in findings.caches) or "none yet"
        return [
            *found,
            self.row("size", "", f"{records}, {_bytes(self.value.size)}"),
            self.row("caches", "", f"caches: {caches}"),
            self.row("backup", "", self._backup()),
        ]

    def _backup(self) -> str:
        """Say when the last backup was made here and what came after it, or how to make one."""
        made = self.value.backup
        if made is None:
            return keyed("no backup yet: {health.backup} makes one")
        changes = self.bench.library.revision - made.rev
        then = f"{amount(changes, 'change')} since" if changes > 0 else "nothing changed since"
        return f"last backup {since(made.at, self.bench.context.now())}: {made.file.name}, {then}"

    def detail(self, row: Row) -> Content:
        """Return what a row means, and what can be done about it."""
        if isinstance(row.item, OutsideEdit):
            return self._edit(row.item, opened=row.name in self.unfolded)
        if isinstance(row.item, HalfDone):
            return self._half_done(row.item)
        if isinstance(row.item, tuple):
            group, label = row.item
            hint = f"workbench undo --group {printable(group)}"
            return joined(
                body(self.masked(label), "bold"), BLANK,
                body("It was interrupted. What was written is here."),
                assemble([("Take it back with: ", MUTED), (hint, "")]),
            )  # fmt: skip
        findings = self.value.findings
        return joined(
            title("The store"), body(str(findings.diagnosis.folder), MUTED), BLANK, *_wrong(findings.diagnosis),
            *(body(note, MUTED) for note in findings.diagnosis.notes), BLANK, *_team(findings),
            body(self._backup(), MUTED),
            *self._caches(findings), BLANK,
            key_line("health.check", "reads every line again"),
            key_line("health.compact", "compresses closed journal files; the history still reads them"),
            key_line("health.backup", "writes the store with its whole history into one file"),
        )  # fmt: skip

    def _caches(self, findings: Findings) -> list[Content]:
        parts = [
            BLANK,
            muted("Caches are rebuilt when missing or wrong:"),
        ]
        parts += [body(f"  {c.name}: {c.files} files, {_bytes(c.size)}") for c in findings.caches]
        if findings.mended is not None:
            at = since(findings.mended.at, self.bench.context.now())
            parts.append(body(f"{at}: {findings.mended}, and was rebuilt.", MUTED))
        if findings.old_caches:
            names = ", ".join(f"cache/{part.name}" for part in findings.old_caches)
            parts.append(
                body(
                    f"{names} in the store's folder are no longer used and may be deleted.",
                    MUTED,
                )
            )
        return parts

    def _edit(self, edit: OutsideEdit, *, opened: bool) -> Content:
        fields = edit.fields[:LISTED]
        shown = fields if opened else masked(fields, self.masked)
        hidden = shown != fields
        parts = [
            body(f"{edit.file} was changed by another program since revision {edit.base}", "bold"),
            key_line("health.apply", f"accepts {amount(edit.records, 'record')}"),
            key_line("health.refuse", "dismisses it; that file is kept"),
            *(
                [key_line("health.unfold", "shows the secrets that are masked below")]
                if hidden
                else []
            ),
            BLANK,
        ]
        for field in shown:
            sides = (field.before, field.after)
            before, after = (
                "" if v is None else v if isinstance(v, str) else repr(v) for v in sides
            )
            parts.append(body(f"{field.key} {field.field}: ", MUTED) + word_diff(before, after))
        return joined(*parts, *more(len(edit.fields), LISTED, "more fields"))

    def _half_done(self, broken: HalfDone) -> Content:
        parts = [title("A change of files was broken off"), body(broken.note.name, MUTED), BLANK]
        if not broken.readable:
            parts.append(body("Which files it had written is unknown: its record cannot be read."))
        if broken.problem:
            return joined(*parts, body(f"It cannot be finished: {broken.problem}", ERROR))
        parts.append(key_line("health.apply", "changes the files to match the store, as below"))
        for edit in broken.edits:
            what = (
                "is made"
                if edit.before is None
                else "is deleted"
                if edit.after is None
                else "is changed"
            )
            lines = self.bench.safety.masked_diff(
                edit.lines(), map(_text, (edit.before, edit.after))
            )
            parts += [
                BLANK,
                body(f"{edit.name} {what}", "bold"),
                *(body(str(line)) for line in lines[:LISTED]),
            ]
            parts += more(len(lines), LISTED, "more lines")
        parts += [
            body(f"{path} lies outside the project and is not touched; please check it.", MUTED)
            for path in broken.outside
        ]
        if not broken.edits:
            parts.append(
                body("Nothing is left to do in the project; only its record is removed.", MUTED)
            )
        return joined(*parts)

    # What the keys do

    async def compact(self, row: Row) -> None:
        """Pack, and say what that saved."""
        del row
        packed = await asyncio.to_thread(self.bench.care.compact)
        if not packed:
            self.app.say("Nothing to compress.")
            return
        before, after = sum(p.before for p in packed), sum(p.after for p in packed)
        self.app.say(
            f"Compressed {amount(len(packed), 'file')}: {_bytes(before)} became {_bytes(after)}."
        )
        self.gather()

    async def backup(self, row: Row) -> None:
        """Ask where to, and write a backup there."""
        del row
        if await self.app.push_screen_wait(BackupDialog(self.bench, Path.cwd())):
            self.gather()

    async def apply(self, row: Row) -> None:
        """Take over an outside edit, or settle a broken change of files, after a yes."""
        care, item = self.bench.care, row.item
        if isinstance(item, HalfDone):
            files, broken = amount(len(item.edits), "file"), item

            def finish() -> str:
                care.finish(broken)
                return f"Finished: {files} changed."

            question = "Change the files to match the store?"
            if await sure(self.app, question, f"{files} change as shown.", "do it"):
                self._change(finish)
        elif isinstance(item, OutsideEdit):
            question = f"Accept changes by another program in {item.file}?"
            told = f"{item.records} records change as shown. {undo()} takes it back."
            if await sure(self.app, question, told, "take over"):
                self._change(
                    lambda: (
                        f"Accepted {amount(care.accept_edit(), 'record')}. {undo()} takes it back."
                    )
                )
        else:
            self.app.say("Nothing to decide here.")

    async def refuse(self, row: Row) -> None:
        """Turn an outside edit down, after a yes."""
        if not isinstance(row.item, OutsideEdit):
            self.app.say("Nothing to decide here.")
            return
        question = f"Dismiss changes by another program in {row.item.file}?"
        kept = "Its version of the file is kept beside it."
        if await sure(self.app, question, kept, "turn down"):
            self._change(lambda: f"Dismissed; kept as {self.bench.care.dismiss_edit().name}.")

    def _change(self, step: Callable[[], str]) -> None:
        """Make a change, say what was done, and look again."""

        def make() -> None:
            self.app.say(step())
            self.gather()

        self.app.change(make)


def _wrong(diagnosis: Diagnosis) -> list[Content]:
    """Return what is wrong with a store, and what to do about it."""

    def bad(found: Iterable[object]) -> list[Content]:
        return [body(f"{BAD} {one}", ERROR) for one in found]

    parts = [body(_sound(diagnosis)), *bad(diagnosis.damage[:LISTED]), *bad(diagnosis.gone)]
    parts += bad(diagnosis.renumbered[:LISTED])
    if diagnosis.gone:
        parts.append(
            body(HELD.format(number(len(diagnosis.held)))) if diagnosis.held else body(NOT_HELD)
        )
        parts.append(body(ACCEPT))
    if diagnosis.renumbered:
        parts.append(body("Both are kept; the next change records their order."))
    if diagnosis.damage:
        parts.append(
            body(
                "`workbench doctor --recover` saves everything else into a new store beside this one."
            )
        )
    if diagnosis.purges:
        said = "`workbench doctor --finish` continues it; there is no undo."
        parts += [*bad(diagnosis.purges), body(said)]
    parts += bad(diagnosis.blobs[:LISTED])
    if diagnosis.torn:
        said = f"The last line is unfinished ({diagnosis.torn} bytes) and will be dropped: left by a crash."
        parts.append(body(said))
    return parts


def _team(findings: Findings) -> list[Content]:
    if findings.team is None:
        return []
    said = (*findings.team.problems, *findings.team.sentences())
    return [*(body(sentence) for sentence in said), BLANK]


def _sound(diagnosis: Diagnosis, newer: int = 0) -> str:
    """Say what was found, and how many changes there are that are `newer` than the look."""
    found = [
        *([f"{amount(len(diagnosis.damage), 'place')} damaged"] if diagnosis.damage else []),
        *(["stored data is missing"] if diagnosis.gone else []),
        *(["merged changes to order"] if diagnosis.renumbered else []),
        *(["a purge was interrupted"] if diagnosis.purges else []),
        *(["a file beside the store is unreadable"] if diagnosis.blobs else []),
    ]
    state, at = ", ".join(found) or "no damage", f"up to revision {number(diagnosis.rev)}"
    return (
        f"{state} {at}; {number(newer)} since"
        if newer
        else f"{state}; {amount(diagnosis.entries, 'change')} {at}"
    )


def _text(side: str | bytes | None) -> str:
    return side.decode("utf-8", "replace") if isinstance(side, bytes) else side or ""


def _bytes(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 100_000 else f"{count / 1e3:.1f} kB"


ABOUT = muted(
    "The store with its whole history in one compressed file, verified afterwards. Others may "
    "keep writing. It keeps what is purged later."
)


class BackupDialog(FileDialog[bool]):
    """Ask for a file, write a backup of the store into it, and say what it holds; the result:
    whether one was made.
    """

    BINDINGS = bindings(BACKUP)
    DEFAULT_CSS = """
    BackupDialog {
        & > .dialog { width: 110; height: auto; }
        &.-narrow > .dialog { height: auto; }
        & .dialog--state { max-height: 16; }
    }
    """

    def __init__(self, bench: Workbench, folder: Path) -> None:
        super().__init__("Back up the store", BACKUP, bench)
        self.state.id = "backup-state"
        self.state.update(ABOUT)
        self._file = folder / f"memories-{day(bench.context.now())}.tar.gz"
        self._stop = threading.Event()
        self._writing = False
        self._made = False

    def contents(self) -> Iterable[Widget]:
        """Return the file, and what is said about it."""
        yield labelled(
            "file", SafeInput(str(self._file), placeholder="file to write", id="backup-path")
        )
        yield self.state

    def on_mount(self) -> None:
        """Ask for the file."""
        self.query_one("#backup-path").focus()

    def on_unmount(self) -> None:
        """Let nothing go on that nobody waits for."""
        self._stop.set()

    @on(Input.Changed, "#backup-path")
    def _named(self) -> None:
        """Say no more what was wrong with another name."""
        if not (self._writing or self._made):
            self.state.update(ABOUT)

    @on(Input.Submitted)
    async def _entered(self) -> None:
        await self.action_write()

    @asking
    async def action_write(self) -> None:
        """Write the backup; a file that is there goes only after a yes."""
        if self._writing:
            self.app.bell()
            return
        try:
            file = Path.cwd() / self.query_one("#backup-path", SafeInput).path_to_write()
        except WorkbenchError as error:
            self.complain(error)
            return
        there = file.is_file()
        lost = "Its present content will be lost."
        if there and not await sure(self, f"Replace {file}?", lost, "replace", guard=0.0):
            return
        self._file, self._writing = file, True
        self._stop.clear()
        self._tell(0, 0)
        self._write(there)

    @work(group="backup", description="backup")
    async def _write(self, force: bool) -> None:
        shown, at = 0.0, self.bench.context.now()

        def tell(done: int, total: int) -> None:
            nonlocal shown
            if time.monotonic() - shown >= SHOWN_EVERY:
                shown = time.monotonic()
                self.call_later(self._tell, done, total)

        def write() -> tuple[Manifest, int]:
            stop = self._stop.is_set
            made, secrets = backup.back_up(
                self.bench, self._file, at, force=force, progress=tell, cancelled=stop
            )
            last = LastBackup(self._file, parse_time(made.at), made.rev)
            recent.remember_backup(paths.state_dir(), self.bench.library.folder, last)
            return made, secrets

        try:
            made, secrets = await asyncio.to_thread(write)
        except WorkbenchError as error:
            self.complain(error)
        else:
            self._made = True
            self.state.update(_said(made, self._file, secrets))
        finally:
            self._writing = False

    def _tell(self, done: int, total: int) -> None:
        if self._writing:
            stops = "stopping …" if self._stop.is_set() else keyed("{backup.leave} stops")
            bar = gauge(done >> 20, max(1, total >> 20), "MB backed up", 24)
            self.state.update(bar + Content(f" · {stops}"))

    def action_leave(self) -> None:
        """Stop what is being written, or close."""
        if self._writing:
            self._stop.set()
            self.state.update(Content("Stopping …"))
        else:
            self.dismiss(self._made)


def _said(made: Manifest, file: Path, secrets: int) -> Content:
    """Say what was written: the revision, what it holds, and the hash of every file in it."""
    parts = [
        (f"{GOOD} {printable(str(file))}\n", "bold"),
        (f"revision {number(made.rev)}, {number(made.size)} bytes, every byte checked\n", ""),
        (f"{backup.held(made.counts)}\n", ""),
        *(
            (f"SHA-256 {member.sha256}  {printable(member.name)}\n", MUTED)
            for member in made.members
        ),
    ]
    if made.damaged:
        told = f"! {number(made.damaged)} damaged in the store itself: {key_of('health.check')} checks it\n"
        parts.append((told, "$text-warning"))
    if secrets:
        what = amount(secrets, "secret")
        parts.append(
            (f"! It contains {what}; `workbench backup --mask` leaves them out.", "$text-warning")
        )
    return assemble(parts)
