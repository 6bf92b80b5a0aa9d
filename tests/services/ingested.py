"""A store that has been given texts before."""

from tests.services.conftest import memory, put
from workbench.services.open import Workbench

RULE = "Run the database migrations with lock_timeout 3s before every deploy of the API"


def fill_up(bench: Workbench, count: int = 12) -> None:
    """Put other memories between, so that the last ten do not hold what matters."""
    put(
        bench,
        *(
            memory(f"other{i}", f"Unrelated note {i} about {word}")
            for i, word in enumerate(WORDS[:count])
        ),
    )


WORDS = (
    "gardens", "violins", "harbours", "glaciers", "recipes", "chess", "telescopes", "sailing", "pottery", "bees",
    "castles", "trains",
)  # fmt: skip
