"""Taking records and their texts out of what a store has written, line by line."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from workbench.store.journal.codec import BadLine, dumps, seal, unseal
from workbench.store.journal.segments import is_header

MARK = "[purged]"

_KEPT = frozenset({"id", "book"})
_PROSE = frozenset({"content", "summary"})
_LEAST = 12
_GRAM = 8


class Redactor:
    """Rewrites values and lines so that some documents, and every text they ever held, are in them no more.

    `doomed` are (table, document id) pairs, `names` the ids of these records, `texts` as `texts_of`
    gives them. `lines` counts the lines that were changed, `dropped` the damaged ones that had to go.
    """

    def __init__(self, doomed: frozenset[tuple[str, str]], names: frozenset[str], texts: Iterable[str]) -> None:
        self.lines = 0
        self.dropped = 0
        self._doomed = doomed
        self._names = names
        self._texts = sorted(set(texts), key=len, reverse=True)
        self._grams = frozenset(t[i : i + _GRAM] for t in self._texts for i in range(len(t) - _GRAM + 1))
        self._needles = [n for text in self._texts for n in {dumps(text)[1:-1], text.encode(), _ascii(text)}]

    def line(self, raw: bytes, edition: int | None = None) -> bytes:
        """Return a line (with its line end) as it is to be from now on; nothing for a damaged one with a text in it.

        A header is given the new `edition`, when there is one.
        """
        try:
            value = unseal(raw[:-1])
        except BadLine:
            if self.is_in(raw) or self.names_in(raw):
                self.dropped += 1
                return b""
            return raw
        if is_header(value):
            clean = self._header(value)
            return raw if edition is None and clean == value else _sealed(_numbered(clean, edition))
        clean = self._entry(value)
        if clean == value:
            return raw
        self.lines += 1
        return _sealed(clean)

    def doc(self, table: str, doc_id: str, doc: dict[str, Any]) -> dict[str, Any] | None:
        """Return a document without the texts, or `None` for one that is to be erased."""
        if (table, doc_id) in self._doomed:
            return None
        clean: dict[str, Any] = self.value(doc)
        return doc if clean == doc else clean

    def value(self, value: Any) -> Any:
        """Return a JSON value in which every erased text is replaced by the mark, also inside longer texts."""
        if isinstance(value, str):
            for text in self._texts:
                if text in value:
                    value = value.replace(text, MARK)
            return value
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {self.value(name): self.value(item) for name, item in value.items()}
        return value

    def is_in(self, data: bytes) -> bool:
        """Tell whether bytes hold an erased text, as it is or as JSON writes it."""
        return any(needle in data for needle in self._needles)

    def names_in(self, data: bytes) -> bool:
        """Tell whether bytes name an erased record."""
        return any(dumps(name) in data for name in self._names)

    def _entry(self, value: dict[str, Any]) -> dict[str, Any]:
        """Return a transaction without the texts; revision, time, actor and what it touched stay."""
        changes = value.get("changes", [])
        touched = any(self._is_doomed(change) for change in changes)
        label = value.get("label", "")
        clean = MARK if touched and self._quotes(label) else self.value(label)
        return {**value, "label": clean, "changes": [self._change(change) for change in changes]}

    def _change(self, change: dict[str, Any]) -> dict[str, Any]:
        if not self._is_doomed(change):
            return {**change, "fields": self.value(change["fields"])} if "fields" in change else change
        kept = {name: sides for name, sides in change.get("fields", {}).items() if name in _KEPT}
        bare = {name: part for name, part in change.items() if name not in ("fields", "inc")}
        return {**bare, **({"fields": kept} if kept else {}), "redacted": True}

    def _header(self, value: dict[str, Any]) -> dict[str, Any]:
        recent = value.get("recent", {})
        kept = {
            table: [self.value(d) for d in docs if d.get("id") not in self._names] for table, docs in recent.items()
        }
        return {**value, "recent": kept} if "recent" in value else value

    def _is_doomed(self, change: dict[str, Any]) -> bool:
        return (change.get("table"), change.get("id")) in self._doomed

    def _quotes(self, label: str) -> bool:
        return any(label[i : i + _GRAM] in self._grams for i in range(len(label) - _GRAM + 1))


def texts_of(fields: dict[str, Any]) -> Iterator[str]:
    """Yield what of a document's fields is text to be looked for elsewhere.

    Content and summary, whole and line by line, and any other text with a space in it; short
    ones are left out, they would be found everywhere.
    """
    for name, value in fields.items():
        if name in _KEPT:
            continue
        for text in _strings(value):
            for piece in (text, *(line.strip() for line in text.splitlines())):
                if len(piece) >= _LEAST and (name in _PROSE or " " in piece):
                    yield piece


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)


def _ascii(text: str) -> bytes:
    """Return a text as programs write it in JSON that keep to ASCII."""
    return json.dumps(text)[1:-1].encode()


def _numbered(header: dict[str, Any], edition: int | None) -> dict[str, Any]:
    return header if edition is None else {**header, "edition": edition}


def _sealed(value: dict[str, Any]) -> bytes:
    return seal({name: part for name, part in value.items() if name != "sum"})
