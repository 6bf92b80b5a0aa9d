"""Reading the keyboard: whatever a paste holds, it is one paste, and never ends the app.

Textual's own driver decodes strictly, so that one byte of Latin-1 ends the app with everything that
was typed; and of a paste that holds an escape sequence it makes keys, which a list would obey. Here
a byte that is no text becomes U+FFFD, and what stands between the marks of a bracketed paste is
handed on as it is.
"""

import os
import selectors
import sys
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import IO, Any, cast

from textual.drivers.linux_driver import LinuxDriver
from textual.events import Paste
from textual.message import Message

from workbench.tui.app.host import TerminalGone
from workbench.tui.app.private_names import XTermParser

MOST = 4096
"""Bytes that are read at once."""

WAIT_S = 0.1
"""Seconds between two looks at whether the app ends, and after which a lone escape counts as a key."""

BEGIN, END = "\x1b[200~", "\x1b[201~"
"""The marks of a bracketed paste."""

_CUT = ("\x1b[2", "\x1b[20", "\x1b[200")
"""Beginnings of a mark that are no sequence by themselves, so that they can wait for the rest."""


class Pastes:
    """Parts what a terminal sends into pastes, and the rest, which is keys, the mouse and answers."""

    def __init__(self) -> None:
        self._held = ""
        self._pasting = False

    def feed(self, text: str) -> Iterator[str | Paste]:
        """Yield the parts of a text in order; what may belong to a mark waits for the next text."""
        text, self._held = self._held + text, ""
        while text:
            before, mark, after = text.partition(END if self._pasting else BEGIN)
            if not mark:
                yield from self._rest(text)
                return
            if self._pasting:
                yield Paste(before.replace("\x00", ""))
            elif before:
                yield before
            self._pasting, text = not self._pasting, after

    def _rest(self, text: str) -> Iterator[str]:
        """Keep an open paste, or the beginning of a mark; yield everything else."""
        cut = next((start for start in _CUT if text.endswith(start)), "")
        self._held = text if self._pasting else cut
        ready = "" if self._pasting else text.removesuffix(cut)
        if ready:
            yield ready


class ForgivingOutput:
    """The terminal as a file that may be closed, full or none: what is painted then goes nowhere.

    An error here would end the thread that writes, and whoever paints would wait for it for ever.
    """

    def __init__(self, file: IO[str] | None) -> None:
        self._to = file

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):  # the latter: it is closed on this side
            if self._to is not None:
                self._to.write(text)
        return len(text)

    def flush(self) -> None:
        """Send what was written, if somebody is there."""
        with suppress(OSError, ValueError):
            if self._to is not None:
                self._to.flush()


class ForgivingDriver(LinuxDriver):
    """The driver of Linux and macOS, which takes any bytes, and goes on when the terminal is gone."""

    is_gone = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        shown = sys.__stderr__
        # What Textual paints on.
        sys.__stderr__ = cast(Any, ForgivingOutput(shown))  # type: ignore[misc]
        try:
            super().__init__(*args, **kwargs)
        finally:
            sys.__stderr__ = shown  # type: ignore[misc]

    def write(self, data: str) -> None:
        """Paint, as long as there is something to paint on."""
        if not self.is_gone:
            super().write(data)

    def run_input_thread(self) -> None:
        """Hand on keys, pastes and the mouse until the app ends."""
        parser, pastes = XTermParser(), Pastes()
        decode = getincrementaldecoder("utf-8")("replace").decode
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(WAIT_S):
                    if (data := self._typed()) is None:
                        self.is_gone = True
                        self.send_message(TerminalGone())
                        return
                    for part in pastes.feed(decode(data)):
                        self._hand_on([part] if isinstance(part, Paste) else parser.feed(part))
                self._hand_on(parser.tick())

    def _typed(self) -> bytes | None:
        """Return what there is to read; `None` when the terminal is gone, which says so in one of
        two ways.
        """
        try:
            return os.read(self.fileno, MOST) or None
        except BlockingIOError:
            return b""
        except OSError:
            return None

    def _hand_on(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self.process_message(message)
