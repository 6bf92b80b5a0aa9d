"""Safety of text: what is flagged, what may leave the store, and what a person lets pass."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

from workbench.bench.context import Context
from workbench.bench.flagging import FLAGS, findings_of
from workbench.bench.origin import imported_texts
from workbench.bench.texts import Outward, place_of, texts_of
from workbench.core.errors import UnknownRecord, WorkbenchError
from workbench.core.memory import Memory
from workbench.core.override import Override, override_id
from workbench.core.playbook import Bullet
from workbench.core.text import clean_for_store
from workbench.safety import scanning
from workbench.safety.finding import Finding

ALLOW = "`workbench allow ID --reason TEXT`"
"""How a person lets a flagged record pass."""

REMEMBERED = 32_768
"""Texts whose findings are kept."""


@dataclass(frozen=True, slots=True)
class Held:
    """A flagged record: its id (`BOOK/ID` for parts of a playbook), what was found, and the hash of those texts.

    `why` says why it may pass all the same, and is empty when it may not.
    """

    id: str
    record: Outward
    findings: tuple[Finding, ...]
    texts: str
    why: str = ""

    @property
    def line(self) -> str:
        """The id and the reasons, without a word of the text itself."""
        reasons = " ".join(dict.fromkeys(finding.reason for finding in self.findings))
        return f"{self.id}: {reasons}" + (f" ({self.why})" if self.why else "")


@dataclass(frozen=True, slots=True)
class Outgoing:
    """Records on their way out: those that may go, those that may not, and flagged ones that may (`warned`).

    What is `warned` is among the `allowed`.
    """

    allowed: tuple[Outward, ...]
    refused: tuple[Held, ...]
    warned: tuple[Held, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """A sentence for each flagged record that goes out all the same."""
        return tuple(held.line for held in self.warned)


class FlaggedText(WorkbenchError):
    """Something flagged was about to leave the store; `held` says what and why, `how` how to let it pass."""

    def __init__(self, held: Sequence[Held], how: str = "") -> None:
        first, more = held[0], len(held) - 1
        others = f" (and {more} more)" if more else ""
        super().__init__(
            f"{first.id} is held back{others}: {first.findings[0].reason}",
            f"Nothing was written. Change the text, or let it pass: {how or ALLOW}.",
        )
        self.held = tuple(held)


class Safety:
    """What a store's texts hold that should not travel."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._library = context.library
        self._scan = lru_cache(maxsize=REMEMBERED)(scanning.scan)

    def findings(self, text: str) -> tuple[Finding, ...]:
        """Return what a text holds; asked again, the answer is remembered."""
        return self._scan(text)

    def masked(self, text: str) -> str:
        """Return a text with its secrets replaced by markers: what a language model or a list may see."""
        clean = clean_for_store(text)
        return scanning.mask(clean) if any(f.kind == "secret" for f in self._scan(clean)) else clean

    def flags(self, memory: Memory) -> tuple[str, ...]:
        """Return the flags of a memory: "secret", "instructions", "hidden characters"."""
        return self._flags(memory)

    def flags_bullet(self, bullet: Bullet) -> tuple[str, ...]:
        """Return the flags of a bullet, in the words of `flags`."""
        return self._flags(bullet)

    def held_from_agents(self, memory: Memory) -> bool:
        """Tell whether a memory's text gives orders or hides characters, and no person allowed it as it is."""
        kinds = {finding.kind for finding in findings_of(memory, self._scan)}
        return bool(kinds & {"injection", "hidden"}) and self.override(memory) is None

    def _flags(self, record: Memory | Bullet) -> tuple[str, ...]:
        kinds = {finding.kind for finding in findings_of(record, self._scan)}
        return tuple(word for kind, word in FLAGS.items() if kind in kinds)

    def check_outgoing(self, records: Iterable[Outward]) -> Outgoing:
        """Sort records by whether they may leave the store.

        A flagged record may when a person allowed these very texts, or when all of them came in by import and
        are unchanged, so that an export gives back what was read.
        """
        everything = tuple(records)
        flagged = [held for record in everything if (held := self._held(record)) is not None]
        asked = {place_of(held.record) for held in flagged if not self._allowed(held)}
        known = imported_texts(self._library.journal, asked)
        warned, refused = [], []
        for held in flagged:
            place = place_of(held.record)
            if place not in asked:
                warned.append(_with(held, "allowed by you"))
            elif self._flagged_texts(held.record) <= known.get(place, frozenset()):
                warned.append(_with(held, "imported, unchanged"))
            else:
                refused.append(held)
        kept = {place_of(held.record) for held in refused}
        allowed = tuple(record for record in everything if place_of(record) not in kept)
        return Outgoing(allowed, tuple(refused), tuple(warned))

    def refusals(self, records: Iterable[Outward]) -> tuple[Held, ...]:
        """Return the records that may not leave the store."""
        return self.check_outgoing(records).refused

    def require_outgoing(self, records: Iterable[Outward]) -> tuple[str, ...]:
        """Return the warnings about records that may leave; raises `FlaggedText` when one may not."""
        outgoing = self.check_outgoing(records)
        if outgoing.refused:
            raise FlaggedText(outgoing.refused)
        return outgoing.warnings

    def flagged(self) -> tuple[Held, ...]:
        """Return every flagged record of the store, whether it may pass or not."""
        library = self._library
        tables = (library.memories, library.bullets, library.sections, library.books)
        outgoing = self.check_outgoing(record for table in tables for record in table.all())
        return (*outgoing.refused, *outgoing.warned)

    def allow(self, id: str, reason: str = "") -> Held:
        """Let a flagged record pass as it is now; raises `UnknownRecord`, or `WorkbenchError` if it is not flagged."""
        held = self._held(self.record(id))
        if held is None:
            raise WorkbenchError(f"{id} is not flagged.", "Nothing was changed; it may be exported as it is.")
        table, key = place_of(held.record)
        context = self._context
        with self._library.transaction(context.actor, f"allow {held.id}") as tx:
            at, why = context.now(), clean_for_store(reason).strip()
            tx.put(Override(override_id(table, key), table, key, held.texts, context.actor, at, why))
        return held

    def withdraw(self, id: str) -> None:
        """Take an override back; raises `UnknownRecord` when there is none."""
        table, key = place_of(self.record(id))
        found = self._library.overrides.find(override_id(table, key))
        if found is None:
            raise UnknownRecord(f"{id} was not allowed to pass.", "Nothing was changed.")
        with self._library.transaction(self._context.actor, f"withdraw the permission of {id}") as tx:
            tx.delete(found)

    def override(self, record: Outward) -> Override | None:
        """Return the override that holds for a record as it is now."""
        held = self._held(record)
        found = self._library.overrides.find(override_id(*place_of(record)))
        return found if held is not None and found is not None and found.texts == held.texts else None

    def record(self, id: str) -> Outward:
        """Return a memory, bullet, section or book by its id; raises `UnknownRecord`."""
        from workbench.bench.votes import find_votable

        try:
            return find_votable(self._context, id)
        except UnknownRecord:
            found = self._library.sections.find(id) or self._library.books.find(id)
            if found is None:
                raise
            return found

    def _held(self, record: Outward) -> Held | None:
        texts = list(texts_of(record))
        findings = tuple(finding for text in texts for finding in self._scan(text))
        if not findings:
            return None
        return Held(place_of(record)[1], record, findings, _hash(text for text in texts if self._scan(text)))

    def _allowed(self, held: Held) -> bool:
        found = self._library.overrides.find(override_id(*place_of(held.record)))
        return found is not None and found.texts == held.texts

    def _flagged_texts(self, record: Outward) -> frozenset[str]:
        return frozenset(text for text in texts_of(record) if self._scan(text))


def _with(held: Held, why: str) -> Held:
    return Held(held.id, held.record, held.findings, held.texts, why)


def _hash(texts: Iterable[str]) -> str:
    """Return a hash of texts whose order and number do not matter."""
    digest = blake2b(digest_size=16)
    for text in sorted(set(texts)):
        digest.update(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest())
    return digest.hexdigest()
