"""Every bar of the ranking: speed, up to the paint, quality, verdicts, tuning and pairwise
questions.
"""

from tests.benchmarks.rank_paint import painted
from tests.benchmarks.rank_quality import conversations, synthetic_worlds, verdict_simulations
from tests.benchmarks.rank_speed import auto_tune, new_query, slider_steps


def run(small: bool = False) -> dict[str, object]:
    """Return all figures beside their bars; `small` measures less of everything, and no million."""
    rows = 10_000 if small else 100_000
    found: dict[str, object] = {
        "slider": {
            **slider_steps(rows, 40 if small else 200),
            "rows": rows,
            "step_bar_ms": 3.0,
            "ratio_bar": 2.5,
        },
        "painted": {
            **painted(rows, 5 if small else 20),
            "rows": rows,
            "bar_p95_ms": 50.0,
            "asked_bar_p95_ms": 60.0,
        },
        "new_query": {
            **new_query(rows, 20 if small else 100),
            "rows": rows,
            "bar_ms": 40.0,
            "part_bar_ms": 15.0,
        },
        "auto_tune": auto_tune(2_000 if small else 10_000, 5 if small else 25),
        "verdicts": verdict_simulations(small),
        "worlds": synthetic_worlds(small),
        "locomo": conversations(small),
    }
    if not small:
        found["slider_million"] = {
            **slider_steps(1_000_000, 30),
            "rows": 1_000_000,
            "step_bar_ms": 40.0,
        }
    return found
