"""What somebody expects of retrieval: for a query these memories near the top, those never, or nothing at all.

A file of expectations is TOML, an `[[expect]]` each.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.core.errors import InvalidRecord

TOP = 5
"""Places within which a memory is expected where nobody says how many."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """One expectation: of a `query`, or of all judged queries of the file `queries`, whose mean nDCG@10 is bounded.

    `finds` are ids that stand within the first `top`, `never` those that do not; with `nothing` no memory is relevant.
    """

    query: str = ""
    finds: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    nothing: bool = False
    top: int = TOP
    queries: str = ""
    ndcg: float = 0.0

    @property
    def name(self) -> str:
        """What it is about."""
        return self.query or self.queries


def expectations(table: Mapping[str, Any]) -> tuple[Expectation, ...]:
    """Read the table of a file; raises `InvalidRecord`, which names the expectation and the key."""
    unknown = [key for key in table if key != "expect"]
    entries = table.get("expect", [])
    if unknown or not isinstance(entries, list) or not entries:
        what = f"“{unknown[0]}” is no key of it" if unknown else "it holds no [[expect]]"
        raise InvalidRecord(f"The file cannot be checked: {what}.", "See `workbench check --help` for an example.")
    return tuple(_read(place, entry) for place, entry in enumerate(entries, 1))


_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "query": str, "finds": list, "never": list, "nothing": bool, "top": int, "queries": str, "ndcg": (int, float),
}  # fmt: skip


def _read(place: int, entry: object) -> Expectation:
    if not isinstance(entry, dict):
        raise InvalidRecord(f"Expectation {place} is no table.", "Write [[expect]] above it.")
    for key, value in entry.items():
        kind = _KINDS.get(key)
        right = kind is not None and isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        if not right or (kind is list and not all(isinstance(id, str) for id in value)):
            raise InvalidRecord(f"Expectation {place}: “{key}” is unknown or of the wrong kind.", _HINT)
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    found = Expectation(**values)
    of_query = bool(found.query.strip()) and bool(found.finds or found.never or found.nothing)
    of_set = bool(found.queries) and 0 < found.ndcg <= 1
    if of_query == of_set or (found.nothing and found.finds) or not 1 <= found.top <= 100:
        raise InvalidRecord(f"Expectation {place} does not say what is expected.", _HINT)
    return found


_HINT = "It has a query with finds, never or nothing (and top, 1 to 100), or queries with ndcg above 0, at most 1."
