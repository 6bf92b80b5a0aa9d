"""An override: a person lets one flagged record travel as it is."""

from datetime import datetime

from workbench.core.document import Record


class Override(Record, frozen=True):
    """Who let which record pass, when and why.

    `target` is the record's key in `table`. `texts` is the hash of its flagged texts: when one of them changes,
    or another one is flagged, the override holds no longer.
    """

    id: str
    table: str
    target: str
    texts: str
    actor: str
    at: datetime
    reason: str = ""
    version: int = 1


def override_id(table: str, target: str) -> str:
    """Name the one override that a record can have; a second one replaces it."""
    return f"{table}:{target}"
