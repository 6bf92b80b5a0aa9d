"""The most similar vectors, against a full sort; and choosing the best without one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.retrieval.samples import memory
from workbench.retrieval.arrays import place_of, top_positions
from workbench.retrieval.embedding.vectors import near_pairs, nearest
from workbench.retrieval.text_keys import searched_text


@settings(deadline=None)
@given(st.integers(0, 60), st.integers(0, 12), st.integers(0, 1000), st.floats(0, 1))
def test_nearest_equals_a_full_sort(rows: int, k: int, seed: int, share: float) -> None:
    random = np.random.default_rng(seed)
    matrix = random.choice(np.array([-0.5, 0.5], np.float32), (rows, 4))
    mask = random.random(rows) < share
    got, cosines = nearest(matrix[0] if rows else np.ones(4, np.float32), matrix, k, mask)
    expected = matrix @ matrix[0] if rows else np.zeros(0)
    order = sorted(np.flatnonzero(mask).tolist(), key=lambda row: (-expected[row], row))[:k]
    assert got.tolist() == order
    assert cosines.tolist() == [expected[row] for row in order]


def test_without_a_mask_all_rows_take_part() -> None:
    rows, cosines = nearest(np.array([1, 0], np.float32), np.eye(2, dtype=np.float32), 5)
    assert (rows.tolist(), cosines.tolist()) == ([0, 1], [1.0, 0.0])


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), max_size=30), st.integers(0, 35), st.randoms())
def test_the_top_equals_a_full_sort(values: list[float], k: int, random: object) -> None:
    ranks = list(range(len(values)))
    random.shuffle(ranks)  # type: ignore[attr-defined]
    column, ties = np.array(values, np.float64), np.array(ranks, np.intp)
    order = sorted(range(len(values)), key=lambda i: (-values[i], ranks[i]))
    assert top_positions(column, ties, k).tolist() == order[:k]
    assert [place_of(column, ties, i) for i in order] == list(range(1, len(values) + 1))


def test_the_text_of_a_memory_has_a_summary_that_adds_something() -> None:
    assert searched_text(memory(1, "use pnpm")) == "use pnpm"
    assert searched_text(memory(1, "use pnpm", summary="pnpm")) == "use pnpm"
    assert (
        searched_text(memory(1, "use pnpm", summary="package manager"))
        == "package manager\nuse pnpm"
    )


@pytest.mark.parametrize("least", [0.2, 0.9, 1.1])
def test_near_pairs_are_those_of_the_whole_product(
    least: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.retrieval.embedding.vectors._NEAREST_BLOCK", 7)
    random = np.random.default_rng(5)
    matrix = random.standard_normal((50, 6)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    vectors = np.concatenate([matrix[3:6], -matrix[:2]])
    mine, others, cosines = near_pairs(vectors, matrix, least)
    product = vectors @ matrix.T
    wanted = np.nonzero(product >= least)
    assert (mine.tolist(), others.tolist()) == (wanted[0].tolist(), wanted[1].tolist())
    assert cosines == pytest.approx(np.clip(product[wanted], -1, 1), abs=1e-6)


def test_no_pairs_of_nothing() -> None:
    nothing = np.zeros((0, 4), np.float32)
    for vectors, matrix in (
        (nothing, np.eye(4, dtype=np.float32)),
        (np.eye(4, dtype=np.float32), nothing),
    ):
        assert [len(part) for part in near_pairs(vectors, matrix, 0.5)] == [0, 0, 0]


def test_a_pair_at_the_least_cosine_is_near() -> None:
    matrix = np.array([[1, 0, 0, 0], [0.5, 0.5, 0.5, 0.5]], np.float32)
    assert near_pairs(matrix[:1], matrix, 0.5)[2].tolist() == [1.0, 0.5]
    assert near_pairs(matrix[:1], matrix, 0.5001)[2].tolist() == [1.0]
