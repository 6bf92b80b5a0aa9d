"""Secrets wherever a store keeps them: in any field of any record, in its history, in the files
beside it.
"""

import secrets as chance
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from workbench.config import paths
from workbench.core.agents.actors import require_person
from workbench.core.record import ABSENT, WorkbenchError
from workbench.core.safety import Finding
from workbench.safety.secrets import marker, without
from workbench.services import caches
from workbench.services.context import Context
from workbench.services.safety.safety import Held, Safety
from workbench.services.safety.secret_filter import KEPT, TYPED, strings
from workbench.services.safety.texts import rewritten, texts_beside
from workbench.store.entry import Doc, Transaction
from workbench.store.folder import files_below
from workbench.store.maintenance.purge import WHOLE, Masker, Purged, mask, unfinished

LARGEST = 64 << 20
"""Bytes of a file beside the store that are looked at."""

_NAMES = KEPT | TYPED


@dataclass(frozen=True, slots=True)
class Leak:
    """A secret where no record's text is: the place in words, and what was found; the secret itself
    is never shown.
    """

    place: str
    finding: Finding
    secret: str = field(repr=False)

    @property
    def line(self) -> str:
        """The place and the reason."""
        return f"{self.place}: {self.finding.reason}"


class Masked(NamedTuple):
    """What was masked: how many secrets, where the store was rewritten, and the copies that may
    still hold them.
    """

    secrets: int
    done: Purged
    elsewhere: tuple[str, ...]


class NothingToMask(WorkbenchError):
    """A store holds no secret that is not allowed to stay."""


class Leaks:
    """Finds the secrets of a store beyond its records' texts, and takes all of them out of what was
    ever written.
    """

    def __init__(self, context: Context, safety: Safety) -> None:
        self._context = context
        self._library = context.library
        self._safety = safety

    def find(
        self,
        flagged: Iterable[Held],
        state: Path | None = None,
        without: frozenset[Path] = frozenset(),
    ) -> tuple[Leak, ...]:
        """Return the secrets that none of the `flagged` records' texts hold, each where it is met
        first.

        Looked through are every field of every record and what it keeps beside the store, then the
        history from its end, then the files of the store's folder and of the folder `state`, where
        drafts are, `without` some.
        """
        looked = {text for held in flagged for text in self._safety.texts(held.record)}
        seen = {secret for text in looked for _, secret in self._found(text)}
        found: list[Leak] = []
        beside = texts_beside(self._library)
        for place, text in (
            *self._fields(),
            *beside,
            *self._history(),
            *self._files(state, without),
        ):
            if text in looked:
                continue
            looked.add(text)
            for finding, secret in self._found(text):
                if secret not in seen and not self._safety.is_kept(secret):
                    seen.add(secret)
                    found.append(Leak(place, finding, secret))
        return tuple(found)

    def mask(self, flagged: Iterable[Held], state: Path | None = None) -> Masked:
        """Take every secret out of the store and its history, but for texts that a person lets
        pass.

        There is no undo. Raises `NothingToMask` when there is none and nothing was broken off,
        `StoreProblem` when a file cannot be rewritten; it can be run again then. Raises
        `WorkbenchError` for an agent.
        """
        require_person(self._context.actor, "rewrite the history")
        flagged = tuple(flagged)
        kept = {
            s
            for held in flagged
            if self._safety.override(held.record) is not None
            for s in self._secrets_of(held)
        }
        every = {leak.secret: leak.finding.rule for leak in self.find((), state)}
        rules = {secret: rule for secret, rule in every.items() if secret not in kept}
        if not rules and not any(one.masks for one in self._library.maintain(unfinished)):
            raise NothingToMask(
                "No secret was found that is not allowed to stay.", "Nothing was changed."
            )
        clean, blobs = self._cleaner(rules, kept), self._library.blobs
        with self._library.turn():
            replaced = rewritten(self._library, clean)
        masker = Masker(rules, lambda text: replaced.get(text) or clean(text))
        done = self._library.maintain(
            mask,
            masker,
            self._context.actor,
            lambda: (
                *caches.remove(self._context.caches, self._library.folder),
                *blobs.retire(replaced),
            ),
        )
        return Masked(len(rules), done, tuple(self._elsewhere(rules, state)))

    def _cleaner(self, rules: Mapping[str, str], kept: set[str]) -> Callable[[str], str]:
        """Return what makes of a stored text the one without its secrets.

        Those of 16 characters and more are taken out wherever they stand, also where nothing tells
        what they are. In a name each becomes a word of its own, so that two records never get the
        same name.
        """
        long = sorted((secret for secret in rules if len(secret) >= WHOLE), key=len, reverse=True)
        key = chance.token_bytes(16)
        words = {
            s: f"masked-{blake2b(s.encode(), key=key, digest_size=5).hexdigest()}" for s in long
        }
        named = frozenset(self._named())

        def clean(text: str) -> str:
            for secret in long:
                if secret in text:
                    text = text.replace(
                        secret, words[secret] if text in named else marker(rules[secret])
                    )
            found = [f for f, secret in self._found(text) if secret not in kept]
            return without(text, found) if found and text not in named else text

        return clean

    def _named(self) -> Iterator[str]:
        """Yield every name and reference that is or was in the store."""
        for _, _, doc in self._library.every_field():
            yield from _names(doc)
        for entry in self._library.changes_back():
            yield entry.actor
            for change in entry.changes:
                for side in (0, 1):
                    yield from _names({name: sides[side] for name, sides in change.fields.items()})

    def _fields(self) -> Iterator[tuple[str, str]]:
        for table, key, doc in self._library.every_field():
            name = self._safety.masked(key)
            for part, value in doc.items():
                for text in strings(value):
                    yield f"{table} {name}, {part}", text

    def _history(self) -> Iterator[tuple[str, str]]:
        for entry in self._library.changes_back():
            for text in _texts_of(entry):
                yield f"history, revision {entry.rev}", text

    def _files(self, state: Path | None, without: frozenset[Path]) -> Iterator[tuple[str, str]]:
        for path, name in self._library.surroundings.others():
            yield from _lines(path, name)
        for path in _kept_in(state):
            if path not in without:
                yield from _lines(path, str(path))

    def _elsewhere(self, rules: Iterable[str], state: Path | None) -> Iterator[str]:
        """Yield the files outside the store that hold one of the secrets, or may."""
        needles = [secret.encode() for secret in rules]
        copies = self._library.surroundings.copies()
        sources = {Path(book.source) for book in self._library.books.all() if book.source}
        for path in sorted({*copies, *sources, *_kept_in(state)}):
            data = _read(path)
            if data is not None and any(needle in data for needle in needles):
                yield str(path)

    def _found(self, text: str) -> list[tuple[Finding, str]]:
        return [
            (f, text[f.start : f.end]) for f in self._safety.findings(text) if f.kind == "secret"
        ]

    def _secrets_of(self, held: Held) -> Iterator[str]:
        for text in self._safety.texts(held.record):
            yield from (secret for _, secret in self._found(text))


def _names(doc: Mapping[str, Any]) -> Iterator[str]:
    for name, value in doc.items():
        if name in _NAMES:
            yield from strings(value)


def _texts_of(entry: Transaction) -> Iterator[str]:
    yield entry.actor
    yield entry.label
    for change in entry.changes:
        doc: Doc = {}
        for name, sides in change.fields.items():
            doc[name] = [side for side in sides if side is not ABSENT]
        yield from strings(doc)


def _kept_in(state: Path | None) -> Iterator[Path]:
    """Yield the files of the folder `state` but the server's own token, which is to be there."""
    if state is not None:
        yield from (path for path in files_below(state) if path != state / paths.MCP_TOKEN)


def _read(path: Path) -> bytes | None:
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return None
        data = path.read_bytes()
        return (
            zlib.decompressobj(wbits=31).decompress(data, LARGEST) if path.suffix == ".gz" else data
        )
    except (OSError, zlib.error):
        return None


def _lines(path: Path, name: str) -> Iterator[tuple[str, str]]:
    data = _read(path)
    if data is not None and b"\x00" not in data[:1024]:
        yield name, data.decode("utf-8", "replace")
