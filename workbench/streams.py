"""Standard streams that were closed before the program began: named when they are used, and never
taken for files.
"""

import io
import os
import sys
from errno import EBADF
from typing import Any, BinaryIO


class Closed(io.TextIOBase):
    """A stream that is not there: whoever uses it is told so."""

    def __init__(self, name: str) -> None:
        self._called = name

    @property
    def buffer(self) -> BinaryIO:
        """There is none: raises `OSError`."""
        raise self._error()

    def fileno(self) -> int:
        """Raise `OSError`."""
        raise self._error()

    def isatty(self) -> bool:
        return False

    def read(self, size: int | None = -1) -> str:
        """Raise `OSError`."""
        del size
        raise self._error()

    def readline(self, size: int = -1) -> str:  # type: ignore[override]
        """Raise `OSError`."""
        del size
        raise self._error()

    def write(self, text: str) -> int:
        """Raise `OSError`."""
        del text
        raise self._error()

    def _error(self) -> OSError:
        return OSError(EBADF, os.strerror(EBADF), self._called)


class _Output(io.FileIO):
    """The end of stdout, which gives its name to what goes wrong there."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            error.filename = "stdout"
            raise


def takes_marks() -> bool:
    """Tell whether the terminal may be given marks of direction: Windows Terminal and WezTerm draw
    them as cells.
    """
    return (
        sys.platform != "win32"
        and "WT_SESSION" not in os.environ
        and os.environ.get("TERM_PROGRAM") != "WezTerm"
    )


def complete() -> None:
    """Put something where a standard stream is missing, so that no file that is opened gets its
    number.

    What goes wrong with stdin and stdout from now on has their names (`OSError.filename`).
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdin = sys.stdin or Closed("stdin")
    sys.stdout = sys.stdout or Closed("stdout")
    sys.stderr = sys.stderr or io.StringIO()
    if sys.stdout is sys.__stdout__ and isinstance(sys.stdout, io.TextIOWrapper):
        end = io.BufferedWriter(_Output(sys.stdout.fileno(), "w", closefd=False))
        kept = sys.stdout
        sys.stdout = io.TextIOWrapper(
            end, kept.encoding, kept.errors, line_buffering=kept.line_buffering
        )


def let_go() -> None:
    """Send what is still to be written to stdout nowhere, so that the interpreter's last flush
    cannot complain.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
