"""What an empty store can begin with: the files of agents in this folder, and, once asked for, what
agents have on this machine.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from textual import on, work
from textual.widget import Widget

from workbench.config.paths import from_home
from workbench.services.files.beside import Source, beside, on_machine
from workbench.tui.actions import BEGIN, LIST
from workbench.tui.app.actions import bindings
from workbench.tui.widgets.content import MUTED
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import amount
from workbench.tui.widgets.line_list import Cell, LineView

Beginning = Path | tuple[Path, ...] | Literal["memory", "connect", "demo"]
"""A file or folder to import, sessions to learn from, or what else a store can begin with."""


@dataclass(frozen=True, slots=True)
class Row:
    """Something to begin with: what choosing it does (`None` looks at this machine), and in words."""

    does: Beginning | None
    label: str
    remark: str


class BeginDialog(Dialog[Beginning | None]):
    """Lists what can be imported from this folder, and the other ways to begin."""

    BINDINGS = bindings(BEGIN)
    DEFAULT_CSS = """
    BeginDialog {
        & > .dialog { width: 90; }
        & LineView { height: auto; }
    }
    """

    def __init__(self, folder: Path, *, is_own: bool) -> None:
        super().__init__("What should this store begin with?", (LIST[-1], *BEGIN))
        self._folder, self._is_own = folder, is_own
        self._here: list[Row] = []
        self._machine: tuple[Source, ...] | None = None
        self._at = 0

    def again(self) -> "BeginDialog":
        """Return the same dialog, to be opened once more: with the rows and the place of this one."""
        made = BeginDialog(self._folder, is_own=self._is_own)
        made._machine, made._at = self._machine, self._at
        return made

    def contents(self) -> Iterable[Widget]:
        """Return the rows."""
        yield LineView(_drawn, lambda row: row.label, id="begin-rows")

    def on_mount(self) -> None:
        """List what is here; nothing outside this folder is looked at."""
        self._list([Row(s.path, f"Import {s.name}", "") for s in beside(self._folder, 1)])
        self._rows.focus()
        self._count()

    @work(exclusive=True)
    async def _count(self) -> None:
        """Say where each lies and how many files it has, away from the keyboard."""
        self._list([_imported(one) for one in await asyncio.to_thread(beside, self._folder)])

    @property
    def _rows(self) -> LineView[Row]:
        return self.query_one(LineView)

    def _list(self, here: list[Row]) -> None:
        self._here, rows = here, [*here]
        if not rows:
            rows.append(
                Row(self._folder, "Import a file", "none of an agent lies here; you choose one")
            )
        if self._machine is None:
            rows.append(Row(None, "Agents on this machine", "looks: names and counts only"))
        rows += map(_imported, self._machine or ())
        if self._machine == ():
            rows.append(
                Row(self._folder, "Agents on this machine", "keep nothing that is known here")
            )
        rows.append(Row("memory", "Write a memory", "the first one, by hand"))
        if self._is_own:
            rows.append(Row("connect", "Connect an agent", "shown before it is written"))
            rows.append(Row("demo", "Try the demo", "a project's store to play with"))
        self._rows.set_rows(rows, cursor=None if self._rows.rows else min(self._at, len(rows) - 1))

    @on(LineView.Opened)
    async def _opened(self) -> None:
        row = self._rows.current
        if row is None:
            return
        self._at = self.rows.cursor
        if row.does is None:
            self._machine = ()
            with suppress(RuntimeError):  # there is no home folder
                self._machine = await asyncio.to_thread(on_machine, Path.home())
            self._list(self._here)
        else:
            self.dismiss(row.does)


def _imported(source: Source) -> Row:
    files = (
        "" if source.files == 1 and source.path.is_file() else f", {amount(source.files, 'file')}"
    )
    where = f"{from_home(source.path)}{files}"
    if sessions := source.sessions:
        return Row(sessions, f"Learn from {source.name}", where)
    return Row(source.path, f"Import {source.name}", where)


def _drawn(row: Row, width: int) -> list[Cell]:
    return [Cell(row.label, min(38, width // 2)), Cell(row.remark, 0, MUTED)]
