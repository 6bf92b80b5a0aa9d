"""Bytes that are no UTF-8 within a text: they come back, and readers see characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.samples import COUNTS, context
from workbench.core.files.formats import format_named
from workbench.core.files.replacing import bytes_of, kind_of, text_in

LATIN = b"[a-00001] helpful=1 harmful=0 :: don\x92t cut\r\n"


@given(st.binary(max_size=300))
def test_whatever_is_text_comes_back_as_the_same_bytes(data: bytes) -> None:
    text = text_in(data)
    assert text is None or bytes_of(text) == data


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"\x89PNG\r\n", "a PNG image"),
        (b"a\0b\xff", "a binary file"),
        ("é".encode("utf-16"), "UTF-16"),
        (b"a\xe9", ""),
    ],
)
def test_bytes_are_called_what_they_are(data: bytes, what: str) -> None:
    assert kind_of(data) == what
    assert (text_in(data) is None) == bool(what)


def test_a_text_in_another_encoding_throughout_is_none() -> None:
    assert text_in("Große Übergrößen ändern öfter Höhen".encode("cp1252")) is None
    assert (
        text_in("Größe und viele andere Wörter, die man in UTF-8 schreibt".encode() + b"\xe9")
        is not None
    )


def test_the_line_is_reported_and_its_bytes_stay_until_it_changes() -> None:
    ace = format_named("ace")
    data = b"## A\r\n" + LATIN + b"[a-00002] helpful=0 harmful=0 :: other\r\n"
    text = text_in(data)
    assert text is not None
    parsed = ace.read(text, context("book.txt"))
    assert [bullet.content for bullet in parsed.playbooks[0].bullets] == ["don’t cut", "other"]
    assert [str(issue) for issue in parsed.issues] == [
        "book.txt:2: byte 0x92 is not UTF-8: read as “’”: kept in the file"
    ]
    assert ace.write is not None
    assert bytes_of(ace.write(parsed, text)) == data
    again = text.replace("helpful=0 harmful=0 :: other", "helpful=1 harmful=0 :: other")
    assert bytes_of(ace.write(ace.read(again, context("book.txt")), text)) == bytes_of(again)
    voted = text.replace("helpful=1 harmful=0 :: don", "helpful=2 harmful=0 :: don")
    healed = bytes_of(voted).replace(b"\x92", "’".encode())
    assert bytes_of(ace.write(ace.read(voted, context("book.txt")), text)) == healed


def test_what_is_utf8_is_read_as_ever() -> None:
    ace = format_named("ace")
    assert text_in(COUNTS.encode()) == COUNTS
    assert not any(
        "UTF-8" in issue.reason for issue in ace.read(COUNTS, context("book.txt")).issues
    )
