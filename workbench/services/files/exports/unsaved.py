"""Which records a file holds, for the check before it is written."""

from collections.abc import Iterator

from workbench.core.files.format import Parsed
from workbench.formats.ace import ace
from workbench.services.safety.texts import Outward


def parts_of(parsed: Parsed) -> Iterator[Outward]:
    """Yield the records that a file made of `parsed` holds; ACE text leaves out what is deprecated."""
    yield from parsed.memories
    for playbook in parsed.playbooks:
        yield playbook.book
        yield from playbook.sections
        yield from (b for b in playbook.bullets if parsed.format != ace.NAME or b.state != "deprecated")
