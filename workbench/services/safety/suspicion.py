"""Why a text should not be shown, or sent, before a person looked."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from workbench.core.safety import Finding, FindingKind
from workbench.core.stream.memory import Memory
from workbench.safety.scanning import scan

if TYPE_CHECKING:
    from workbench.core.playbook.book import Bullet


# The texts of a record that a person reads; a hook asks for them too, so nothing heavy may be
# imported here.


def shown_texts(record: "Memory | Bullet") -> Iterator[str]:
    """Yield the texts a person reads in a list and in the detail."""
    yield record.content
    if isinstance(record, Memory) and record.summary and record.summary not in record.content:
        yield record.summary


# The flags of a record's text, in the words that lists and the review queue show.


SECRET = "secret"
"""The flag of a text that holds one."""

FLAGS: Mapping[FindingKind, str] = {
    "secret": SECRET,
    "injection": "instructions",
    "hidden": "hidden characters",
}
"""What each kind of finding is called on the screens."""


def findings_of(
    record: "Memory | Bullet", look: Callable[[str], tuple[Finding, ...]] = scan
) -> tuple[Finding, ...]:
    """Return what the texts of a record hold that a person reads; places are within each text."""
    return tuple(finding for text in shown_texts(record) for finding in look(text))


def flags_of(
    record: "Memory | Bullet", look: Callable[[str], tuple[Finding, ...]] = scan
) -> tuple[str, ...]:
    """Return the flags of a record, in the order of `FLAGS`; clean text is looked at once, from its
    beginning.
    """
    kinds = {finding.kind for finding in findings_of(record, look)}
    return tuple(word for kind, word in FLAGS.items() if kind in kinds)


def findings_in(texts: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, Finding]]:
    """Yield the name of a text, the text, and what it holds, for each thing that it holds."""
    for name, text in texts:
        yield from ((name, text, finding) for finding in scan(text))


def suspicions(
    record: "Memory | Bullet", look: Callable[[str], tuple[Finding, ...]] = scan
) -> tuple[str, ...]:
    """Return the reasons why a record is flagged as sentences, each once."""
    return tuple(dict.fromkeys(finding.reason for finding in findings_of(record, look)))
