"""Saving a document that is edited: what goes wrong is said in the editor, and its text stays."""

from workbench.core.errors import Conflict, WorkbenchError
from workbench.services.agents.documents.documents import Vanished
from workbench.services.agents.documents.reading import read
from workbench.services.agents.documents.typed import put_back
from workbench.services.open import Workbench
from workbench.tui.agents.documents.rows import Part
from workbench.tui.widgets.keys import keyed

GONE = (
    "{} is gone from the disk. {editor.save} again writes it anew; {dialog.cancel} leaves it gone. "
    "Your text stays here until then."
)
CHANGED = (
    "{} was changed on disk since you opened it. {editor.save} again replaces that "
    "({documents.undo} takes it back); {dialog.cancel} leaves it."
)


class SavingDocument:
    """Writes what was typed over a document; `shown` is its text with the secrets masked, as it is edited.

    A file that is gone, or was changed by somebody else, is written only when it is saved a second time.
    """

    def __init__(self, bench: Workbench, row: Part) -> None:
        assert row.document is not None  # only a document is saved
        self._bench = bench
        self._row = row
        self._opened = row.opened
        self._text = row.document.content
        self._anew = False
        self.shown = bench.safety.masked(self._text)

    def __call__(self, typed: str) -> str | None:
        """Save; return what is wrong, or `None`. Raises `WorkbenchError`."""
        text = put_back(self._text, self.shown, typed)
        if self._opened is None or self._row.within is None:
            self._bench.stored_documents.write(self._row.path, text, self._row.document)
            return None
        try:
            self._bench.documents.edit(self._row.within.folder, self._opened, text, anew=self._anew)
        except Vanished:
            self._anew = True
            return keyed(GONE).format(self._row.path)
        except Conflict:
            self._opened = read(self._opened.entry)
            return keyed(CHANGED).format(self._row.path)
        return None

    def at_once(self, typed: str) -> str:
        """Save what an editor elsewhere brought; return why it could not be, else nothing."""
        try:
            return self(typed) or ""
        except WorkbenchError as error:
            return str(error)
