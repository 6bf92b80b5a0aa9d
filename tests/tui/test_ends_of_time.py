"""Memories at both ends of the calendar, in zones where their local time is beyond it."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tui.support import app_over, import_file, open_bench, screen_text
from tests.tui.waiting import until
from workbench.cli.main import run

ENDS = ("9999-12-31T23:59:59.999999Z", "0001-01-01T00:00:00Z", "2026-03-03T00:00:00Z")


@pytest.fixture(params=["Asia/Tokyo", "America/Los_Angeles"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A zone of the machine far from UTC."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", request.param)
        time.tzset()
        yield request.param
    time.tzset()


def written(folder: Path) -> Path:
    """Write a memory of each status for each end of time."""
    lines = [
        {
            "id": f"m{i}-{status}", "type": "error", "status": status, "context": f"thing {i} on deploying {status}",
            "timestamp": at, "session_id": "s", "last_accessed_at": at, "review_after": at,
        }
        for i, at in enumerate(ENDS)
        for status in ("signal", "candidate", "confirmed")
    ]  # fmt: skip
    file = folder / "ends.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    return file


@pytest.mark.slow
async def test_the_app_shows_them_as_they_are(tmp_path: Path, zone: str) -> None:
    bench = open_bench(tmp_path)
    import_file(bench, written(tmp_path))
    app = app_over(bench)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        seen = ""
        for key in (
            "1",
            *"jjjjjjjjj",
            "enter",
            "h",
            "escape",
            "escape",
            "2",
            *"jjj",
            "enter",
            "escape",
        ):
            await pilot.press(key)
            seen += screen_text(app)
        assert "9999-12-31" in seen
        assert "0001-01-01" in seen
        await until(pilot, lambda: bench.retriever.ready)
        for key in (
            "4",
            "slash",
            *"deploy",
            "enter",
            "full_stop",
            "comma",
            "tab",
            "j",
            "enter",
            "escape",
            "6",
            *"jjjj",
        ):
            await pilot.press(key)
    assert app.return_code in (0, None)


def test_commands_show_and_filter_them(
    tmp_path: Path, zone: str, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = open_bench(tmp_path)
    import_file(bench, written(tmp_path))
    store, names = str(bench.library.folder), [m.id for m in bench.library.memories.all()]
    bench.close()

    def printed(*words: str) -> str:
        assert run(["--store", store, *words], open_app=lambda *_, **__: 0) == 0
        return capsys.readouterr().out

    listed = printed("list")
    assert "9999-12-31" in listed
    assert "0001-01-01" in listed
    for name in names:
        assert "0001" in (shown := printed("show", name)) or "9999" in shown or "2026" in shown
    assert printed("list", "until:9999-12-31").count("\n") == len(names)
    assert printed("list", "since:0001-01-01").count("\n") == len(names)
    assert printed("list", "since:9999-12-31").count("\n") == 3
    for words in (
        ["stats"],
        ["history"],
        ["search", "deploy", "--now", ENDS[0]],
        ["search", "deploy", "--now", ENDS[1]],
    ):
        assert printed(*words)
