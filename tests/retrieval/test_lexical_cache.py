"""The full-text cache: scores as in memory, written once, damage noticed, readers never in the way."""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.core.record import WorkStopped
from workbench.retrieval.fulltext import lexical
from workbench.retrieval.fulltext.lexical import BATCH, SMALL, LexicalCache, LexicalIndex

WORDS = (
    "deploy", "deployed", "tests", "the", "is", "pnpm", "Café", "AUTH_SECRET", "src/auth/login.py", "3.11.7", "память",
    "記憶", "\x00", "naïve", "a" * 40, "'", '"',
)  # fmt: skip
QUERIES = (
    "deploy tests", "AUTH_SECRET", '"the tests"', '"is the"', "login.py 3.11.7", "cafe naive", "память", "記憶 pnpm",
    '"deploy deploy"', "unknown deploy", "", "the is", '"auth/login.py"',
)  # fmt: skip
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join), max_size=9)


def same(index: LexicalIndex, wanted: Sequence[str]) -> None:
    """Compare an index with one that was built in memory."""
    fresh = LexicalIndex.build(wanted)
    assert len(index) == len(wanted)
    for query in QUERIES:
        np.testing.assert_allclose(
            index.scores(query), fresh.scores(query), rtol=0, atol=1e-6, err_msg=query
        )


def some(n: int, start: int = 0) -> list[str]:
    return [f"deploy number{i} the tests of src/part_{i % 7}.py" for i in range(start, start + n)]


def written(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.npz"))


def indexed(folder: Path, wanted: Sequence[str]) -> list[tuple[int, int]]:
    """Index texts, compare with memory, and return the progress: nothing, when the cache knew all
    of them.
    """
    seen: list[tuple[int, int]] = []
    index = LexicalCache(folder).index(
        wanted, progress=lambda done, total: seen.append((done, total))
    )
    same(index, wanted)
    return seen


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(p): (p.read_bytes() if p.is_file() else b"", p.stat().st_mtime_ns)
        for p in sorted(folder.rglob("*"))
    }


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.data())
def test_stored_scores_are_those_of_memory(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("cache")
    cache, wanted = LexicalCache(folder), data.draw(texts)
    for _ in range(3):
        index = cache.index(wanted)
        same(index, wanted)
        rows = st.integers(0, max(0, len(wanted) - 1))
        changed = (
            data.draw(st.dictionaries(rows, st.sampled_from([*WORDS, ""]), max_size=3))
            if wanted
            else {}
        )
        index = index.with_replaced(changed)
        wanted = [changed.get(row, text) for row, text in enumerate(wanted)]
        same(index, wanted)
        more = data.draw(texts)
        index = index.with_added(more)
        wanted = [*wanted, *more]
        same(index, wanted)
        gone = data.draw(st.sets(st.integers(0, 9), max_size=4))
        wanted = [text for row, text in enumerate(wanted) if row not in gone]
        if data.draw(st.booleans()):
            cache = LexicalCache(folder)


def test_a_text_is_indexed_once(tmp_path: Path) -> None:
    assert indexed(tmp_path, [*some(5), *some(3)]) == [(5, 5)]
    assert indexed(tmp_path, some(5)[::-1]) == []
    assert indexed(tmp_path, some(2, 3)) == []


def test_a_few_new_texts_beside_many_are_not_written(tmp_path: Path) -> None:
    many = 2 * SMALL * 3
    indexed(tmp_path, some(many))
    (file,) = written(tmp_path)
    before = file.stat()
    assert indexed(tmp_path, some(many + 3)) == [(3, 3)]
    assert file.stat().st_mtime_ns == before.st_mtime_ns
    assert indexed(tmp_path, some(many + SMALL)) == [(SMALL, SMALL)]
    assert indexed(tmp_path, some(many + SMALL)) == []


def test_texts_that_are_gone_are_left_out_in_time(tmp_path: Path) -> None:
    indexed(tmp_path, some(4 * SMALL))
    (file,) = written(tmp_path)
    before = file.stat().st_size
    indexed(tmp_path, some(SMALL + 10, 3 * SMALL - 9))
    assert file.stat().st_size < before / 2


def damage_cut(data: bytes, at: int) -> bytes:
    return data[: at % len(data)]


def damage_flip(data: bytes, at: int) -> bytes:
    at %= len(data)
    return data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]


def damage_page(data: bytes, at: int) -> bytes:
    start = at % len(data) // 4096 * 4096
    return data[:start] + bytes(4096) + data[start + 4096 :]


def damage_tail(data: bytes, at: int) -> bytes:
    return data + b"\0" * (at % 5000 + 1)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.sampled_from([damage_cut, damage_flip, damage_page, damage_tail]), st.integers(0, 10**6))
def test_whatever_is_damaged_the_scores_are_right_and_the_cache_heals(
    tmp_path_factory: pytest.TempPathFactory, damage: Callable[[bytes, int], bytes], at: int
) -> None:
    folder = tmp_path_factory.mktemp("cache")
    LexicalCache(folder).index(some(30))
    (file,) = written(folder)
    sound = file.read_bytes()
    broken = damage(sound, at)
    file.write_bytes(broken)
    assert indexed(folder, some(30)) in ([], [(30, 30)])
    assert indexed(folder, some(30)) == []


@pytest.mark.parametrize(
    "content", [b"", b"no archive", b"PK\x03\x04" + bytes(5000), b"\x93NUMPY\x01\x00"]
)
def test_a_foreign_file_is_not_trusted(tmp_path: Path, content: bytes) -> None:
    LexicalCache(tmp_path).path.write_bytes(content)
    assert indexed(tmp_path, some(4)) == [(4, 4)]
    assert indexed(tmp_path, some(4)) == []


def test_a_file_that_was_made_another_way_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as other:
        other.setattr(lexical, "edition", lambda: "of another tokenizer")
        LexicalCache(tmp_path).index(some(4))
    assert indexed(tmp_path, some(4)) == [(4, 4)]


def test_it_may_be_deleted_at_will_even_while_it_is_open(tmp_path: Path) -> None:
    cache = LexicalCache(tmp_path)
    index = cache.index(some(20))
    shutil.rmtree(tmp_path)
    same(index, some(20))
    same(cache.index(some(22)), some(22))
    assert indexed(tmp_path, some(22)) == []


def test_who_finds_everything_leaves_every_byte(tmp_path: Path) -> None:
    indexed(tmp_path, some(10))
    before = files(tmp_path)
    assert indexed(tmp_path, some(10)) == []
    assert files(tmp_path) == before


def test_a_folder_that_cannot_be_written_means_memory_only(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    assert indexed(blocked, some(3)) == [(3, 3)]
    assert blocked.read_text() == "no folder"


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    indexed(tmp_path / "cache", some(3))
    found = {
        path.stat().st_mode & 0o777 for path in (tmp_path / "cache").rglob("*") if path.is_file()
    }
    assert found == {0o600}
    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700


def test_what_a_crash_left_unfinished_goes(tmp_path: Path) -> None:
    (tmp_path / ".index.npz.1.tmp").write_bytes(b"half")
    indexed(tmp_path, some(2))
    assert [path.name for path in tmp_path.iterdir()] == ["index.npz"]


def fill(folder: Path, start: int) -> None:
    cache = LexicalCache(folder)
    for number in range(start, start + 60, 20):
        cache.index(some(number + 20 - start, start))


@pytest.mark.slow
def test_several_processes_may_fill_one_folder(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=fill, args=(tmp_path, start)) for start in (0, 0, 30)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    indexed(tmp_path, some(90))
    assert indexed(tmp_path, some(90)) == []
    assert len(written(tmp_path)) == 1


FILL = """
import sys; from pathlib import Path; from workbench.retrieval.fulltext.lexical import LexicalCache
print("go", flush=True)
for n in range(1, 400):
    LexicalCache(Path(sys.argv[1])).index([f"deploy number{i} the tests of src/part_{i % 7}.py" for i in range(5 * n)])
"""


@pytest.mark.slow
@pytest.mark.parametrize("wait", [0.0, 0.011, 0.033, 0.07, 0.15])
def test_a_writer_that_is_killed_leaves_a_cache_that_is_right(tmp_path: Path, wait: float) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", FILL, str(tmp_path)], stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"go\n"
        time.sleep(wait)  # not a wait for anything: the moment of the kill is what varies
        os.kill(writer.pid, signal.SIGKILL)
    indexed(tmp_path, some(40))
    assert indexed(tmp_path, some(40)) == []
    assert indexed(tmp_path, ["something new", *some(40)]) != []
    assert not list(tmp_path.rglob("*.tmp"))


def test_progress_counts_what_has_to_be_indexed_and_cancelling_leaves_no_trace(
    tmp_path: Path,
) -> None:
    seen: list[tuple[int, int]] = []
    many = some(BATCH + 5)
    with pytest.raises(WorkStopped, match="stopped after 4,096 of 4,101"):
        LexicalCache(tmp_path).index(
            many, None, lambda *step: seen.append(step), lambda: bool(seen)
        )
    assert written(tmp_path) == []
    seen.clear()
    LexicalCache(tmp_path).index(many, None, lambda *step: seen.append(step))
    assert seen == [(BATCH, BATCH + 5), (BATCH + 5, BATCH + 5)]


def test_an_index_outlives_the_next_one(tmp_path: Path) -> None:
    cache = LexicalCache(tmp_path)
    old = cache.index(some(5))
    cache.index(some(9))
    same(old, some(5))
