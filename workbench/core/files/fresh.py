"""Opening ordinary files, and none that stands there in their place."""

import os
import stat
from errno import EINVAL, EISDIR, ELOOP, EMLINK, ENXIO
from hashlib import sha256
from pathlib import Path

from workbench.core.record import UnreadableFile, why_failed

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_PLAIN = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_BINARY = getattr(os, "O_BINARY", 0)


class NotRegular(OSError):
    """A link, a pipe, a device or a folder stands where a file is expected."""

    def __init__(self, path: Path, what: str = "a link or no regular file") -> None:
        super().__init__(EINVAL, f"{path.name} is {what}", str(path))


def read_named(path: Path, most: int) -> bytes:
    """Return what is in a regular file that a person named, through links: `most` bytes and one
    more at most.

    It never waits for a pipe or a device. Raises `NotRegular`, or another `OSError`.
    """
    with os.fdopen(open_handle(path, os.O_RDONLY, follow=True), "rb") as file:
        return file.read(most + 1)


def read_text_of(path: Path, most: int, lost: str, name: str = "") -> str:
    """Return the text of a regular file that a person named. Raises `UnreadableFile`; `lost` says
    what was not lost by that.
    """
    try:
        data = read_named(path, most)
    except OSError as error:
        why = why_failed(error)
        raise UnreadableFile(f"{name or path} cannot be read: {why}.", lost) from error
    return text_in(data, most, lost, name or str(path))


def text_in(data: bytes, most: int, lost: str, name: str) -> str:
    """Return the text that some bytes are, of which there are no more than `most`. Raises
    `UnreadableFile`.
    """
    if len(data) > most:
        raise UnreadableFile(f"{name} is larger than {most >> 20} MiB.", lost)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        what = f"byte 0x{data[error.start]:02x} at offset {error.start:,}"
        raise UnreadableFile(f"{name} is not UTF-8 text: {what}.", lost) from error


def open_handle(path: Path, flags: int, *, follow: bool = False) -> int:
    """Open (with O_CREAT: or make, 0600) a regular file as a descriptor, without waiting, nor
    following links.

    `follow` follows them. Raises `NotRegular`, or another `OSError`.
    """
    what = "not a regular file" if follow else "a link or no regular file"
    try:
        handle = os.open(path, flags | _PLAIN | _BINARY | (0 if follow else _NO_LINK), 0o600)
    except OSError as error:
        if error.errno in (ELOOP, EMLINK, EISDIR, ENXIO):
            raise NotRegular(path, what) from error
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise NotRegular(path, what)
    return handle


def hash_of(data: bytes) -> str:
    """Return the SHA-256 of a file's bytes."""
    return sha256(data).hexdigest()
