"""Texts for an agent's prompt: what no person wrote or approved stands in a marked block that names its source.

A mark is made of the texts, so that the same store writes the same file, and is one that none of them holds, so that no
text can end its own block. A prompt has one for all its blocks; in a file that somebody keeps under version control
each item has its own, so that the others stay as they are when one changes.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b

from workbench.core.agents.provenance import UNKNOWN, Provenance
from workbench.core.files.format import Parsed
from workbench.core.playbook.book import Bullet, Section
from workbench.core.stream.memory import Memory
from workbench.services.agents.aliases import served_name
from workbench.services.context import Context
from workbench.services.safety.provenance import BEGIN, NOTE, begin_of, end_of, provenances_of
from workbench.services.safety.safety import Safety
from workbench.services.safety.texts import Outward, texts_of
from workbench.store.records import place_of


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the texts of a file come from, by (table, key)."""

    known: Mapping[tuple[str, str], Provenance]

    def of(self, record: Outward) -> Provenance:
        """Return the provenance of one record."""
        return self.known.get(place_of(record), UNKNOWN)

    def unreviewed(self, records: Iterable[Outward]) -> frozenset[tuple[str, str]]:
        """Return the places of those that no person wrote or approved."""
        return frozenset(place_of(record) for record in records if not self.of(record).approved)


def sources_of(context: Context, parsed: Parsed) -> Sources:
    """Return where the memories, bullets and sections of a file come from."""
    look = Safety(context).findings
    known = provenances_of(context, _records(parsed))
    return Sources({place: replace(one, name=served_name(one.name, look)) for place, one in known.items()})


def in_blocks(parsed: Parsed, sources: Sources, *, apart: bool = False) -> tuple[str, Parsed]:
    """Return the mark, and a file's records with each text that nobody stands by in a block of its own.

    With `apart` each block has another mark.
    """
    common = _mark(_records(parsed))

    def block(record: Outward, text: str) -> str:
        known, mark = sources.of(record), _mark([record]) if apart else common
        return text if known.approved or not text.strip() else f"{begin_of(mark, known)} {text} {end_of(mark)}"

    def bullet(one: Bullet) -> Bullet:
        text = block(one, one.content)
        return one if text == one.content else replace(one, content=text, raw=None)

    def section(one: Section) -> Section:
        title = block(one, one.title)
        return one if title == one.title else replace(one, title=title, raw=None)

    memories = tuple(replace(memory, content=block(memory, memory.content)) for memory in parsed.memories)
    books = tuple(
        replace(book, sections=tuple(map(section, book.sections)), bullets=tuple(map(bullet, book.bullets)))
        for book in parsed.playbooks
    )
    return common, replace(parsed, memories=memories, playbooks=books)


def grouped(text: str, mark: str) -> str:
    """Return a prompt, of one line for each text, with the blocks of one source that follow each other as one."""
    block = re.compile(rf"{re.escape(BEGIN)} {mark}\] (.*?); {re.escape(NOTE)}: (.*) {re.escape(end_of(mark))}\Z")
    lines: list[str] = []
    blank: list[str] = []
    inside = ""
    for line in text.split("\n"):
        if not line:
            blank.append(line)
            continue
        found = block.search(line)
        source = found[1] if found else ""
        if source != inside:
            lines += [end_of(mark)] if inside else []
            blank += [f"{BEGIN} {mark}] {source}; {NOTE}:"] if source else []
        lines += [*blank, line if found is None else line[: found.start()] + found[2]]
        blank, inside = [], source
    return "\n".join([*lines, *([end_of(mark)] if inside else []), *blank])


def _records(parsed: Parsed) -> list[Memory | Bullet | Section]:
    found: list[Memory | Bullet | Section] = list(parsed.memories)
    for book in parsed.playbooks:
        found += [*book.sections, *book.bullets]
    return found


def _mark(records: Iterable[Outward]) -> str:
    """Return a mark that stands in none of the texts."""
    texts = [text for record in records for text in (record.id, *texts_of(record))]
    digest = blake2b("\0".join(texts).encode("utf-8", "surrogatepass"), digest_size=6)
    while any(digest.hexdigest() in text for text in texts):
        digest.update(b".")
    return digest.hexdigest()
