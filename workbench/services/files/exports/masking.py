"""What an export makes of imported records that hold a secret: it stays in its own file and goes into no other."""

from collections.abc import Callable
from dataclasses import replace

from workbench.core.files.format import ExportFormat, Parsed
from workbench.core.playbook.book import Playbook
from workbench.safety.scanning import mask
from workbench.services.context import Context
from workbench.services.safety.masking import masked
from workbench.services.safety.safety import Safety
from workbench.services.safety.texts import Outward, texts_of
from workbench.store.records import place_of


def masked_parsed(
    context: Context, kind: ExportFormat, parsed: Parsed, original: str | None, *, everything: bool = False
) -> tuple[Parsed, int]:
    """Return the records of a file with imported secrets masked, and how many records that changed.

    What the file that is replaced (`original`) holds already may stay in it, and so may what a person allowed.
    A format that loses nothing keeps them, unless `everything` is to be masked.
    """
    if kind.loses_nothing and not everything:
        return parsed, 0
    safety = Safety(context)
    records = (*parsed.memories, *(part for book in parsed.playbooks for part in _parts(book)))
    held = safety.check_outgoing(record for record in records if _has_secret(safety, record))
    wanted = (*held.warned, *held.refused) if everything else held.warned
    places = {place_of(one.record) for one in wanted if safety.override(one.record) is None}
    places |= {place_of(record) for record in records if _is_named_so(safety, record, original)}

    def unknown(text: str) -> str:
        return safety.masked(text, original or "")

    count = 0

    def shown(record: Outward) -> Outward:
        nonlocal count
        if place_of(record) not in places:
            return record
        clean = masked(record, unknown)
        count += clean != record
        return clean

    books = tuple(_with(book, shown) for book in parsed.playbooks)
    memories = tuple(map(shown, parsed.memories))
    return replace(parsed, memories=memories, playbooks=books) if count else parsed, count  # type: ignore[arg-type]


def masked_origin(kind: ExportFormat, text: str | None, *, everything: bool = False) -> str | None:
    """Return the text that a copy is woven into without its secrets: what stands beside the records goes as well."""
    if text is None or (kind.loses_nothing and not everything):
        return text
    return mask(text)


def _is_named_so(safety: Safety, record: Outward, original: str | None) -> bool:
    """Tell whether an id is a secret, which the file that is replaced does not hold."""
    found = (f for f in safety.findings(record.id) if f.kind == "secret")
    return any(record.id[f.start : f.end] not in (original or "") for f in found)


def _parts(book: Playbook) -> tuple[Outward, ...]:
    return (book.book, *book.sections, *book.bullets)


def _with(book: Playbook, shown: Callable[[Outward], Outward]) -> Playbook:
    sections, bullets = tuple(map(shown, book.sections)), tuple(map(shown, book.bullets))
    return Playbook(shown(book.book), sections, bullets)  # type: ignore[arg-type]


def _has_secret(safety: Safety, record: Outward) -> bool:
    return any(finding.kind == "secret" for text in texts_of(record) for finding in safety.sorts(text))
