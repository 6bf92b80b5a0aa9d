"""Safety of text: what is flagged, what may leave the store, and what a person lets pass."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import is_dataclass
from hashlib import blake2b
from itertools import chain
from typing import Any, NamedTuple

from workbench.core.agents.actors import require_person, stands_by
from workbench.core.agents.document import Document
from workbench.core.playbook.book import Bullet
from workbench.core.record import ABSENT, UnknownRecord, WorkbenchError
from workbench.core.safety import Finding, Override, override_id
from workbench.core.stream.memory import Memory
from workbench.core.text import MAX_KEPT, clean_for_store, named
from workbench.safety.scanning import mask, prepare, without
from workbench.services.context import Context
from workbench.services.files.threeway import DiffLine, masked_diff, masked_lines
from workbench.services.safety.masking import Value, masked, masked_name
from workbench.services.safety.secret_filter import IMPORT, WORDS, hash_of, strings
from workbench.services.safety.suspicion import flags_of, shown_texts
from workbench.services.safety.texts import Outward, body_of, texts_of
from workbench.services.safety.verdicts import REMEMBERED
from workbench.store.blobs import BlobProblem
from workbench.store.entry import DocChange
from workbench.store.history import needle_of
from workbench.store.library import Library
from workbench.store.records import IN_BLOBS, key_of, place_of

KEPT = "kept as typed"
"""The reason of a permission for what a person typed."""

_PASS = "let a text pass"
ALLOW = "`workbench allow ID --reason TEXT`"
"""How a person lets a flagged record pass."""


class Held(NamedTuple):
    """A flagged record: its id (`BOOK/ID` for parts of a playbook), what was found, and the hash of
    those texts.

    `why` says why it may pass all the same, and is empty when it may not. What was `typed` beside
    the record (a title) is not stored yet, so that nothing can be allowed for later.
    """

    id: str
    record: Outward
    findings: tuple[Finding, ...]
    texts: str
    why: str = ""
    typed: bool = False

    @property
    def name(self) -> str:
        """The id, or the name that stands for one that is a secret itself."""
        return masked_name(self.id, mask)

    @property
    def line(self) -> str:
        """The name and the reasons, without a word of the text itself."""
        reasons = " ".join(dict.fromkeys(finding.reason for finding in self.findings))
        return f"{self.name}: {reasons}" + (f" ({self.why})" if self.why else "")


class Outgoing(NamedTuple):
    """Records on their way out: those that may go, those that may not, and flagged ones that may
    (`warned`).

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
    """Something flagged was about to leave the store; `held` says what and why, `how` how to let it
    pass.
    """

    def __init__(self, held: Sequence[Held], how: str = "") -> None:
        first, more = held[0], len(held) - 1
        others = f" (and {more} more)" if more else ""
        super().__init__(
            f"{first.name} is held back{others}: {first.findings[0].reason}",
            f"Nothing was written. Change the text, or allow it: {how or ALLOW}.",
        )
        self.held = tuple(held)


class Safety:
    """What a store's texts hold that should not travel."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._library = context.library
        self.findings = context.verdicts.find
        """Returns every secret, suspicious instruction and hidden character in a text."""
        self.sorts = context.verdicts.sorts
        """Returns the first of each kind in a text, which is quicker."""
        self._shown: dict[int, tuple[Any, Any]] = {}

    def prepare(self) -> None:
        """Make every rule ready, on any thread: no answer then waits for the rules that it is the
        first to need.
        """
        prepare()

    def shown(self, record: Value) -> Value:
        """Return a record or a value as a person may see it: secrets masked, very long texts cut.

        Of a record, which never changes, this is made once.
        """
        if not (is_dataclass(record) or hasattr(record, "_fields")):
            return masked(record, self._fitting)
        held = self._shown.get(id(record))
        if held is None or held[0] is not record:
            if len(self._shown) >= REMEMBERED:
                self._shown.clear()
            held = self._shown[id(record)] = record, masked(record, self._fitting)
        return held[1]

    def _fitting(self, text: str) -> str:
        shown = self.masked(text)
        return shown if len(shown) <= MAX_KEPT else f"{shown[:MAX_KEPT]}…"

    def masked(self, text: str, known: str = "") -> str:
        """Return a text with its secrets replaced by markers: what a language model or a list may
        see.

        Those that are `known` to who gets it stay.
        """
        if not known:
            return self._context.verdicts.masked(text)
        clean = clean_for_store(text)
        found = [finding for finding in self.findings(clean) if finding.kind == "secret"]
        new = [finding for finding in found if clean[finding.start : finding.end] not in known]
        if not new:
            return clean
        return (
            self._context.verdicts.masked(clean) if len(new) == len(found) else without(clean, new)
        )

    def masked_lines(self, *texts: str) -> dict[str, str]:
        """Return the lines of files that hold a secret, or a part of one, each with what may be
        shown instead.

        It takes some 50 ms for a megabyte, on any thread.
        """
        return masked_lines(texts, mask)

    def masked_diff(self, lines: Sequence[DiffLine], texts: Iterable[str]) -> tuple[DiffLine, ...]:
        """Return lines of a diff between `texts` without their secrets."""
        return masked_diff(lines, self.masked_lines(*texts))

    def held_from_agents(self, memory: Memory) -> bool:
        """Tell whether a memory's text gives orders or hides characters, and no person allowed it
        as it is.
        """
        texts = (*shown_texts(memory), memory.section, memory.category, *memory.tags)
        kinds = {finding.kind for text in texts if text for finding in self.sorts(text)}
        return bool(kinds & {"injection", "hidden"}) and self.override(memory) is None

    def speaking(self, records: Iterable[Outward]) -> tuple[Held, ...]:
        """Return the records that give orders or hide characters, and that no person allowed as
        they are.
        """
        return tuple(
            h for h in self.unpermitted(records) if any(f.kind != "secret" for f in h.findings)
        )

    def check_typed(self, record: Memory, texts: Sequence[str]) -> Held | None:
        """Return the orders and hidden characters in texts that are to be written beside a record;
        mostly `None`.
        """
        findings = tuple(f for text in texts for f in self.findings(text) if f.kind != "secret")
        return Held(record.id, record, findings, _hash(texts), typed=True) if findings else None

    def flags(self, record: Memory | Bullet) -> tuple[str, ...]:
        """Return the flags of a record: "secret", "instructions", "hidden characters"."""
        return flags_of(record, self.sorts)

    def check_outgoing(self, records: Iterable[Outward]) -> Outgoing:
        """Sort records by whether they may leave the store.

        A flagged record may when a person allowed these very texts, or when all of them came in by
        import and are unchanged, so that an export gives back what was read.
        """
        everything = tuple(records)
        flagged = [held for record in everything if (held := self._held(record)) is not None]
        asked = {place_of(held.record) for held in flagged if self._permission(held) is None}
        known = imported_texts(self._library, asked)
        warned, refused = [], []
        for held in flagged:
            place = place_of(held.record)
            if place not in asked:
                warned.append(held._replace(why="allowed by you"))
            elif self._flagged_texts(held.record) <= known.get(place, frozenset()):
                warned.append(held._replace(why="imported, unchanged"))
            else:
                refused.append(held)
        kept = {place_of(held.record) for held in refused}
        allowed = tuple(record for record in everything if place_of(record) not in kept)
        return Outgoing(allowed, tuple(refused), tuple(warned))

    def refusals(self, records: Iterable[Outward]) -> tuple[Held, ...]:
        """Return the records that may not leave the store."""
        return self.check_outgoing(records).refused

    def unpermitted(self, records: Iterable[Outward]) -> tuple[Held, ...]:
        """Return the flagged records that no person let pass, also those that came in by import and
        are unchanged.
        """
        flagged = (held for record in records if (held := self._held(record)) is not None)
        return tuple(held for held in flagged if self._permission(held) is None)

    def require_outgoing(self, records: Iterable[Outward]) -> tuple[str, ...]:
        """Return the warnings about records that may leave; raises `FlaggedText` when one may not."""
        outgoing = self.check_outgoing(records)
        if outgoing.refused:
            raise FlaggedText(outgoing.refused)
        return outgoing.warnings

    def flagged(self) -> tuple[Held, ...]:
        """Return every flagged record of the store, whether it may pass or not."""
        library = self._library
        others = (
            library.table(Document),
            library.table_named("patterns"),
            library.table_named("episodes"),
        )
        tables = (library.memories, library.bullets, library.sections, library.books, *others)
        outgoing = self.check_outgoing(record for table in tables for record in table.all())
        return (*outgoing.refused, *outgoing.warned)

    def allow(self, id: str, reason: str = "") -> Held:
        """Let a flagged record pass as it is now.

        Raises `UnknownRecord`, and `WorkbenchError` if it is not flagged or an agent asks.
        """
        require_person(self._context.actor, _PASS)
        held = self._held(self.record(id))
        if held is None:
            raise WorkbenchError(
                f"{id} is not flagged.", "Nothing was changed; it may be exported as it is."
            )
        table, key = place_of(held.record)
        context = self._context
        with context.transaction(f"allow {held.id}") as tx:
            at, why = context.now(), clean_for_store(reason).strip()
            tx.put(
                Override(override_id(table, key), table, key, held.texts, context.actor, at, why)
            )
        return held

    def allow_all(self, ids: Sequence[str], reason: str) -> None:
        """Let flagged records pass as one action, or none of them; raises as `allow` does."""
        what = named(ids, "records")
        with self._context.transaction(f"allow {what}"):
            for id in ids:
                self.allow(id, reason)

    @contextmanager
    def keeping(
        self, label: str, typed: Iterable[str], ids: Callable[[], Iterable[str]] = lambda: ()
    ) -> Iterator[None]:
        """Let the secrets in `typed` texts stay in what is written in this block; the history says
        so.

        `label` says what is done, `ids` returns the records that the texts were typed into, at the
        end. Without a secret it is as if there were no block.
        """
        texts = tuple(typed)
        if not any(f.kind == "secret" for text in texts for f in self.sorts(text)):
            yield
            return
        with self._context.transaction(f"{label} and keep what was typed"):
            yield
            self.keep_typed(*texts)
            for id in ids():
                self.keep(id)

    def keep_typed(self, *texts: str) -> None:
        """Let the secrets stay that a person typed into texts, wherever the transaction that is
        open writes them.

        Raises `WorkbenchError` for an agent.
        """
        secrets = {secret for text in texts for secret in self._secrets(text)}
        if not secrets:
            return
        context, at = self._context, self._context.now()
        with context.transaction("keep what was typed", by_person=_PASS) as tx:
            for name in sorted(map(hash_of, secrets)):
                id = override_id(WORDS, name)
                tx.put(Override(id, WORDS, name, name, context.actor, at, KEPT))

    def keep(self, id: str) -> None:
        """Let a record keep the secrets that a person typed into it in the same transaction, if it
        holds any.

        It may leave the store with them, unless something else is flagged in it, which nobody spoke
        of.
        """
        held = self._held(self.record(id))
        if held is None:
            return
        self.keep_typed(*texts_of(held.record))
        if all(finding.kind == "secret" for finding in held.findings):
            self.allow(id, KEPT)

    def _secrets(self, text: str) -> list[str]:
        return [text[f.start : f.end] for f in self.findings(text) if f.kind == "secret"]

    def is_kept(self, secret: str) -> bool:
        """Tell whether a person kept a secret as typed."""
        found = self._library.overrides.find(override_id(WORDS, hash_of(secret)))
        return found is not None and stands_by(found.actor)

    def withdraw(self, id: str) -> None:
        """Take an override back; raises `UnknownRecord` when there is none, `WorkbenchError` for an
        agent.
        """
        require_person(self._context.actor, "take a person's word back")
        table, key = place_of(self.record(id))
        found = self._library.overrides.find(override_id(table, key))
        if found is None:
            raise UnknownRecord(f"{id} was not allowed.", "Nothing was changed.")
        with self._context.transaction(f"withdraw the permission of {id}") as tx:
            tx.delete(found)

    def override(self, record: Outward) -> Override | None:
        """Return the override that holds for a record as it is now."""
        # Hardly any record has one, and hashing its texts takes a while.
        found = self._library.overrides.find(override_id(*place_of(record)))
        held = None if found is None else self._held(record)
        return None if held is None else self._permission(held)

    def record(self, id: str) -> Outward:
        """Return a record that may leave the store by its id; raises `UnknownRecord`."""
        from workbench.services.stream.votable import find_votable

        try:
            return find_votable(self._context, id)
        except UnknownRecord:
            library = self._library
            others = (library.table_named("patterns"), library.table_named("episodes"))
            tables = (library.sections, library.books, library.table(Document), *others)
            found: Outward | None = next(
                (one for table in tables if (one := table.find(id)) is not None), None
            )
            if found is None:
                raise
            return found

    def texts(self, record: Outward) -> Iterator[str]:
        """Yield everything that a record says, with what it keeps beside the store, as far as that
        can be read.
        """
        yield from texts_of(record)
        blob = IN_BLOBS.get(place_of(record)[0])
        if blob is not None:
            with suppress(BlobProblem):
                yield from strings(body_of(self._library, str(getattr(record, blob.field))))

    def _held(self, record: Outward) -> Held | None:
        found = {text: self.findings(text) for text in self.texts(record)}
        findings = tuple(chain.from_iterable(found.values()))
        if not findings:
            return None
        texts = _hash(text for text, some in found.items() if some)
        return Held(place_of(record)[1], record, findings, texts)

    def _permission(self, held: Held) -> Override | None:
        """Return a person's word for what is flagged in a record as it is now."""
        found = self._library.overrides.find(override_id(*place_of(held.record)))
        holds = found is not None and found.texts == held.texts and stands_by(found.actor)
        return found if holds else None

    def _flagged_texts(self, record: Outward) -> frozenset[str]:
        return frozenset(text for text in self.texts(record) if self.findings(text))


def _hash(texts: Iterable[str]) -> str:
    """Return a hash of texts whose order and number do not matter."""
    digest = blake2b(digest_size=16)
    for text in sorted(set(texts)):
        digest.update(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest())
    return digest.hexdigest()


# Which texts came in by import: read from the journal, the only witness that nobody can have edited
# since.


def imported_texts(
    library: Library, places: Collection[tuple[str, str]]
) -> dict[tuple[str, str], frozenset[str]]:
    """Return every text that the records at `places` had when an import made them; others are left
    out.

    One pass back over the journal, whatever the number of places. Purged texts are not there any
    more.
    """
    wanted = set(places)
    found: dict[tuple[str, str], frozenset[str]] = {}
    # For one record only the lines that name it are read; for many, all.
    only = needle_of(next(iter(wanted))[1]) if len(wanted) == 1 else None
    for entry in library.changes_back(only) if wanted else ():
        if not entry.group.startswith(IMPORT) or entry.kind not in ("edit", "redo"):
            continue
        for change in entry.changes:
            place = _made(change)
            if place in wanted:
                texts = (
                    text
                    for _, after in change.fields.values()
                    if after is not ABSENT
                    for text in strings(after)
                )
                found[place] = found.get(place, frozenset()).union(texts)
        if len(found) == len(wanted):
            break
    return found


def _made(change: DocChange) -> tuple[str, str] | None:
    """Return the record that a change made, or `None` when it made none or was purged."""
    if change.op != "insert" or change.redacted:
        return None
    doc = {name: after for name, (_, after) in change.fields.items() if after is not ABSENT}
    key = key_of(change.table, doc)
    return None if key is None else (change.table, key)
