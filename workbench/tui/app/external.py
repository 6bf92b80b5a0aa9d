"""Editing a text in the person's own editor, with the app suspended meanwhile."""

from textual.app import App, SuspendNotSupported

from workbench.config import editor
from workbench.core.errors import WorkbenchError
from workbench.tui.app.host import Host


def edit(app: App[object], text: str, line: int = 0) -> str | None:
    """Open the editor on `text`, at a line (from 1), and return what was saved, or `None` when it is unchanged.

    Raises `WorkbenchError` when the editor cannot be run or fails; the text is as it was then.
    """
    setting = app.options.editor if isinstance(app, Host) else ""
    try:
        return editor.edit(text, setting, app.suspend, line)
    except SuspendNotSupported as error:
        raise WorkbenchError("This terminal cannot be left for an editor.", "Nothing was changed.") from error
