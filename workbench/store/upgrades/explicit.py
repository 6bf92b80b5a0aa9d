"""To version 1: a record says its version and its id, also where they are the default."""

from workbench.store.entry import Doc
from workbench.store.records import key_of


def upgrade(table: str, doc: Doc) -> Doc:
    """Write the id that went without saying."""
    name = doc.get("id") or key_of(table, doc)
    return {**doc, "id": name} if name is not None else doc
