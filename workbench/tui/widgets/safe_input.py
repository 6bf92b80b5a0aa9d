"""A one-line input whose text is inert on the screen, wherever it came from."""

from textual.widgets import Input

from workbench.core.text import printable


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
