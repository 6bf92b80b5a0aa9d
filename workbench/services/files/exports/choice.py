"""What a person wants in an exported file."""

from dataclasses import dataclass

from workbench.core.playbook.book import Dialect
from workbench.core.stream.memory import Memory


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person wants in the file.

    `book` is a playbook's name (`None`: memories, where the format leaves the choice), `section` a part of a
    section's name, `min_helpful` the least number of helpful marks, `memories` the memories a filter found
    (`None`: no filter was given), `dialect` how ACE text is written (`None`: as it was read). `all_status` lets
    out to agents what nobody approved; `without` are (table, key) places of records that are left out.
    `within_budget` leaves out of a playbook what does not fit its token budget. `mask` takes secrets out of
    every format; otherwise learning entries, which lose nothing, keep them.
    """

    book: str | None = None
    section: str = ""
    min_helpful: int | None = None
    memories: tuple[Memory, ...] | None = None
    dialect: Dialect | None = None
    all_status: bool = False
    without: frozenset[tuple[str, str]] = frozenset()
    within_budget: bool = False
    mask: bool = False
