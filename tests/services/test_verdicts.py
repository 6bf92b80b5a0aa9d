"""Verdicts on texts: remembered for whom they are, never believed from elsewhere, and never waited for by the app."""

import json
import os
import threading
from pathlib import Path

import pytest

from tests.calls import calls_of
from tests.safety.fresh import fresh
from workbench.core.safety import Finding
from workbench.safety import scanning
from workbench.services.safety import verdicts
from workbench.services.safety.verdicts import LONG, PENDING, Verdicts

KEY = fresh("verdict")["github"].secret
TEXT = f"{'All is well. ' * (LONG // 10)}The key is {KEY} here."


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the texts that were really looked at."""
    seen: list[str] = []

    def scan(text: str) -> tuple[Finding, ...]:
        seen.append(text)
        return found(text)

    found = scanning.scan
    monkeypatch.setattr(scanning, "scan", scan)
    return seen


def test_a_long_text_is_looked_at_once_whatever_the_process(tmp_path: Path, looks: list[str]) -> None:
    first, second = Verdicts(tmp_path / "cache"), Verdicts(tmp_path / "cache")
    found = first.find(TEXT)
    assert [f.rule for f in found] == ["GitHub token"]
    assert second.find(TEXT) == found
    assert second.masked(TEXT) == first.masked(TEXT) == TEXT.replace(KEY, "[secret: GitHub token]")
    assert looks == [TEXT]
    (file,) = (tmp_path / "cache").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert KEY not in file.read_text()


@pytest.mark.parametrize("changed", ["rules.py", "lists/words.txt"])
def test_what_is_written_down_counts_no_more_when_the_rules_or_their_lists_change(tmp_path: Path, changed: str) -> None:
    for name in ("rules.py", "lists/words.txt", "notes.md"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("as it was")
    before = verdicts.version_of(tmp_path)
    (tmp_path / "notes.md").write_text("of no account")
    assert verdicts.version_of(tmp_path) == before
    (tmp_path / changed).write_text("anew")
    assert verdicts.version_of(tmp_path) != before


@pytest.mark.parametrize(
    "line", [b"{", b"\xff\n", b'["x", 1]\n', b"[[[[", b'{"a": 1}\n', b'["%s", ["secret", 1]]\n', b""]
)
def test_a_broken_memory_is_ignored(tmp_path: Path, line: bytes, looks: list[str]) -> None:
    Verdicts(tmp_path).find(TEXT)
    (file,) = tmp_path.iterdir()
    file.write_bytes(line)
    assert [f.rule for f in Verdicts(tmp_path).find(TEXT)] == ["GitHub token"]
    assert len(looks) == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [('"secret"', '"secrets"'), ("[[0,", "[[-1,"), ("[[0,", "[[7,"), ("[[0,", "[[0,0,"), ("[[0,", "[[true,")],
)
def test_a_line_that_says_nothing_of_its_text_is_ignored(tmp_path: Path, old: str, new: str, looks: list[str]) -> None:
    Verdicts(tmp_path).find(TEXT)
    (file,) = tmp_path.iterdir()
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    assert [f.rule for f in Verdicts(tmp_path).find(TEXT)] == ["GitHub token"]
    assert len(looks) == 2


def test_of_what_is_written_down_only_what_is_asked_for_is_read(tmp_path: Path, looks: list[str]) -> None:
    first = Verdicts(tmp_path)
    every = [f"{TEXT} {n}" for n in range(20)]
    for text in every:
        first.masked(text)
    second = Verdicts(tmp_path)
    asked = calls_of([json.loads, scanning.without], lambda: [second.sorts(text) for text in every[:3]])
    assert asked == [3, 0]
    assert second.masked(every[0]) == first.masked(every[0])
    assert len(looks) == 20


def test_a_memory_that_is_a_link_or_a_pipe_is_ignored(tmp_path: Path, looks: list[str]) -> None:
    for make in (lambda path: path.symlink_to("/dev/zero"), os.mkfifo, Path.mkdir):
        folder = tmp_path / f"{len(looks)}"
        Verdicts(folder).find(TEXT)
        (file,) = folder.iterdir()
        file.unlink()
        make(file)
        assert [f.rule for f in Verdicts(folder).find(TEXT)] == ["GitHub token"]
    assert len(looks) == 6


def test_a_read_only_cache_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    assert Verdicts(tmp_path / "cache" / "deep").find(TEXT) != ()


def test_on_the_app_s_thread_a_long_text_is_masked_as_a_whole_until_it_was_looked_at() -> None:
    verdicts, arrived, where = Verdicts(), threading.Event(), []

    def told(text: str) -> None:
        where.append((text, threading.current_thread().name))
        arrived.set()

    verdicts.in_background(told)
    assert [(f.rule, f.start, f.end) for f in verdicts.find(TEXT)] == [(PENDING, 0, len(TEXT))]
    assert verdicts.masked(TEXT) == f"[{PENDING}]"
    assert arrived.wait(120)
    assert where == [(TEXT, "verdicts")]
    assert [f.rule for f in verdicts.find(TEXT)] == ["GitHub token"]
    assert verdicts.masked(TEXT) == TEXT.replace(KEY, "[secret: GitHub token]")


def test_the_app_hashes_a_text_that_is_being_looked_at_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[str] = []
    hash_of = verdicts._hash

    def counted(text: str) -> str:
        hashed.append(text)
        return hash_of(text)

    monkeypatch.setattr(verdicts, "_hash", counted)
    known, arrived, go_on = Verdicts(), threading.Event(), threading.Event()

    def slow(text: str) -> tuple[Finding, ...]:
        assert go_on.wait(120)
        return ()

    monkeypatch.setattr(scanning, "scan", slow)
    known.in_background(lambda text: arrived.set())
    for _ in range(5):
        assert [finding.rule for finding in known.find(TEXT)] == [PENDING]
    assert hashed == [TEXT]
    go_on.set()
    assert arrived.wait(120)
    assert known.find(TEXT) == ()


def test_back_in_the_foreground_nothing_is_pending_and_the_thread_ends() -> None:
    verdicts, come, before = Verdicts(), threading.Event(), set(threading.enumerate())
    verdicts.in_background(lambda _text: come.set())
    verdicts.find(TEXT)
    assert come.wait(120)
    (thread,) = (thread for thread in set(threading.enumerate()) - before if thread.name == "verdicts")
    verdicts.in_foreground()
    thread.join(120)
    assert not thread.is_alive()
    assert [f.rule for f in verdicts.find(TEXT + "more")] == ["GitHub token"]


def test_of_the_first_long_texts_a_few_are_looked_at_at_once(looks: list[str]) -> None:
    verdicts, texts = Verdicts(), [f"{n} {TEXT}" for n in range(4)]
    verdicts.in_background(lambda _text: None, at_once=2 * len(texts[0]) + 5)
    rules = [[finding.rule for finding in verdicts.find(text)] for text in texts]
    assert rules[:2] == [["GitHub token"]] * 2
    assert rules[2:] == [[PENDING]] * 2
    verdicts.in_foreground()
