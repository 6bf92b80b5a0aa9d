"""A one-line input whose text is inert on the screen, wherever it came from."""

from pathlib import Path

from textual.widgets import Input

from workbench.core.errors import WorkbenchError
from workbench.core.text import printable
from workbench.tui.app.surviving import survives


@survives
class SafeInput(Input):
    """Textual's `Input` for stored or pasted text: no control or bidi character gets in, no cursor blinks."""

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
            raise WorkbenchError(f"{name} names a home folder that is not known.", "Nothing was written.") from error
