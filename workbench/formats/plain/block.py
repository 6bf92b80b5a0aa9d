"""Records inside the managed block of a Markdown file that belongs to somebody else, such as CLAUDE.md or AGENTS.md."""

import re
from collections.abc import Iterator

from workbench.core.files.format import Parsed
from workbench.formats import managed_block

_OURS = re.compile(r"- \[[^\]\s]{2,200}\] ")
"""How an exported item begins: with its id. Items of other kinds (promoted ones, a colleague's) stay."""


def write_block(parsed: Parsed, original: str | None = None) -> str:
    """Return the file with one item for each record in its block, `[id] text`; the rest of it stays as it is.

    Items that an earlier export wrote are replaced, other items of the block stay above them. Raises
    `BrokenBlock` when the markers in the file make no single block.
    """
    text = original or ""
    block = managed_block.find(text)
    kept = [item for item in block.items if not _OURS.match(item)] if block else []
    return managed_block.written(text, [*kept, *_items(parsed)], managed_block.lead_of(text))


def _items(parsed: Parsed) -> Iterator[str]:
    for memory in parsed.memories:
        yield managed_block.item(f"[{_name(memory.id)}] {memory.content}")
    for playbook in parsed.playbooks:
        for bullet in playbook.bullets:
            if bullet.state != "deprecated":
                yield managed_block.item(f"[{_name(bullet.id)}] {bullet.content}")


def _name(id: str) -> str:
    return re.sub(r"[\]\s]", "_", id)
