"""Where similarity is worth a flag, for a model that was not measured."""

import numpy as np
import pytest

from workbench.core.limits import Thresholds
from workbench.retrieval.embedding.embedder import calibrate


def unit(
    random: np.random.Generator, rows: int, shared: float
) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Rows whose pairwise cosine is about `shared`."""
    common = random.standard_normal(256)
    own = random.standard_normal((rows, 256))
    mixed = np.sqrt(shared) * common / np.linalg.norm(common) + np.sqrt(
        1 - shared
    ) * own / np.linalg.norm(own, axis=1, keepdims=True)
    vectors: np.ndarray[tuple[int, int], np.dtype[np.float32]] = (
        mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
    ).astype(np.float32)
    return vectors


def test_thresholds_lie_between_the_background_and_one() -> None:
    vectors = unit(np.random.default_rng(1), 400, 0.5)
    found = calibrate(vectors)
    pairs = vectors @ vectors.T
    background = np.quantile(pairs[~np.eye(400, dtype=bool)], 0.9)
    assert found.flag == pytest.approx(background + 0.8 * (1 - background), abs=0.005)
    assert found.review == pytest.approx(background + 0.5 * (1 - background), abs=0.01)
    assert calibrate(vectors) == found


def test_more_uniform_memories_get_stricter_thresholds() -> None:
    random = np.random.default_rng(2)
    loose, strict = calibrate(unit(random, 200, 0.2)), calibrate(unit(random, 200, 0.7))
    assert loose.review < loose.flag < strict.flag < 1
    assert loose.review < strict.review


def test_few_or_empty_memories_fall_back_to_the_usual_background() -> None:
    usual = Thresholds(0.9, 0.75)
    assert (
        calibrate(np.zeros((0, 8), np.float32))
        == calibrate(np.zeros((500, 8), np.float32))
        == usual
    )


@pytest.mark.parametrize(("rows", "flag"), [(49, 0.9), (50, 0.998)])
def test_fifty_memories_are_enough_to_know_the_background(rows: int, flag: float) -> None:
    same = np.tile(np.array([1, 0], np.float32), (rows, 1))
    assert calibrate(same).flag == flag
