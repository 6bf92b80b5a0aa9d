"""What an agent sees of a store by a command: secrets masked, nothing held back, and, where it is
told so, only what a person wrote or approved. Whatever it asks (filters, phrases, previews, diffs)
is answered from that.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from workbench.core.agents.actors import stands_by
from workbench.core.agents.document import Document
from workbench.safety.scanning import mask
from workbench.services.context import Context
from workbench.services.safety.masking import masked
from workbench.services.safety.provenance import provenances_of
from workbench.services.safety.safety import Safety
from workbench.services.safety.secret_filter import strings
from workbench.services.safety.texts import Outward
from workbench.store.entry import Doc, DocChange, Transaction
from workbench.store.records import key_of, place_of

_SERVED = ("memories", "bullets", "sections", "documents", "episodes", "patterns")
"""The tables whose records a person writes or approves."""

_SAID = ("proposals", "votes", "reads", "queries", "episode_notes", "applications", "runs")
"""The tables of what else holds free text; nobody approves it."""


class AgentView(NamedTuple):
    """What of the present records is not shown, and which of the others no person wrote or
    approved.
    """

    hidden: frozenset[tuple[str, str]]
    unreviewed: frozenset[tuple[str, str]]

    def is_unreviewed(self, record: Outward) -> bool:
        """Tell whether nobody stands by a record that is shown; of a document on disk that is not
        known.
        """
        return place_of(record) in self.unreviewed or (
            isinstance(record, Document) and record.origin != ""
        )


def narrow(context: Context, safety: Safety, *, approved: bool = False) -> AgentView:
    """Show from now on only what the context's agent may see, or only what is `approved` of that.

    The store can only be read then.
    """
    library, only = (
        context.library,
        approved or context.settings.agents.only_approved(context.actor),
    )
    library.read()
    records: list[Outward] = [
        record for table in _SERVED for record in library.table_named(table).all()
    ]
    known, masks = provenances_of(context, records), lru_cache(maxsize=4096)(mask)
    unreviewed = frozenset(place for place, one in known.items() if not one.approved)
    is_trusted = library.standing.trusted
    hidden = frozenset(
        place_of(record) for record in records if not is_trusted or _is_held(safety, record)
    )
    view = AgentView(hidden | unreviewed if only else hidden, unreviewed - hidden)

    def see(table: str, doc: Doc) -> Doc | None:
        if (table, key_of(table, doc)) in view.hidden:
            return None
        if table in _SAID and (only or not is_trusted or _speaks(safety, doc)):
            return None
        return masked(doc, masks)

    def tell(entry: Transaction, there: Iterable[DocChange]) -> Transaction | None:
        changes = tuple(change for change in there if not _speaks(safety, change.fields))
        said = bool(changes) or not entry.changes
        shown = (
            said
            and is_trusted
            and not (only and not stands_by(entry.actor))
            and not _speaks(safety, entry.label)
        )
        return (
            entry._replace(changes=masked(changes, mask), label=mask(entry.label))
            if shown
            else None
        )

    library.narrow(see, tell)
    return view


def _is_held(safety: Safety, record: Outward) -> bool:
    return _speaks(safety, list(safety.texts(record))) and safety.override(record) is None


def _speaks(safety: Safety, value: object) -> bool:
    """Tell whether a text, or one within a value, gives orders or hides characters."""
    return any(
        finding.kind != "secret" for text in strings(value) for finding in safety.sorts(text)
    )
