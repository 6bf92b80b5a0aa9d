"""What is known of a store's texts in this process: what they hold that should not travel, and
where they come from.
"""

import threading
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

from workbench.core.safety import Finding
from workbench.core.text import clean_for_store
from workbench.safety import scanning
from workbench.store.library import Library, Touched

if TYPE_CHECKING:
    from workbench.core.agents.read import Provenance


# Where texts come from, as far as it was found out already: the journal is not read again for what
# did not change.


Place = tuple[str, str]
"""Table and key of a record."""


class Origins:
    """What is known of one store. What a transaction touches is forgotten, whoever made it. Any
    thread may ask.
    """

    def __init__(self) -> None:
        self._known: dict[Place, Provenance] = {}
        self._lock = threading.Lock()
        self._touches = 0
        self._library: Library | None = None

    def known(
        self, library: Library, table: str, keys: Collection[str]
    ) -> "tuple[dict[str, Provenance], int]":
        """Return what is known of some records, and a moment to give to `learn` with what is found
        out of others.
        """
        with self._lock:
            if self._library is not library:
                self._library, self._known = library, {}
                library.listen(self._forget)
            return {
                key: self._known[table, key] for key in keys if (table, key) in self._known
            }, self._touches

    def learn(self, table: str, found: "Mapping[str, Provenance]", moment: int) -> None:
        """Keep what was found out, unless something was changed since that moment."""
        with self._lock:
            if moment == self._touches:
                self._known.update(((table, key), one) for key, one in found.items())

    def _forget(self, touched: Touched) -> None:
        if touched.kind == "access":
            return  # a reading changes no text, and approves of none
        with self._lock:
            self._touches += 1
            for place in touched.keys:
                self._known.pop(place, None)


REMEMBERED = 32_768
"""Texts whose verdicts are kept."""


class Verdict(NamedTuple):
    """What was found in a text, one finding of each sort, and the text without its secrets."""

    findings: tuple[Finding, ...]
    sorts: tuple[Finding, ...]
    masked: str


class Verdicts:
    """What texts hold that should not travel; each is looked at once. Any thread may ask."""

    def __init__(self) -> None:
        self._known: dict[str, Verdict] = {}

    def find(self, text: str) -> tuple[Finding, ...]:
        return self._verdict(text).findings

    def sorts(self, text: str) -> tuple[Finding, ...]:
        """Return the first finding of each kind, rule and reason in a text, which may hold ten
        thousands of them.
        """
        return self._verdict(text).sorts

    def masked(self, text: str) -> str:
        """Return a text as it can be written, without its secrets."""
        return self._verdict(text).masked

    def _verdict(self, text: str) -> Verdict:
        known = self._known.get(text)
        if known is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            known = self._known[text] = _verdict(text)
        return known


def _verdict(text: str) -> Verdict:
    found, first = scanning.scan(text), dict[tuple[str, str, str], Finding]()
    for finding in found:
        first.setdefault((finding.kind, finding.rule, finding.reason), finding)
    clean = clean_for_store(text)
    is_masked = clean is not text or any(finding.kind == "secret" for finding in first.values())
    return Verdict(found, tuple(first.values()), scanning.mask(clean) if is_masked else text)
