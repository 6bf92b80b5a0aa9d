"""The texts of a record that a person reads; a hook asks for them too, so nothing heavy may be imported here."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.core.stream.memory import Memory

if TYPE_CHECKING:
    from workbench.core.playbook.book import Bullet


def shown_texts(record: "Memory | Bullet") -> Iterator[str]:
    """Yield the texts a person reads in a list and in the detail."""
    yield record.content
    if isinstance(record, Memory) and record.summary and record.summary not in record.content:
        yield record.summary
