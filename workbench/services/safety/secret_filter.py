"""The one gate in the write path: what a change introduces reaches the journal without its secrets.

A hook goes through it too, so nothing heavy may be imported here.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache, partial
from hashlib import blake2b
from typing import Any

from workbench.core.record import ABSENT, InvalidRecord
from workbench.core.safety import Finding
from workbench.core.text import MAX_KEPT
from workbench.safety import scanning
from workbench.store.entry import DocChange, Transaction
from workbench.store.records import COPIES, NAMED, key_of

IMPORT = "import-"
"""How the groups of imports begin: files stay as they came, so that they go back byte for byte."""

SHORTEST = 10
"""Characters of the shortest text that holds a secret and what it is told by."""

TYPED = frozenset({"session", "session_id", "actor"})
"""Fields that name who and where: a secret in one is refused, for a marker would name somebody
else.
"""

KEPT = frozenset(
    {"id", "table", "target", "memory", "query", "book", "doc", "left", "right", "evidence", "citations", "related",
     "aliases", "texts", "bullets", "memories", "kind", "op", "state", "status", "memory_type", "observation_type",
     "verdict", "at", "version", "source", "path", "file", "files", "hash", "promoted_to", "before"}
)  # fmt: skip
"""Fields that name a record, a file or a state: what they say is true only as it stands."""

_QUOTES = frozenset(
    {
        "content",
        "summary",
        "raw",
        "lead",
        "tail",
        "metadata",
        "changes",
        "operation",
        "tags",
        "source",
    }
)
"""Fields that are put together from other records' texts, in a merge or a proposal: what those hold
is not new.
"""

_NAMING = (
    "aliases",
    "citations",
    "evidence",
    "related",
    "section",
    "metadata",
    "operation",
    "changes",
)
"""Fields in which a record says which others it is made of."""

_RETIRED = frozenset({"archived", "deprecated", "accepted", "rejected"})
"""What a record becomes whose text goes over to another one."""

WORDS = "secrets"
"""The table that a person's word names who keeps what they typed; the target is the `hash_of` a
secret.
"""

Find = Callable[[str], list[Finding]]
Docs = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""A store's documents, by table and document id."""


class SecretFilter:
    """Takes the secrets out of a transaction before it is written; `masked` collects what they
    were.

    What a change leaves as it was, takes back or does again stays as it is, and so does what an
    import brings. What a record takes over from those it is made of (a merge, a split, a proposal)
    stays too; what is typed never does, whatever else the store holds. A record that a person lets
    pass in the same transaction (an `Override`) keeps its text, and a secret that a person keeps in
    it stays wherever the transaction writes it.
    """

    def __init__(
        self,
        look: Find = scanning.secrets_in,
        mask: Callable[[str], str] = scanning.mask,
    ) -> None:
        self.look = look
        self._mask = mask
        self.masked: list[str] = []

    def __call__(self, entry: Transaction, docs: Docs) -> Transaction:
        """Return the transaction as it may be written; raises `InvalidRecord` for a name that holds
        a secret.
        """
        if entry.group.startswith(IMPORT) or entry.actor.startswith("import:"):
            return entry
        self._require_names((entry.actor,), "actor")
        if entry.kind in ("undo", "redo", "purge"):
            return entry
        one = _One(self, entry, docs)
        changes = tuple(one.change(change) for change in entry.changes)
        label = self.cleaned(
            entry.label, lambda text: one.is_kept(text) or one.names(text), one.look
        )
        return (
            entry
            if changes == entry.changes and label == entry.label
            else entry._replace(changes=changes, label=label)
        )

    def cleaned(self, text: str, known: Callable[[str], bool], look: Find | None = None) -> str:
        """Return a text without its secrets, but for those that are `known`; `look` finds them
        (default: its own).
        """
        if len(text) < SHORTEST:
            return text
        found = (look or self.look)(text)
        # What was there as a whole was there with all that it holds.
        new = (
            [f for f in found if not known(text[f.start : f.end])]
            if found and not known(text)
            else []
        )
        if not new:
            return text
        self.masked += [f.rule for f in new]
        # With nothing to keep, what only shows once the first secrets are gone is looked for as
        # well.
        return self._mask(text) if len(new) == len(found) else scanning.without(text, new)

    def preview(self, text: str, before: str) -> str:
        """Return what would be stored of a text that is typed in place of another."""
        return SecretFilter(self.look, self._mask).cleaned(text, before.__contains__)

    def _require_names(
        self, names: Collection[str], what: str, known: Callable[[str], bool] = lambda _: False
    ) -> None:
        # Within a path nothing looks drawn at random: its parts are names, too.
        for part in {
            part for name in names for part in (name, *name.split("/")) if len(part) >= SHORTEST
        }:
            if any(not known(part[f.start : f.end]) for f in self.look(part)):
                raise InvalidRecord(
                    f"The {what} contains a secret.", "Nothing was written; choose another name."
                )


class _One:
    """One transaction at the gate."""

    def __init__(self, gate: SecretFilter, entry: Transaction, docs: Docs) -> None:
        self._gate = gate
        self._entry = entry
        self._docs = docs
        self._sources: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        self._named: frozenset[str] | None = None
        # A merge says its members' texts again, and the same names of fields for each.
        self.look = cache(gate.look)
        self._passes = frozenset(
            (str(_after(change, "table")), str(_after(change, "target")))
            for change in entry.changes
            if change.table == "overrides" and change.op in ("insert", "update")
        )

    def change(self, change: DocChange) -> DocChange:
        """Return a document's change without the secrets that it introduces."""
        if (
            change.op not in ("insert", "update")
            or change.table in COPIES
            or self._may_pass(change)
        ):
            return change
        fields = {
            name: (old, self._field(change, name, new))
            for name, (old, new) in change.fields.items()
        }
        return change if fields == change.fields else change._replace(fields=fields)

    def is_kept(self, text: str) -> bool:
        """Tell whether a person keeps a secret, in this very transaction."""
        return bool(self._passes) and (WORDS, hash_of(text)) in self._passes

    def names(self, text: str) -> bool:
        """Tell whether a text stands in the name of a record that the transaction is about."""
        if self._named is None:
            refs = (
                str(new)
                for c in self._entry.changes
                for name, (_, new) in c.fields.items()
                if name in KEPT
            )
            docs = (self._docs.get(c.table, {}).get(c.doc, {}) for c in self._entry.changes)
            self._named = frozenset((*refs, *(str(doc.get("id", "")) for doc in docs)))
        return any(text in name for name in self._named)

    def _may_pass(self, change: DocChange) -> bool:
        """Tell whether a person lets this record pass, in this very transaction."""
        if not self._passes:
            return False
        doc = {
            **self._docs.get(change.table, {}).get(change.doc, {}),
            **{n: new for n, (_, new) in change.fields.items()},
        }
        return (change.table, key_of(change.table, doc) or "") in self._passes

    def _field(self, change: DocChange, name: str, new: Any) -> Any:
        if new is ABSENT:
            return new
        if name in TYPED or (name == "id" and change.op == "insert" and change.table in NAMED):
            known = partial(self._is_carried, change, ("id", "key") if name == "id" else (name,))
            self._gate._require_names(
                [new] if isinstance(new, str) else (), name.replace("_", " "), known
            )
            return new
        if name.endswith("_at") or (change.table, name) == ("bullets", "section"):
            return new
        if name in KEPT and not isinstance(new, dict):
            return new
        before, quotes = "\n".join(strings(change.fields[name][0])), name in _QUOTES

        longest = max(map(len, strings(new)), default=0)
        if longest > max(MAX_KEPT, len(before)) and change.table != "documents":
            message = f"The text has {longest:,} characters; at most {MAX_KEPT:,} are stored."
            raise InvalidRecord(message, "Nothing was written.")

        def is_known(text: str) -> bool:
            return (
                text in before
                or self.is_kept(text)
                or (quotes and self._is_carried(change, None, text))
            )

        return self._within(name, new, is_known)

    def _within(self, name: str, value: Any, known: Callable[[str], bool]) -> Any:
        """Return the value of a field; of where a memory comes from all but who said it names
        things.
        """
        if name == "source" and isinstance(value, dict):
            return {
                part: self._clean(item, known) if part == "speaker" else item
                for part, item in value.items()
            }
        return value if name in KEPT else self._clean(value, known)

    def _clean(self, value: Any, known: Callable[[str], bool]) -> Any:
        if isinstance(value, str):
            return self._gate.cleaned(value, known, self.look)
        if isinstance(value, list | tuple):
            return type(value)(self._clean(item, known) for item in value)
        if isinstance(value, dict):
            return {
                self._clean(name, known): self._within(name, item, known)
                for name, item in value.items()
            }
        return value

    def _is_carried(self, change: DocChange, fields: Collection[str] | None, text: str) -> bool:
        """Tell whether a text comes from a record that this one is made of, in one of the `fields`
        (`None`: any).

        Those are the records that the change names for the first time, and those that the
        transaction retires. All of the store is read for them, once a secret was found.
        """
        place = change.table, change.doc
        if place not in self._sources:
            self._sources[place] = list(self._made_of(change))
        return any(
            text in one
            for doc in self._sources[place]
            for name, value in doc.items()
            if fields is None or name in fields
            for one in strings(value)
        )

    def _made_of(self, change: DocChange) -> Iterator[Mapping[str, Any]]:
        named: set[str] = set()
        for name in _NAMING:
            old, new = change.fields.get(name, (None, None))
            named |= set(strings(new)) - set(strings(old))
        for docs in self._docs.values():
            yield from (doc for doc in docs.values() if doc.get("id") in named)
        for other in self._entry.changes:
            if other is not change and (
                other.op == "delete" or not _RETIRED.isdisjoint(_becomes(other))
            ):
                yield self._docs.get(other.table, {}).get(other.doc, {})


def _after(change: DocChange, name: str) -> object:
    return change.fields.get(name, (None, None))[1]


def _becomes(change: DocChange) -> tuple[object, ...]:
    return tuple(
        value for name in ("status", "state") if isinstance(value := _after(change, name), str)
    )


def hash_of(secret: str) -> str:
    """Return what tells a secret that a person keeps, without saying it."""
    return blake2b(secret.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def strings(value: Any) -> Iterator[str]:
    """Yield every text within a JSON value, names of fields included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield str(name)
            yield from strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)
