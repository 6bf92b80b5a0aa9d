"""How a person wants a file to be imported."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How a file is to be read: as which format, and when its steps were; and what of it is to be taken.

    `theirs` takes the file's version of what differs, `as_new` lets memories count towards the next reflection. With
    `more` come the statements of a document as candidates, and the closed issues of a tracker. A `folder` is read note
    by note instead of being listed.
    """

    format: str | None = None
    epoch: datetime | None = None
    step_hours: float = 1.0
    theirs: bool = False
    as_new: bool = False
    more: bool = False
    folder: bool = False
