"""What background questions reach on a pool, reckoned and kept."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.retrieval.samples import memory
from workbench.core.record import WorkStopped
from workbench.core.tuning.floor import Floor
from workbench.core.words import script_of
from workbench.retrieval import floor as reaching
from workbench.retrieval.embedding.embedder import Embedder
from workbench.retrieval.floor import FloorFile, Kept, background, reach_of, reached, texts_of
from workbench.retrieval.fulltext.lexical import LexicalIndex
from workbench.retrieval.ranking.pool import Pool
from workbench.retrieval.ranking.ranker import Ranker
from workbench.retrieval.text_keys import text_keys

TEXTS = (
    "the migration locked the bookings table", "pnpm is used, never npm", "Redis keeps the rate limits",
    "the pool of connections was exhausted", "tests run against a real Postgres", "a baker's dozen of eggs",
)  # fmt: skip
ASKED = (
    "who locked the bookings",
    "eggs",
    "how are you",
    "which package manager",
    "connections to Redis",
)


@pytest.fixture(scope="module")
def ranker() -> Ranker:
    embedder = Embedder()
    pool = Pool.build([memory(number, text) for number, text in enumerate(TEXTS)])
    return Ranker(pool, embedder.embed(TEXTS), LexicalIndex.build(TEXTS), embedder.embed)


def test_the_questions_are_many_short_and_each_another() -> None:
    counts: Counter[str] = Counter()
    for questions in background().values():
        assert len(questions) == len(set(questions))
        assert all(
            question == question.strip() and 4 <= len(question) <= 90 for question in questions
        )
        # The questions of one language are all in the script that they tell the floor of.
        (script,) = set(map(script_of, questions))
        counts[script] += len(questions)
    assert set(counts) == {"latin", "cyrillic", "arabic", "cjk", "hangul"}
    assert min(counts.values()) >= 50


@settings(max_examples=25, deadline=None)
@given(
    chosen=st.sets(st.integers(0, len(TEXTS) - 1), min_size=1),
    cells=st.sampled_from([1, 7, 13, 1 << 21]),
)
def test_a_block_of_questions_reaches_what_each_alone_does(
    ranker: Ranker, chosen: set[int], cells: int
) -> None:
    served = np.zeros(len(TEXTS), np.bool_)
    served[list(chosen)] = True
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(reaching, "CELLS", cells)
        together = list(reached(ranker, served, ASKED))
    for question, reach in zip(ASKED, together, strict=True):
        scores = ranker.relevance(question)
        alone = reach_of(scores, served)
        assert alone is not None
        # In single precision, and summed in the order that the processor's own product has.
        each = pytest.approx((alone.cosine, alone.lexical, alone.memory), rel=1e-5)
        assert (reach.cosine, reach.lexical, reach.memory) == each
        assert alone.lexical == max(float(scores.lexical[row]) for row in chosen)
        assert reach.memory <= reach.together + 1e-6


def test_what_is_not_served_lends_nothing(ranker: Ranker) -> None:
    scores, served = ranker.relevance("eggs of a baker"), np.ones(len(TEXTS), np.bool_)
    whole = reach_of(scores, served)
    served[5] = False
    rest = reach_of(scores, served)
    assert whole is not None
    assert rest is not None
    assert rest.lexical == 0.0 < whole.lexical
    assert rest.cosine < whole.cosine
    assert reach_of(scores, np.zeros(len(TEXTS), np.bool_)) is None


def test_it_can_be_stopped(ranker: Ranker) -> None:
    stops = iter([False, False, True])
    found = reached(ranker, np.ones(len(TEXTS), np.bool_), ASKED, lambda: next(stops))
    assert len([next(found), next(found)]) == 2
    with pytest.raises(WorkStopped):
        next(found)


def test_pool_keys_follow_texts_and_nothing_else() -> None:
    pool = Pool.build([memory(number, text) for number, text in enumerate(TEXTS)])
    assert np.array_equal(pool.text_keys, text_keys(TEXTS))
    voted = pool.with_replaced([replace(pool.memories[0], helpful_votes=3)])
    assert voted.text_keys is pool.text_keys
    other = pool.with_replaced([replace(pool.memories[0], content="quite another text")])
    assert np.array_equal(other.text_keys[1:], pool.text_keys[1:])
    assert not np.array_equal(other.text_keys[0], pool.text_keys[0])


@pytest.mark.parametrize("known", [False, True])
def test_keys_and_twins_are_those_of_a_pool_built_anew(known: bool) -> None:
    pool = Pool.build(
        [memory(number, text, summary="in short") for number, text in enumerate(TEXTS)]
    )
    if known:
        pool.take_keys(pool.text_keys)
    edited = replace(pool.memories[0], content=TEXTS[1])
    later = pool.with_replaced([edited]).with_added(
        [memory(50, TEXTS[2], summary="in short"), memory(51, "new")]
    )
    anew = Pool.build(list(later.memories))
    assert np.array_equal(later.text_keys, anew.text_keys)
    assert later.twins is not None
    assert anew.twins is not None
    assert np.array_equal(later.twins, anew.twins)
    assert later.twins.tolist()[:2] == [0, 0]


FLOORS: Mapping[str, Floor] = {"en": Floor(0.71, 0.52), "hangul": Floor(0.21, 0.02)}


def kept(count: int = 40) -> Kept:
    keys = text_keys([f"text {number}" for number in range(count)])
    return Kept(FLOORS, texts_of(keys, np.ones(count, np.bool_)))


def test_a_floor_comes_back_as_it_was_kept(tmp_path: Path) -> None:
    file = FloorFile(tmp_path / "caches" / "floor", "f" * 32)
    file.folder.parent.mkdir()
    assert file.read() is None
    file.write(kept())
    found = file.read()
    assert found is not None
    assert found.floors == FLOORS
    assert np.array_equal(found.texts, kept().texts)
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in file.folder.iterdir()] == [file.path.name]


def test_it_fits_until_a_fifth_is_another() -> None:
    everything, some = kept(50), kept(41).texts
    assert everything.fits(everything.texts)
    assert everything.fits(some)
    assert not everything.fits(kept(40).texts)
    assert not kept(40).fits(kept(48).texts)
    assert everything.fits(np.unique(np.concatenate([some, kept(59).texts])))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 400), st.integers(1, 255))
def test_no_flipped_byte_is_believed(at: int, by: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        file = FloorFile(Path(name) / "floor", "f" * 32)
        file.write(kept())
        raw = bytearray(file.path.read_bytes())
        raw[at % len(raw)] ^= by
        file.path.write_bytes(bytes(raw))
        found = file.read()
        assert found is None or (
            found.floors == FLOORS and np.array_equal(found.texts, kept().texts)
        )
        file.path.write_bytes(bytes(raw[: at % len(raw)]))
        assert file.read() is None


def test_another_model_and_other_questions_have_another_floor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = FloorFile(tmp_path / "floor", "f" * 32)
    file.write(kept())
    other = FloorFile(tmp_path / "floor", "e" * 32)
    assert other.read() is None
    file.path.rename(other.path)
    assert other.read() is None
    file.write(kept())
    monkeypatch.setattr("workbench.retrieval.floor.edition", lambda: "0" * 16)
    assert file.read() is None


def test_what_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "floor").write_text("in the way")
    file = FloorFile(tmp_path / "floor", "f" * 32)
    file.write(kept())
    assert file.read() is None
    (tmp_path / "floor").unlink()
    gone = FloorFile(tmp_path / "no" / "such" / "floor", "f" * 32)
    gone.write(kept())
    assert not (tmp_path / "no").exists()
