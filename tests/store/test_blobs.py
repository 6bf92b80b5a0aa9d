"""What lies beside the store: kept once under its hash, never behind a link; purged, backed up,
checked, recovered.
"""

import gzip
import json
import os
import shutil
from pathlib import Path

import pytest

from tests.store.helpers import NOON, clock, memory, open_library
from workbench.core.agents.episodes.episode import Episode, EpisodeNote
from workbench.core.health import BadBlob
from workbench.core.record import StoreProblem
from workbench.store import history
from workbench.store.blobs import LARGEST, BlobProblem, Blobs, hash_of
from workbench.store.library import Library
from workbench.store.maintenance import doctor, purge
from workbench.store.maintenance.backup import restore, write_backup

TASK = "Move the build to the new runner and keep the cache warm."
SHARED = "The quoted answer of somebody else stays where it is."


def body(task: str = TASK) -> bytes:
    return json.dumps({"task": {"original_input": task}, "execution": {"trace": [SHARED]}}).encode()


def keep(library: Library, id: str = "ep-1", data: bytes | None = None) -> str:
    """Keep an episode, the file first."""
    library.begin()
    with library.turn():
        name = library.blobs.put(body() if data is None else data)
        with library.transaction("human", "keep") as tx:
            tx.put(Episode(id, NOON, "SUCCESS", name))
    return name


def action_of(library: Library) -> history.Action:
    action = history.Past(library.journal).action_of("1")
    assert action is not None
    return action


def path_of(library: Library, name: str) -> Path:
    return library.folder / "blobs" / name[:2] / f"{name}.gz"


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "s", clock)


def test_the_same_bytes_are_kept_once_private_and_compressed(library: Library) -> None:
    name = keep(library)
    path = path_of(library, name)
    before = path.stat().st_mtime_ns
    assert keep(library, "ep-2") == name == hash_of(body())
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert path.stat().st_mtime_ns == before
    assert gzip.decompress(path.read_bytes()) == body() == library.blobs.read(name)
    assert library.blobs.names() == (name,)
    assert not [one for one in library.folder.iterdir() if one.name.endswith(".tmp")]


def test_nothing_is_read_or_written_behind_a_link(library: Library, tmp_path: Path) -> None:
    name = keep(library)
    path, away = path_of(library, name), tmp_path / "away"
    shutil.move(path.parent, away)
    path.parent.symlink_to(away)
    with pytest.raises(BlobProblem):
        library.blobs.read(name)
    with pytest.raises(StoreProblem, match="cannot be written"):
        library.blobs.put(body())
    assert library.blobs.names() == ()
    path.parent.unlink()
    path.parent.mkdir()
    path.symlink_to(away / path.name)
    with pytest.raises(BlobProblem, match="is damaged"):
        library.blobs.read(name)
    assert library.blobs.put(body()) == name
    assert (path.is_symlink(), library.blobs.read(name)) == (False, body())


@pytest.mark.slow
@pytest.mark.parametrize("harm", ["gone", "cut", "other", "bomb", "folder", "pipe"])
def test_what_cannot_be_read_is_named_and_its_head_is_still_there(
    library: Library, harm: str
) -> None:
    name = keep(library)
    path = path_of(library, name)
    data = path.read_bytes()
    path.unlink()
    if harm == "folder":
        path.mkdir()
    elif harm == "pipe":
        os.mkfifo(path)
    elif harm != "gone":
        bad = {
            "cut": data[:-9],
            "other": gzip.compress(b"{}"),
            "bomb": gzip.compress(bytes(LARGEST + 2)),
        }[harm]
        path.write_bytes(bad)
    lack = "missing" if harm == "gone" else "damaged"
    with pytest.raises(BlobProblem, match=lack):
        library.blobs.read(name)
    found = doctor.examine(library.folder)
    assert found.blobs == (BadBlob("episodes", "ep-1", f"blobs/{name[:2]}/{name}.gz", lack),)
    assert library.table(Episode).get("ep-1").outcome == "SUCCESS"
    if harm not in ("folder",):
        assert keep(library) == name
        assert not doctor.examine(library.folder).blobs


def test_an_undo_brings_the_head_back_and_the_file_was_there_all_the_time(library: Library) -> None:
    name = keep(library)
    history.Past(library.journal).undo(action_of(library), "human")
    assert library.table(Episode).all() == []
    assert library.blobs.read(name) == body()
    history.Past(library.journal).redo(action_of(library), "human")
    assert library.blobs.read(library.table(Episode).get("ep-1").hash) == body()


def test_a_purge_takes_its_file_its_notes_and_what_quotes_its_own_words(library: Library) -> None:
    name, other = (
        keep(library),
        keep(library, "ep-2", body("Another task of the same day, with words of its own.")),
    )
    with library.transaction("human", "more") as tx:
        tx.put(EpisodeNote("n-1", "ep-1", "Looked at this twice.", NOON, "human"))
        tx.put(memory(1, f"Somebody said: {TASK}"))
        tx.put(memory(2, SHARED))
    orphan = library.blobs.put(b'{"task":{}}')
    done = purge.purge(
        library.journal, [("episodes", "ep-1"), ("episode_notes", "n-1")], "human", lambda: ()
    )
    assert f"blobs/{name[:2]}/{name}.gz" in done.removed
    assert library.blobs.names() == (other,)
    assert orphan not in library.blobs.names()
    assert library.memories.get("m1").content == "Somebody said: [purged]"
    assert library.memories.get("m2").content == SHARED
    assert [one.id for one in library.table(Episode).all()] == ["ep-2"]


def test_a_file_that_another_record_names_or_named_outlives_a_purge(library: Library) -> None:
    name = keep(library)
    keep(library, "ep-2")
    purge.purge(library.journal, [("episodes", "ep-1")], "human", lambda: ())
    assert library.blobs.names() == (name,)
    with library.transaction("human", "delete") as tx:
        tx.delete(library.table(Episode).get("ep-2"))
    keep(library, "ep-3", body("A third one, which goes."))
    purge.purge(library.journal, [("episodes", "ep-3")], "human", lambda: ())
    assert library.blobs.names() == (name,)


def test_a_note_leads_to_what_took_its_place(library: Library) -> None:
    name = keep(library)
    new = library.blobs.put(b'{"task":"masked"}')
    assert library.blobs.retire({name: new}) == (f"blobs/{name[:2]}/{name}.gz",)
    assert library.blobs.read(name) == b'{"task":"masked"}'
    assert (library.blobs.replaced(), library.blobs.names()) == ({name: new}, (new,))
    assert not doctor.examine(library.folder).blobs
    library.blobs.note({new: name})
    library.blobs.remove((new,))
    with pytest.raises(BlobProblem):
        library.blobs.read(name)


def test_a_backup_and_a_recovered_store_have_it_all(tmp_path: Path) -> None:
    library = open_library(tmp_path / "s")
    name, gone = keep(library), keep(library, "ep-2", body("Another one."))
    library.blobs.retire({gone: name})
    made = write_backup(library.journal, tmp_path / "b.tar.gz", NOON)
    assert {one.name for one in made.members if one.name.startswith("blobs/")} == {
        f"blobs/{name[:2]}/{name}.gz", f"blobs/{gone[:2]}/{gone}.now",
    }  # fmt: skip
    assert restore(tmp_path / "b.tar.gz", tmp_path / "new") == made
    saved = doctor.recover(library.folder, NOON)
    for folder in (tmp_path / "new", saved.folder):
        assert (Blobs(folder).read(name), Blobs(folder).read(gone)) == (body(), body())
        assert path_of(Library(folder, clock), name).stat().st_mode & 0o777 == 0o600
        assert not doctor.examine(folder).blobs
