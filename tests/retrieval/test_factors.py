"""The factors and parts of relevance, as they are listed."""

import subprocess
import sys

import pytest

from workbench.core.runtime import implementation
from workbench.core.tuning.profile import FACTORS, RELEVANCE_PARTS
from workbench.retrieval.ranking.cases import Columns, PartColumns


def test_every_entry_names_what_is_there() -> None:
    for factor in FACTORS:
        assert isinstance(implementation(factor.columns), Columns)
    for part in RELEVANCE_PARTS:
        assert callable(implementation(part.explain))
        assert isinstance(implementation(part.columns), PartColumns)
    assert len({factor.glyph for factor in FACTORS}) == len(FACTORS)


@pytest.mark.parametrize("listing", ["workbench.core.tuning.profile", "workbench.services.open"])
def test_to_list_the_factors_loads_no_numbers(listing: str) -> None:
    code = f"import sys, {listing}\nassert 'numpy' not in sys.modules, sorted(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
