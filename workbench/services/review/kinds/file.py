"""Files that changed on disk: what they say now is taken over, as an import."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.core.record import WorkbenchError
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.services.files.folder_files import place_of
from workbench.services.review.finders.files import mark_of
from workbench.services.review.kinds.lifecycle import Handler
from workbench.store.library import Tx

if TYPE_CHECKING:
    from workbench.services.files.imports.importing import Importer


class ChangedFile(Handler):
    """Its operation names the file or folder, the files that changed, and how they looked when they were read."""

    brings_text = True

    @cached_property
    def _importer(self) -> "Importer":
        from workbench.services.files.imports.importing import Importer

        return Importer(self._context)

    def about(self, proposal: Proposal) -> str:
        """Return nothing: it is about a file."""
        del proposal
        return ""

    def accept(self, tx: Tx, proposal: Proposal, after: tuple[Memory, ...] | None) -> None:
        """Do it, and note that; what the file says is not kept with the note, for nothing is masked in an import."""
        self.apply(tx, proposal)
        kept = {name: value for name, value in proposal.operation.items() if name != "lines"}
        super().accept(tx, replace(proposal, operation=kept), after or ())

    def apply(self, tx: Tx, proposal: Proposal) -> None:
        """Take over what was shown. Raises `WorkbenchError` when a file was changed since."""
        files, gone = (_paths(proposal, name) for name in ("files", "gone"))
        place = Path(str(proposal.operation.get("path")))
        self._require_known(place, files)
        if proposal.flags:
            raise WorkbenchError(f"It cannot be imported: {proposal.flags[0]}", "Nothing was changed.")
        if mark_of(files) != proposal.operation.get("mark"):
            raise WorkbenchError(
                "It changed again since it was read.",
                "Reject it: its current content is proposed separately. Nothing was changed.",
            )
        if len(gone) < len(files):
            only = () if place in files else [path for path in files if path not in gone]
            self._importer.put(tx, self._importer.plan(place, theirs=True, only=only))
        for path in gone:
            if (state := self._library.files.find(str(path))) is not None:
                tx.delete(state)

    def _require_known(self, place: Path, files: Sequence[Path]) -> None:
        """Raise `WorkbenchError` unless the store may be read from and was read from each file, with that folder."""
        if not self._library.standing.trusted:
            raise WorkbenchError("The store is not trusted.", "`workbench trust` shows why. Nothing was changed.")
        for path in files:
            known = self._library.files.find(str(path))
            if known is None or place_of(path, known.format, self._library) != place:
                raise WorkbenchError(
                    f"The store was not read from {path.name} like that.", "Reject it. Nothing was changed."
                )


def _paths(proposal: Proposal, name: str) -> list[Path]:
    named = proposal.operation.get(name)
    return [Path(str(path)) for path in named] if isinstance(named, list | tuple) else []
