"""Reading the keyboard: whatever a paste holds, it is one paste, and never ends the app.

Textual's own driver decodes strictly, so that one byte of Latin-1 ends the app with everything that
was typed; and of a paste that holds an escape sequence it makes keys, which a list would obey. Here
a byte that is no text becomes U+FFFD, and what stands between the marks of a bracketed paste is
handed on as it is.
"""

import os
import selectors
import signal
import sys
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import IO, Any, cast

from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Paste
from textual.message import Message

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
    """The terminal as a file, which may be closed: what is painted then goes nowhere, and hinders
    nobody.

    An error here would end the thread that writes, and whoever paints would wait for it for ever.
    """

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):  # the latter: it is closed on this side
            return self._file.write(text)
        return len(text)

    def flush(self) -> None:
        """Send what was written, if somebody is there."""
        with suppress(OSError, ValueError):
            self._file.flush()

    def fileno(self) -> int:
        return self._file.fileno()


class ForgivingDriver(LinuxDriver):
    """The driver of Linux and macOS, which takes any bytes, and goes on when the terminal is gone."""

    def start_application_mode(self) -> None:
        """Take the terminal over."""
        self._file = cast("Any", ForgivingOutput(sys.__stderr__ or sys.stderr))
        super().start_application_mode()  # type: ignore[no-untyped-call]

    def run_input_thread(self) -> None:
        """Hand on keys, pastes and the mouse until the app ends."""
        parser, pastes = XTermParser(self._debug), Pastes()
        decode = getincrementaldecoder("utf-8")("replace").decode
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(WAIT_S):
                    if (data := self._typed()) is None:
                        self._leave()
                        break
                    self._hand_on(
                        message
                        for part in pastes.feed(decode(data))
                        for message in _messages(parser, part)
                    )
                self._hand_on(parser.tick())
        with suppress(EOFError, ParseError):
            self._hand_on(parser.feed(""))

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

    def _leave(self) -> None:
        """End as at a hang-up, which whoever started the app may have had ignored: nobody can see
        or type any more.
        """
        self._loop.call_soon_threadsafe(partial(self._app.exit, None, 128 + signal.SIGHUP))

    def _hand_on(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self.process_message(message)


def _messages(parser: XTermParser, part: str | Paste) -> Iterator[Message]:
    if isinstance(part, Paste):
        yield part
    else:
        yield from parser.feed(part)
