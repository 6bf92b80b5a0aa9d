"""Health: the whole store in one file, written while everybody goes on, and read back."""

import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.config import backups, paths
from workbench.core.health import Manifest
from workbench.core.record import WorkbenchError, parse_time
from workbench.core.text import printable
from workbench.services.health import backup
from workbench.services.open import Workbench
from workbench.tui.app.actions import bindings, display_key
from workbench.tui.app.waiting import asking
from workbench.tui.health.actions import BACKUP
from workbench.tui.widgets.bars import gauge
from workbench.tui.widgets.content import MUTED, assemble, key_of
from workbench.tui.widgets.dialog import Confirm, Dialog, Progressed, held_keys
from workbench.tui.widgets.figures import amount, day, number
from workbench.tui.widgets.texts.safe_input import SafeInput

ABOUT = (
    "The store as it is at this moment, its whole history with it, in one compressed file that is read back. Others "
    "may go on writing meanwhile. It keeps what is purged later."
)
BAR = 24
"""Cells of the bar that says how far it is."""

SHOWN_EVERY = 0.1
"""Seconds between two pictures of how far it is."""


class BackupDialog(Dialog[bool]):
    """Ask for a file, write a backup of the store into it, and say what it holds; the result: whether one was made."""

    class Went(Progressed):
        """So many of all bytes are through."""

    class Done(Message):
        """The backup is over: what it holds, and how many secrets; or why there is none."""

        def __init__(self, made: Manifest | None, secrets: int, problem: str) -> None:
            super().__init__()
            self.made = made
            self.secrets = secrets
            self.problem = problem

    BINDINGS: ClassVar[list[BindingType]] = bindings(BACKUP)
    DEFAULT_CSS = """
    BackupDialog {
        & > .dialog { width: 110; }
        &.-narrow > .dialog { width: 100%; }
        & .backup--line { height: 1; }
        & .backup--label { width: 6; color: $text-muted; }
        & SafeInput { width: 1fr; background: $background; }
        & #backup-state { height: auto; max-height: 16; margin-top: 1; }
    }
    """

    def __init__(self, bench: Workbench, folder: Path) -> None:
        super().__init__("Back up the store", BACKUP)
        self._bench = bench
        self._file = folder / f"memories-{day(bench.context.now())}.tar.gz"
        self._stop = threading.Event()
        self._writing = False
        self._made = self._complained = False

    def contents(self) -> Iterable[Widget]:
        """Return the file, and what is said about it."""
        path = SafeInput(str(self._file), placeholder="file to write", id="backup-path")
        yield Horizontal(Static("file", classes="backup--label"), path, classes="backup--line")
        yield Static(Content.styled(ABOUT, MUTED), id="backup-state")

    def on_mount(self) -> None:
        """Ask for the file."""
        self.query_one("#backup-path").focus()

    def on_unmount(self) -> None:
        """Let nothing go on that nobody waits for."""
        self._stop.set()

    @on(Input.Changed, "#backup-path")
    def _named(self) -> None:
        """Say no more what was wrong with another name."""
        if self._complained:
            self._complained = False
            self._state(Content.styled(ABOUT, MUTED))

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
            self._complain(str(error))
            return
        there = file.is_file()
        if there and not await self.app.push_screen_wait(_replaces(file)):
            return
        self._file, self._writing = file, True
        self._stop.clear()
        self._tell(self.Went(0, 0))
        self._write(there)

    @work(thread=True, group="backup", description="backup")
    def _write(self, force: bool) -> None:
        made, secrets, problem, told = None, 0, "", 0.0

        def tell(done: int, total: int) -> None:
            nonlocal told
            if time.monotonic() - told >= SHOWN_EVERY:
                told = time.monotonic()
                self.post_message(self.Went(done, total))

        try:
            at = self._bench.context.now()
            made, secrets = backup.back_up(
                self._bench, self._file, at, force=force, progress=tell, cancelled=self._stop.is_set
            )
            last = backups.LastBackup(self._file, parse_time(made.at), made.rev)
            backups.remember(paths.state_dir(), self._bench.library.folder, last)
        except WorkbenchError as error:
            problem = str(error)
        self.post_message(self.Done(made, secrets, problem))

    @on(Went)
    def _tell(self, event: Went) -> None:
        if self._writing:
            stops = "stopping …" if self._stop.is_set() else f"{self._key('backup.leave')} stops"
            bar = gauge(event.done >> 20, max(1, event.total >> 20), "MB backed up", BAR)
            self._state(bar + Content(f" · {stops}"))

    @on(Done)
    def _done(self, event: Done) -> None:
        self._writing = False
        if event.made is None:
            self._complain(event.problem)
            return
        self._made = True
        self._state(_said(event.made, self._file, event.secrets))

    def action_leave(self) -> None:
        """Stop what is being written, or close."""
        if self._writing:
            self._stop.set()
            self._state(Content("Stopping …"))
        else:
            self.dismiss(self._made)

    def _complain(self, sentence: str) -> None:
        self._complained = True
        self._state(assemble([(f"✗ {printable(sentence)}", "$text-error")]))

    def _state(self, content: Content) -> None:
        self.query_one("#backup-state", Static).update(content)

    def _key(self, id: str) -> str:
        action = next(a for a in BACKUP if a.id == id)
        return display_key(held_keys(self, (action,))[0][0])


def _replaces(file: Path) -> Confirm:
    detail = Content("What it holds now is gone then.")
    return Confirm(f"Replace {file}?", clock=time.monotonic, detail=detail, yes="replace", guard=0.0)


def _said(made: Manifest, file: Path, secrets: int) -> Content:
    """Say what was written: the revision, what it holds, and the hash of every file in it."""
    parts = [
        (f"✓ {printable(str(file))}\n", "bold"),
        (f"revision {number(made.rev)}, {number(made.size)} bytes, every byte checked\n", ""),
        (f"{backup.held(made.counts)}\n", ""),
        *((f"SHA-256 {member.sha256}  {printable(member.name)}\n", MUTED) for member in made.members),
    ]
    if made.damaged:
        parts.append(
            (
                f"! {number(made.damaged)} damaged in the store itself: {key_of('health.check')} looks at it\n",
                "$text-warning",
            )
        )
    if secrets:
        what = amount(secrets, "secret")
        parts.append((f"! It holds {what}; `workbench backup --mask` writes it without.", "$text-warning"))
    return assemble(parts)
