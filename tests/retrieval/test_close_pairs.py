"""Close pairs of vectors, whatever the blocks."""

from itertools import combinations

import numpy as np
import pytest

from workbench.retrieval.arrays import Vectors
from workbench.retrieval.embedding.close_pairs import ROUNDING, close_pairs, reaches


def unit(rows: int) -> Vectors:
    vectors = np.random.default_rng(3).normal(size=(rows, 4)).astype(np.float32)
    made: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return made


@pytest.mark.parametrize("block", [1, 7, 512])
def test_every_close_pair_comes_once_the_closest_first(block: int) -> None:
    vectors = unit(60)
    steps: list[tuple[int, int]] = []
    found = close_pairs(
        vectors, 0.7, 10_000, lambda done, total: steps.append((done, total)), block
    )
    expected = {
        (a, b) for a, b in combinations(range(60), 2) if float(vectors[a] @ vectors[b]) >= 0.7
    }
    assert set(zip(found.left.tolist(), found.right.tolist(), strict=True)) == expected
    assert len(found.cosines) == len(expected) > 20
    assert np.all(np.diff(found.cosines) <= 0)
    assert (found.floor, steps[0], steps[-1]) == (0.7, (0, 60), (60, 60))


def test_of_too_many_the_closest_are_kept_and_the_floor_says_so() -> None:
    every = close_pairs(unit(60), 0.0, 10_000, lambda *_: None)
    few = close_pairs(unit(60), 0.0, 10, lambda *_: None, 8)
    assert few.cosines.tolist() == pytest.approx(every.cosines[:10].tolist(), abs=1e-6)
    assert few.floor == few.cosines[-1]


def test_nothing_to_compare() -> None:
    assert len(close_pairs(np.zeros((0, 4), np.float32), 0.5, 10, lambda *_: None).cosines) == 0
    assert len(close_pairs(unit(1), 0.5, 10, lambda *_: None).cosines) == 0


def test_a_pair_at_the_floor_is_close_and_rounding_does_not_part_it() -> None:
    vectors = np.array([[1, 0, 0, 0], [0.5, 0.5, 0.5, 0.5]], np.float32)
    assert close_pairs(vectors, 0.5, 10, lambda *_: None).cosines.tolist() == [0.5]
    assert close_pairs(vectors, 0.5001, 10, lambda *_: None).cosines.tolist() == []
    assert [reaches(0.75 + off * ROUNDING, 0.75) for off in (-2, -0.5, 0, 0.5)] == [
        False,
        True,
        True,
        True,
    ]
