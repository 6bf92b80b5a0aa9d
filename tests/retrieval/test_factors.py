"""The factors and parts of relevance, as they are listed."""

import subprocess
import sys

import pytest

from workbench.core.tuning.profile import FACTORS, RELEVANCE_PARTS
from workbench.retrieval.ranking.ranker import COLUMNS
from workbench.retrieval.ranking.relevance import PARTS


def test_every_entry_is_carried_out() -> None:
    assert list(COLUMNS) == [factor.id for factor in FACTORS]
    assert set(PARTS) == {part.id for part in RELEVANCE_PARTS}
    assert len({factor.glyph for factor in FACTORS}) == len(FACTORS)


@pytest.mark.parametrize("listing", ["workbench.core.tuning.profile", "workbench.services.open"])
def test_to_list_the_factors_loads_no_numbers(listing: str) -> None:
    code = f"import sys, {listing}\nassert 'numpy' not in sys.modules, sorted(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
