"""What the terminal sends, byte by byte: whatever it is, the app goes on reading."""

import os
from threading import Event, Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.events import Key, Paste
from textual.message import Message

from workbench.tui.app.terminal import ForgivingDriver, Pastes

PASTE = b"\x1b[200~", b"\x1b[201~"


class Pipe(ForgivingDriver):
    """The driver over a pipe instead of a terminal."""

    def __init__(self, fileno: int, wanted: int) -> None:
        self.fileno = fileno
        self.exit_event = Event()
        self.messages: list[Message] = []
        self._wanted = wanted

    def process_message(self, message: Message) -> None:
        """Keep a message, and stop with the last that is wanted."""
        self.messages.append(message)
        if len(self.messages) == self._wanted:
            self.exit_event.set()


def read(*chunks: bytes, wanted: int) -> list[Message]:
    """Let the driver read chunks, one write each, until so many messages came."""
    out, into = os.pipe()
    driver = Pipe(out, wanted)
    reader = Thread(target=driver.run_input_thread, daemon=True)
    reader.start()
    for chunk in chunks:
        os.write(into, chunk)
    reader.join(120)
    assert not reader.is_alive()
    os.close(into)
    os.close(out)
    return driver.messages


@pytest.mark.parametrize(
    ("chunks", "text"),
    [
        ((PASTE[0] + b"caf\xe9 \x9b1m \xff\xfe" + PASTE[1],), "caf\ufffd \ufffd1m \ufffd\ufffd"),
        ((PASTE[0] + "Ä字".encode()[:3], "Ä字".encode()[3:] + PASTE[1]), "Ä字"),
        (
            (PASTE[0] + b"a \x1b[31mred\x1b[0m\x1b[A dy\r\n\x1b" + PASTE[1],),
            "a \x1b[31mred\x1b[0m\x1b[A dy\r\n\x1b",
        ),
        ((PASTE[0][:4], PASTE[0][4:] + b"two\x1b[20", b"1~"), "two"),
        ((PASTE[0] + PASTE[1],), ""),
    ],
)
def test_a_paste_is_one_paste_whatever_it_holds(chunks: tuple[bytes, ...], text: str) -> None:
    paste, key = read(*chunks, b"x", wanted=2)
    assert isinstance(paste, Paste)
    assert paste.text == text
    assert isinstance(key, Key)
    assert key.key == "x"


@given(
    st.lists(
        st.sampled_from(
            ["a", "\x1b", "[", "2", "0", "1", "~", "200~", "\x1b[200~", "\x1b[201~", "\x1b[A"]
        )
    )
)
def test_nothing_is_lost_between_pastes_however_it_is_cut(pieces: list[str]) -> None:
    pastes, whole = Pastes(), Pastes()
    cut = [part for piece in pieces for part in pastes.feed(piece)]
    once = list(whole.feed("".join(pieces)))
    if not any(
        piece.endswith(("\x1b", "\x1b[")) for piece in pieces
    ):  # those cannot wait: they may be the key
        assert [p.text for p in cut if isinstance(p, Paste)] == [
            p.text for p in once if isinstance(p, Paste)
        ]
        assert "".join(p for p in cut if isinstance(p, str)) == "".join(
            p for p in once if isinstance(p, str)
        )


def test_a_lone_escape_is_a_key_and_a_closed_terminal_ends_quietly() -> None:
    assert [m.key for m in read(b"a\x1b", wanted=2) if isinstance(m, Key)] == ["a", "escape"]
