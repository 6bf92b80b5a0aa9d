"""The vector cache: embeds once, survives damage, never trusts it, never writes when it must not."""

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.core.record import WorkStopped
from workbench.retrieval.arrays import Vectors
from workbench.retrieval.embedding.vectors import BATCH, VectorCache
from workbench.retrieval.text_keys import KEY_SIZE, text_key

PRINT = "0123456789abcdef" * 2
DIM = 8


class Model:
    """A tiny deterministic model that notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return truth(texts)


def truth(texts: Sequence[str]) -> Vectors:
    keys = b"".join(text_key(text) for text in texts)
    return np.frombuffer(keys, np.uint16).reshape(-1, DIM).astype(np.float32)


def texts(n: int, start: int = 0) -> list[str]:
    return [f"text {i}" for i in range(start, start + n)]


def opened(folder: Path, read_only: bool = False) -> VectorCache:
    return VectorCache(folder, PRINT, DIM, read_only)


def checked(cache: VectorCache, asked: Sequence[str]) -> list[str]:
    """Ask for vectors, compare them with the truth, and return the texts that had to be embedded."""
    model = Model()
    np.testing.assert_array_equal(cache.vectors_for(asked, model), truth(asked))
    return model.asked


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
    }


def kept(folder: Path) -> Path:
    return folder / PRINT / "vectors.bin"


def rows(folder: Path) -> float:
    """Return how many rows the file has."""
    return kept(folder).stat().st_size / (KEY_SIZE + 4 + DIM * 4)


def test_a_text_is_embedded_once(tmp_path: Path) -> None:
    assert checked(opened(tmp_path), [*texts(5), "text 1", "text 1"]) == texts(5)
    again = opened(tmp_path)
    assert len(again) == 5
    assert checked(again, texts(7)) == texts(2, 5)
    assert checked(again, texts(7)[::-1]) == []
    assert checked(opened(tmp_path), ["text 3", "text 6"]) == []
    assert rows(tmp_path) == 7


def test_no_texts(tmp_path: Path) -> None:
    assert opened(tmp_path).vectors_for([], Model()).shape == (0, DIM)
    assert not list(tmp_path.iterdir())


def test_models_do_not_share_vectors(tmp_path: Path) -> None:
    checked(opened(tmp_path), texts(3))
    other = VectorCache(tmp_path, PRINT[::-1], DIM)
    assert checked(other, texts(3)) == texts(3)


def test_a_foreign_file_is_not_trusted(tmp_path: Path) -> None:
    checked(opened(tmp_path), texts(3))
    checked(VectorCache(tmp_path, PRINT[::-1], DIM), texts(3, 10))
    (tmp_path / PRINT[::-1] / kept(tmp_path).name).replace(kept(tmp_path))
    assert checked(opened(tmp_path), texts(3)) == texts(3)
    assert checked(opened(tmp_path), texts(3)) == []


def test_another_dimension_under_the_same_name_is_not_trusted(tmp_path: Path) -> None:
    VectorCache(tmp_path, PRINT, 4).vectors_for(
        texts(4), lambda t: np.ones((len(t), 4), np.float32)
    )
    assert checked(opened(tmp_path), texts(4)) == texts(4)
    assert checked(opened(tmp_path), texts(4)) == []


def damage_cut(path: Path, size: int) -> None:
    os.truncate(path, min(size, path.stat().st_size))


def damage_flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at % len(data)] ^= 0x55
    path.write_bytes(data)


def damage_tail(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes() + b"\x07" * (size + 1))


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from([damage_cut, damage_flip, damage_tail]),
    st.integers(0, 700),
)
def test_whatever_is_damaged_the_vectors_are_right_and_the_cache_heals(
    tmp_path_factory: pytest.TempPathFactory,
    damage: Callable[[Path, int], None],
    at: int,
) -> None:
    folder = tmp_path_factory.mktemp("cache")
    for start in (0, 4, 8):
        checked(opened(folder), texts(4, start))
    damage(kept(folder), at)
    checked(opened(folder), texts(14))
    assert checked(opened(folder), texts(14)) == []
    assert rows(folder) == 14


def test_what_was_read_survives_that_the_files_are_deleted_or_damaged_meanwhile(
    tmp_path: Path,
) -> None:
    cache = opened(tmp_path)
    checked(cache, texts(4))
    kept(tmp_path).unlink()
    assert checked(cache, texts(6)) == texts(2, 4)
    damage_tail(kept(tmp_path), 3)
    assert checked(opened(tmp_path), texts(8)) == texts(2, 6)
    assert checked(cache, texts(9)) == ["text 6", "text 7", "text 8"]
    assert checked(opened(tmp_path), texts(9)) == []


def test_numbers_that_changed_places_are_not_trusted(tmp_path: Path) -> None:
    checked(opened(tmp_path), texts(3))
    data = np.frombuffer(kept(tmp_path).read_bytes(), np.uint32).reshape(3, -1).copy()
    data[1, -2:] = data[1, -1:-3:-1]
    kept(tmp_path).write_bytes(data.tobytes())
    assert checked(opened(tmp_path), texts(3)) == texts(2, 1)


def test_the_files_of_versions_before_go_when_vectors_are_kept(tmp_path: Path) -> None:
    old = [tmp_path / PRINT / name for name in ("vectors.f32", "keys.bin")]
    old[0].parent.mkdir()
    for path in old:
        path.write_bytes(b"old")
    checked(opened(tmp_path), texts(1))
    assert not any(path.exists() for path in old)


def test_two_caches_of_one_folder_see_each_other(tmp_path: Path) -> None:
    one, two = opened(tmp_path), opened(tmp_path)
    checked(one, texts(3))
    checked(two, texts(3, 1))
    assert checked(one, texts(5)) == ["text 3", "text 4"]
    assert checked(opened(tmp_path), texts(5)) == []
    assert rows(tmp_path) == 5


def test_a_read_only_cache_reads_but_leaves_every_byte(tmp_path: Path) -> None:
    checked(opened(tmp_path), texts(3))
    before = files(tmp_path)
    stamps = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*")}
    cache = opened(tmp_path, read_only=True)
    assert checked(cache, texts(5)) == texts(2, 3)
    assert checked(cache, texts(5)) == []
    assert files(tmp_path) == before
    assert {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*")} == stamps
    nothing = tmp_path / "nothing"
    checked(opened(nothing, read_only=True), texts(2))
    assert not nothing.exists()


def test_a_folder_that_cannot_be_written_means_memory_only(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    cache = VectorCache(blocked, PRINT, DIM)
    assert checked(cache, texts(3)) == texts(3)
    assert checked(cache, texts(3)) == []
    assert blocked.read_text() == "no folder"


def test_while_another_process_writes_vectors_stay_in_memory_until_it_is_done(
    tmp_path: Path,
) -> None:
    cache = opened(tmp_path)
    checked(cache, texts(1))
    before = files(tmp_path)
    hold = (
        "import sys; from pathlib import Path; from workbench.core.files.locks import locked\n"
        "with locked(Path(sys.argv[1]), make=True) as alone: print(alone, flush=True); sys.stdin.read()"
    )
    lock = tmp_path / PRINT / "writer.lock"
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(lock)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "True\n"
        assert checked(cache, texts(3)) == texts(2, 1)
        assert checked(cache, texts(3)) == []
        assert files(tmp_path) == before
        other.communicate("")
    assert checked(cache, texts(4)) == ["text 3"]
    assert checked(opened(tmp_path), texts(4)) == []


def fill(folder: Path, start: int) -> None:
    cache = VectorCache(folder, PRINT, DIM)
    for number in range(start, start + 60):
        cache.vectors_for([f"text {number}"], truth)


@pytest.mark.slow
def test_several_processes_may_fill_one_folder(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=fill, args=(tmp_path, start)) for start in (0, 30, 60)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    cache = opened(tmp_path)
    checked(cache, texts(120))
    assert rows(tmp_path) == 120


def test_progress_counts_what_has_to_be_embedded(tmp_path: Path) -> None:
    cache = opened(tmp_path)
    checked(cache, texts(10))
    seen: list[tuple[int, int]] = []
    cache.vectors_for(texts(BATCH + 20), truth, lambda done, total: seen.append((done, total)))
    assert seen == [(BATCH, BATCH + 10), (BATCH + 10, BATCH + 10)]


def test_cancelling_keeps_what_was_done(tmp_path: Path) -> None:
    cache = opened(tmp_path)
    asked = texts(3 * BATCH)
    model = Model()
    with pytest.raises(WorkStopped, match="stopped"):
        cache.vectors_for(asked, model, cancelled=lambda: len(model.asked) >= 2 * BATCH)
    assert checked(opened(tmp_path), asked) == asked[2 * BATCH :]


def test_an_error_of_the_model_keeps_what_was_done(tmp_path: Path) -> None:
    def failing(batch: Sequence[str]) -> Vectors:
        if "text 0" not in batch:
            raise RuntimeError("broken")
        return truth(batch)

    with pytest.raises(RuntimeError):
        opened(tmp_path).vectors_for(texts(2 * BATCH), failing)
    assert len(opened(tmp_path)) == BATCH


def test_a_model_of_another_shape_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="shape"):
        opened(tmp_path).vectors_for(["a"], lambda t: np.zeros((1, DIM + 1), np.float32))
