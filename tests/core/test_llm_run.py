"""What a month's uses of a language model cost."""

from datetime import UTC, datetime, timedelta, timezone

from workbench.core.document import from_doc, to_doc
from workbench.core.reflection.llm import LlmRun, UnreadReply, spent_in_month

AT = datetime(2026, 3, 20, tzinfo=UTC)


def test_a_month_is_the_calendar_month_in_utc() -> None:
    east = timezone(timedelta(hours=5))
    runs = [
        LlmRun("a", "claude", datetime(2026, 3, 1, tzinfo=UTC), 10, 1),
        LlmRun("b", "claude", datetime(2026, 4, 1, 3, tzinfo=east), 100, 20),  # still March in UTC
        LlmRun("c", "claude", datetime(2026, 2, 28, 23, 59, tzinfo=UTC), 5000, 5000),
        LlmRun("d", "claude", datetime(2025, 3, 20, tzinfo=UTC), 5000, 5000),
    ]
    assert spent_in_month(runs, AT) == 131
    assert spent_in_month([], AT) == 0


def test_a_run_survives_the_store() -> None:
    run = LlmRun(
        "run-1",
        "claude",
        AT,
        7,
        8,
        (UnreadReply("insights", "hm\n", "no list", "Why?"),),
        ("m1", "m2"),
    )
    assert from_doc(LlmRun, to_doc(run)) == run
