"""The line of the import dialog that a path is written in, and what it stands for, which a thread finds out."""

from pathlib import Path

from textual import work
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.core.text import printable
from workbench.services.open import Workbench
from workbench.tui.app.surviving import survives
from workbench.tui.files.imports.chosen import Chosen, chosen_by
from workbench.tui.files.imports.options import ImportOptions
from workbench.tui.widgets.texts.safe_input import SafeInput


@survives
class PathLine(Horizontal):
    """A box for the path of a file or folder; `look` asks what it stands for, and `Found` is the answer to the last."""

    class Read(Message):
        """So many lines of a file are read."""

        def __init__(self, done: int, total: int) -> None:
            super().__init__()
            self.done = done
            self.total = total

    class Found(Message):
        """What a path stands for was found out."""

        def __init__(self, number: int, chosen: Chosen) -> None:
            super().__init__()
            self.number = number
            self.chosen = chosen

    def __init__(self, bench: Workbench, base: Path) -> None:
        self.box = SafeInput("", placeholder="file or folder", id="import-path")
        super().__init__(Static("file", classes="import--label"), self.box, classes="import--line")
        self._bench = bench
        self._base = base
        self._exact: tuple[str, Path] | None = None
        self._number = 0

    def put(self, path: Path, folder: bool) -> None:
        """Put a path into the box, as it is even where the box cannot show it."""
        text = printable(f"{path}/" if folder else str(path))
        self._exact = (text, path)
        self.box.value = text
        self.box.cursor_position = len(text)
        if folder:
            self.box.focus()

    def look(self, way: ImportOptions) -> None:
        """Find out what the path stands for, a file being read in a `way`."""
        self._number += 1
        name = self.box.value
        exact = self._exact[1] if self._exact and self._exact[0] == name else None
        self._find_out(self._number, name, exact, way)

    @work(thread=True, group="import-look", exclusive=True)
    def _find_out(self, number: int, name: str, exact: Path | None, way: ImportOptions) -> None:
        worker = get_current_worker()

        def tell(done: int, total: int) -> None:
            self.post_message(self.Read(done, total))

        chosen = chosen_by(self._bench, name, self._base, exact, way, tell, lambda: worker.is_cancelled)
        if not worker.is_cancelled:
            self.post_message(self.Found(number, chosen))

    def on_path_line_found(self, event: Found) -> None:
        """Let nobody hear of a path that is not the one in the box any more."""
        if event.number != self._number:
            event.stop()

    def give_up(self) -> None:
        """Stop finding out."""
        self.workers.cancel_node(self)
