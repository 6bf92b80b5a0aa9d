"""What a person wants in an exported file."""

from dataclasses import dataclass

from workbench.core.memory import Memory
from workbench.core.playbook import Dialect


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person wants in the file.

    `book` is a playbook's name (`None`: memories, where the format leaves the choice), `section` a part of a
    section's name, `min_helpful` the least number of helpful marks, `memories` the memories a filter found
    (`None`: no filter was given), `dialect` how ACE text is written (`None`: as it was read). `all_status` lets
    out to agents what nobody approved; `without` are (table, key) places of records that are left out.
    `within_budget` cuts a playbook where its token budget ends.
    """

    book: str | None = None
    section: str = ""
    min_helpful: int | None = None
    memories: tuple[Memory, ...] | None = None
    dialect: Dialect | None = None
    all_status: bool = False
    without: frozenset[tuple[str, str]] = frozenset()
    within_budget: bool = False
