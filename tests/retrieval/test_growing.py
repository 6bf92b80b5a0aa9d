"""A matrix that grows keeps what it handed out."""

from itertools import pairwise

import numpy as np

from workbench.retrieval.embedding.vectors import GrowingMatrix


def test_rows_are_added_at_the_end_and_earlier_views_stay() -> None:
    first = np.arange(6, dtype=np.float32).reshape(3, 2)
    first.flags.writeable = False
    matrix = GrowingMatrix(first)
    views = [matrix.rows]
    for n in range(1, 3_000, 700):
        views.append(matrix.add(np.full((n, 2), n, np.float32)))
    assert [len(view) for view in views] == [3, 4, 705, 2106, 4207, 7008]
    for earlier, later in pairwise(views):
        np.testing.assert_array_equal(later[: len(earlier)], earlier)
    assert (views[-1][-2801:] == 2801).all()
