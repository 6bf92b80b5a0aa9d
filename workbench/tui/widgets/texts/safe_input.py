"""A one-line input whose text is inert on the screen, wherever it came from."""

from pathlib import Path

from textual import events
from textual.geometry import Size
from textual.message import Message
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

    class Settled(Message):
        """What enter does in a field was done, or the field was left before that."""

        def __init__(self, field: "SafeInput") -> None:
            super().__init__()
            self.field = field

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

    def submit_in_turn(self) -> None:
        """Do what enter does, once the keys before it are in the field."""
        self.call_later(self._submit)

    async def _submit(self) -> None:
        await self.action_submit()
        # It goes the way of what was submitted, right behind it: where it arrives that was dealt with.
        self.post_message(self.Settled(self))

    def on_blur(self) -> None:
        """Say that the field was left."""
        self.app.post_message(self.Settled(self))

    def on_unmount(self) -> None:
        """Say that the field is gone."""
        self.app.post_message(self.Settled(self))

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


@survives
class FilterInput(SafeInput):
    """An input that is left with enter: keys that are typed before the focus has moved on go where it moves."""

    def __init__(self, *, placeholder: str, id: str) -> None:
        super().__init__(placeholder=placeholder, id=id)
        self._left = False
        self._ahead: list[events.Key] = []

    async def on_event(self, event: events.Event) -> None:
        """Keep keys that are typed ahead for what gets the focus."""
        if self._left and isinstance(event, events.Key):
            event.stop()
            self._ahead.append(event)
            if not self.has_focus:
                self._pass_on()
            return
        # Enter is done by the app, after it has gone all the way up: what comes behind it is here before that.
        self._left = self._left or (isinstance(event, events.Key) and event.key == "enter")
        await super().on_event(event)

    def on_blur(self) -> None:
        """Let what has the focus now have the keys that were typed ahead."""
        self._pass_on()

    def on_focus(self) -> None:
        """Take keys again."""
        self._left = False

    def _pass_on(self) -> None:
        ahead, self._ahead = self._ahead, []
        for key in ahead:
            self.app.post_message(events.Key(key.key, key.character))
