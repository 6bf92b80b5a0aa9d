"""The areas as Textual modes; all but the first are imported when first opened, so that the app starts fast."""

from textual.screen import Screen

from workbench.tui.screens.stream import StreamScreen


def stream() -> Screen[object]:
    """Open the Stream."""
    return StreamScreen()


def review() -> Screen[object]:
    """Open Review."""
    from workbench.tui.screens.review import ReviewScreen

    return ReviewScreen()


def playbook() -> Screen[object]:
    """Open the Playbook."""
    from workbench.tui.screens.playbook import PlaybookScreen

    return PlaybookScreen()


def health() -> Screen[object]:
    """Open Health."""
    from workbench.tui.screens.health import HealthScreen

    return HealthScreen()


def tune() -> Screen[object]:
    """Open Tune."""
    from workbench.tui.screens.tune import TuneScreen

    return TuneScreen()
