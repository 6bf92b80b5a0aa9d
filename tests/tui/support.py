"""The real app over a real store, for tests."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from workbench.bench.demo import fill
from workbench.bench.workbench import Workbench, open_workbench
from workbench.tui.app import AppOptions, WorkbenchApp
from workbench.tui.themes import load_themes

ROOT = Path(__file__).parent.parent.parent
DEMO = ROOT / "fixtures" / "demo"
HOSTILE = ROOT / "fixtures" / "hostile"
NOW = datetime(2026, 3, 20, 17, 30, tzinfo=UTC)


def open_bench(folder: Path, clock: Callable[[], datetime] = lambda: NOW) -> Workbench:
    """Open a store in `folder` on a fixed clock."""
    return open_workbench(folder / "store", profiles=folder / "profiles", clock=clock)


def demo_app(folder: Path, theme: str = "workbench-dark", seen: int | None = None) -> WorkbenchApp:
    """Return the app over the demo store."""
    bench = open_bench(folder)
    fill(bench, DEMO)
    return app_over(bench, theme, seen)


def app_over(
    bench: Workbench,
    theme: str = "workbench-dark",
    seen: int | None = None,
    review_at: str = "",
    drafts: Path | None = None,
) -> WorkbenchApp:
    """Return the app over an open bench."""
    themes = load_themes((ROOT / "themes",)).themes
    options = AppOptions("demo", theme, themes, seen=seen, review_at=review_at, drafts=drafts)
    return WorkbenchApp(bench, options)


def import_file(bench: Workbench, path: Path) -> None:
    """Import a file as `workbench import` does."""
    bench.importer.carry_out(bench.importer.plan(path))


def screen_text(app: WorkbenchApp) -> str:
    """Return every character the terminal would be sent for the present screen."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)
