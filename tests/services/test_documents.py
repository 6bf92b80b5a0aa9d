"""Folders of documents: opened by file, trusted by content, followed, edited with every other byte
kept, and undone.
"""

import os
from pathlib import Path

import pytest

from tests.services.conftest import KEY, Open
from workbench.core.record import (
    Conflict,
    InvalidRecord,
    StoreProblem,
    UnknownRecord,
    UnreadableFile,
    WorkbenchError,
)
from workbench.services.agents.documents.instructions import (
    DocumentFolder,
    Entry,
    open_folder,
    read_document,
)


def found(session: Path, name: str = "overview.md") -> tuple[DocumentFolder, Entry]:
    """The session's folder, and one of its documents."""
    folder = open_folder(session)
    entry = folder.find(name)
    assert entry is not None
    return folder, entry


def test_a_session_is_opened_with_its_layers(session: Path) -> None:
    folder = open_folder(session)
    assert folder.kind == "session"
    assert folder.name == "s-1"
    assert folder.has_detail is True
    assert [(e.path, e.scope) for e in folder.entries] == [
        ("overview.md", "overview"), ("detail/auth.md", "detail"), ("messages.jsonl", "messages"),
    ]  # fmt: skip
    assert open_folder(session / "working-memory") == folder


def test_a_session_without_the_inner_folder_and_one_without_details(tmp_path: Path) -> None:
    (tmp_path / "overview.md").write_text("x")
    folder = open_folder(tmp_path)
    assert folder.kind == "session"
    assert folder.has_detail is False
    (tmp_path / "other.md").write_text("a note of a memory bank")
    assert open_folder(tmp_path).kind == "notes"
    (tmp_path / "detail").write_text("a file in its place")
    with pytest.raises(UnreadableFile, match="cannot be opened"):
        open_folder(tmp_path)


def test_nothing_is_opened_that_is_a_link_a_pipe_or_too_large(tmp_path: Path) -> None:
    notes, outside = tmp_path / "notes", tmp_path / "secret.md"
    outside.write_text("elsewhere")
    (notes / "deep").mkdir(parents=True)
    (notes / "deep" / "a.md").write_text("a")
    (notes / ".hidden.md").write_text("b")
    (notes / "picture.png").write_bytes(b"c")
    (notes / "link.md").symlink_to(outside)
    (notes / "folder").symlink_to(tmp_path, target_is_directory=True)
    os.mkfifo(notes / "pipe.md")
    with (notes / "large.md").open("wb") as file:
        file.truncate(5 << 20)
    folder = open_folder(notes)
    assert [e.path for e in folder.entries] == ["deep/a.md"]
    assert {(s.path, s.why) for s in folder.skipped} == {
        ("link.md", "link"), ("pipe.md", "special"), ("large.md", "large"),
    }  # fmt: skip
    (notes / "deep" / "a.md").unlink()
    (notes / "deep" / "a.md").symlink_to(outside)
    with pytest.raises(UnreadableFile):
        read_document(folder.entries[0])  # it became a link after it was listed


@pytest.mark.parametrize("path", ["gone", "file.md", "nul\0"])
def test_what_is_no_folder_is_refused(path: str, tmp_path: Path) -> None:
    (tmp_path / "file.md").write_text("x")
    with pytest.raises(UnreadableFile):
        open_folder(tmp_path / path)


def test_a_folder_that_cannot_be_listed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "overview.md").write_text("# Overview")

    def refuse(_path: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(UnreadableFile, match="cannot be opened: Permission denied"):
        open_folder(tmp_path)


def test_a_folder_is_followed_and_no_longer(places: Open, tmp_path: Path) -> None:
    bench = places()
    (tmp_path / "notes").mkdir()
    bench.documents.follow(tmp_path / "notes")
    assert bench.documents.followed() == ((tmp_path / "notes").resolve(),)
    with pytest.raises(InvalidRecord, match="already followed"):
        bench.documents.follow(tmp_path / "notes")
    bench.documents.unfollow(tmp_path / "notes")
    with pytest.raises(UnknownRecord):
        bench.documents.unfollow(tmp_path / "notes")
    bench.history.undo()
    assert len(bench.documents.followed()) == 1


def test_sessions_of_the_project_are_found_the_last_one_first(places: Open, session: Path) -> None:
    bench = places()
    other = bench.documents.begin_session("s-2")
    os.utime(session / "messages.jsonl", (2_000_000_000, 2_000_000_000))
    assert bench.documents.sessions() == (session, other)
    assert (
        (other / "working-memory" / "overview.md")
        .read_text()
        .startswith("# Working Memory\n\n## Current Task\n")
    )
    with pytest.raises(Conflict):
        bench.documents.begin_session("s-2")
    for name in ("", "../x", ".", "a/b", "x" * 200):
        with pytest.raises(InvalidRecord):
            bench.documents.begin_session(name)
    bench.history.undo()
    assert not other.exists()


def test_what_a_person_saw_is_trusted_until_it_changes(places: Open, session: Path) -> None:
    bench = places()
    shown = bench.documents.opened(session)
    assert set(shown.changes.new) == {"overview.md", "detail/auth.md"}
    bench.documents.trust(shown)
    assert bench.documents.opened(session).changes.are_none
    kept = [
        path.read_bytes() for path in (session.parents[2] / "seen").rglob("*") if path.is_file()
    ]
    assert len(kept) == 3  # no secret of a file gets into what is remembered of it
    assert all(KEY.encode() not in data for data in kept)
    auth = session / "working-memory" / "detail" / "auth.md"
    auth.write_bytes(auth.read_bytes().replace(b"JWT", b"OAuth2"))
    with (session / "messages.jsonl").open("a") as file:
        file.write("more\n")
    again = bench.documents.opened(session)
    assert again.changes.changed == ("detail/auth.md",)
    assert again.changes.new == ()
    assert again.changes.messages == 5
    seen = bench.documents.seen(again.folder)
    (one,) = [d for d in again.documents if d.entry.path == "detail/auth.md"]
    assert [str(line) for line in seen.difference(one)][1:5] == [
        " # Auth\r",
        " \r",
        "-Use JWT.\r",
        "+Use OAuth2.\r",
    ]
    assert not seen.trusts(one)
    entry = again.folder.messages
    assert entry is not None
    assert seen.trusted_bytes(entry) == entry.size - 5
    (session / "messages.jsonl").write_text(
        "something else, that is longer than what was there before\n"
    )
    assert bench.documents.opened(session).changes.messages > 50
    with pytest.raises(WorkbenchError, match="An agent cannot trust"):
        places("agent:claude").documents.trust(again)


def test_an_edit_keeps_every_other_byte_and_is_undone_on_disk(places: Open, session: Path) -> None:
    bench = places()
    bench.documents.trust(bench.documents.opened(session))
    folder, entry = found(session, "detail/auth.md")
    one = read_document(entry)
    before = entry.file.read_bytes()
    done = bench.documents.edit(folder, one, one.document.content.replace("JWT", f"JWT with {KEY}"))
    after = entry.file.read_bytes()
    assert b"Use JWT with" in after
    assert KEY.encode() not in after  # what is typed is masked
    assert after.startswith(b"# Auth\r\n\r\n")
    assert after.endswith(b".\r\nno last end")
    assert bench.documents.seen(folder).trusts(done)  # a person wrote it here
    assert bench.history.undo() == "edit detail/auth.md"
    assert entry.file.read_bytes() == before
    bench.history.redo()
    assert entry.file.read_bytes() == after
    bench.documents.edit(folder, read_document(entry), "all new")
    bench.history.undo()
    bench.history.undo()
    assert entry.file.read_bytes() == before


def test_an_undo_is_refused_when_the_file_changed_since(places: Open, session: Path) -> None:
    bench = places()
    folder, entry = found(session)
    bench.documents.edit(folder, read_document(entry), "mine\n")
    entry.file.write_text("somebody else's\n")
    rev = bench.library.revision
    with pytest.raises(Conflict, match="changed by others since"):
        bench.history.undo()
    assert entry.file.read_text() == "somebody else's\n"
    assert bench.library.revision == rev
    # What they wrote may be edited, and that undone; further back there is no way.
    bench.documents.edit(folder, read_document(entry), "mine again\n")
    bench.history.undo()
    assert entry.file.read_text() == "somebody else's\n"
    with pytest.raises(Conflict):
        bench.history.undo()


def test_a_document_that_changed_or_vanished_under_an_edit_is_left(
    places: Open, session: Path
) -> None:
    bench = places()
    folder, entry = found(session)
    one = read_document(entry)
    entry.file.write_text("newer\n")
    with pytest.raises(Conflict):
        bench.documents.edit(folder, one, "mine\n")
    assert entry.file.read_text() == "newer\n"
    entry.file.unlink()
    with pytest.raises(WorkbenchError, match="is gone"):
        bench.documents.edit(folder, one, "mine\n")
    assert not entry.file.exists()
    assert bench.library.revision == 0


def test_other_encodings_are_read_and_written_back(places: Open, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    file = tmp_path / "notes" / "old.md"
    file.write_bytes(b"caf\xe9 \x93quoted\x94\nline\n")
    bench, folder = places(), open_folder(tmp_path / "notes")
    one = read_document(folder.entries[0])
    assert one.document.content == "caf\u00e9 \u201cquoted\u201d\nline\n"
    assert one.encoding == "cp1252"
    bench.documents.edit(folder, one, one.document.content.replace("line", "row"))
    assert file.read_bytes() == b"caf\xe9 \x93quoted\x94\nrow\n"
    with pytest.raises(WorkbenchError, match="which has no"):
        bench.documents.edit(folder, read_document(folder.entries[0]), "\u4f60\u597d")


def test_a_store_that_cannot_be_written_leaves_the_file(
    places: Open, session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = places()
    folder, entry = found(session)
    before = entry.file.read_bytes()

    def full(*_: object) -> None:
        raise StoreProblem("The disk is full.")

    monkeypatch.setattr(bench.library.journal, "gate", full)
    with pytest.raises(StoreProblem):
        bench.documents.edit(folder, read_document(entry), "mine\n")
    assert entry.file.read_bytes() == before
