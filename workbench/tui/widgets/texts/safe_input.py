"""A one-line input whose text is inert on the screen, wherever it came from."""

from pathlib import Path

from textual import events
from textual.geometry import Size
from textual.reactive import Reactive
from textual.widgets import Input

from workbench.core.record import WorkbenchError
from workbench.core.text import printable
from workbench.tui.app.surviving import survives

ROOM = 10_000
"""Characters that a line has room for: with more, each key in it takes longer than a key may."""


@survives
class SafeInput(Input):
    """Textual's `Input` for stored or pasted text: no control or bidi character gets in, no cursor blinks."""

    virtual_size = Reactive(Size(0, 0))
    """How much there is to scroll; what is typed moves nothing else on the screen, which is not laid out for it."""

    def __init__(
        self,
        value: str = "",
        *,
        placeholder: str = "",
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(
            printable(value), placeholder=printable(placeholder), compact=True, name=name, id=id, classes=classes
        )
        self.cursor_blink = False

    def _on_paste(self, event: events.Paste) -> None:
        """Take the first line of what is pasted."""
        event.prevent_default()
        event.stop()
        self._put(event.text)

    def action_paste(self) -> None:
        """Paste what was copied in the app."""
        self._put(self.app.clipboard)

    def _put(self, pasted: str) -> None:
        """Put a line in place of the selection, as much of it as there is room for, and say what is left out."""
        line = next(iter(pasted.splitlines()), "")
        start, end = sorted(self.selection)
        kept = line[: max(0, ROOM - len(self.value) + end - start)]
        if start == end:
            self.insert_text_at_cursor(kept)
        else:
            self.replace(kept, start, end)
        if len(kept) < len(line):
            said = f"A line has room for {ROOM:,} characters: {len(line) - len(kept):,} of the paste were left out."
            self.app.notify(said.replace(",", "\u00a0"), severity="warning", markup=False)

    def validate_value(self, value: str) -> str:
        """Replace what is not plain ink by visible symbols."""
        return printable(value)

    def path_to_write(self) -> Path:
        """Return the file that is named here; raises `WorkbenchError` when none is."""
        name = self.value.strip()
        if not name:
            raise WorkbenchError("Name the file to write.")
        try:
            return Path(name).expanduser()
        except RuntimeError as error:
            raise WorkbenchError(f"{name} names an unknown home folder.", "Nothing was written.") from error
