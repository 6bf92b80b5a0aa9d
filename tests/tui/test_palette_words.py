"""Everyday words, descriptions and letters find what they mean in the palette."""

from pathlib import Path

from tests.tui.support import demo_app
from tests.tui.waiting import until
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.palette import Palette

MEANT = {
    "connect": "Agents: connect", "hook": "Agents: connect", "mcp": "Agents: connect",
    "claude": "Agents", "codex": "Agents", "install": "Agents: connect",
    "begin": "Begin",
    "trend": "Health", "trends": "Health", "stats": "Health", "doctor": "Health",
    "settings": "Settings", "config": "Settings", "preferences": "Settings", "keys": "Change keys",
    "remap": "Change keys",
    "shortcuts": "Help", "legend": "Manual: Symbols", "symbol": "Manual: Symbols",
    "icons": "Manual: Symbols", "demo": "Manual: Getting started", "tutorial": "Manual: Getting started",
    "delete": "Archive", "remove": "Archive", "forget": "Archive", "hide": "Archive", "find": "Search",
    "grep": "Search", "modify": "Edit", "fix": "Edit", "like": "Helpful", "wrong": "Harmful",
    "revert": "Undo", "restore": "Undo", "audit": "All history", "log": "History", "dark": "Theme",
    "colors": "Theme", "load": "Import a file", "share": "Manual: Store and backup", "publish": "Promote",
    "accept": "Review: approve", "reject": "Review: reject", "postpone": "Review: later",
    "exit": "Quit", "star": "Pin", "insights": "Reflect", "select": "Mark", "weights": "Tune",
    "sliders": "Tune", "recall": "Agents: context", "curate": "Playbook: suggestions",
    "tokens": "Playbook: budget", "flags": "Allow", "dedup": "Health: duplicates",
    "does not decay": "Pin", "correct": "Edit in $EDITOR", "rchv": "Archive", "revision": "History",
    "history": "All history", "workspace": "Stores", "backup": "Health: back up", "plan": "Agents: plans",
}  # fmt: skip
"""What a person types, and a row that is listed among the first for it."""

FIRST = 8

FIRST_OF_ALL = ("hook", "mcp", "connect", "log", "revision")


async def test_everyday_words_find_what_they_mean(tmp_path: Path) -> None:
    assert len(MEANT) >= 50
    app = demo_app(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, AreaScreen))
        palette, missed = Palette(app.screen), {}
        for word, row in MEANT.items():
            hits = [hit async for hit in palette.search(word)]
            best = sorted(hits, key=lambda hit: -getattr(hit, "score", 0.0))
            names = [str(hit.text or getattr(hit, "match_display", "")) for hit in best[:FIRST]]
            if row not in names or (word in FIRST_OF_ALL and names[0] != row):
                missed[word] = names
        assert not missed
        assert [hit async for hit in palette.search("xyzzy nothing")] == []
