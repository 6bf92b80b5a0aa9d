"""The birth certificate of a saved profile: what it was measured on when it was saved."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime

from workbench.core.errors import InvalidRecord
from workbench.core.record import iso, parse_time


@dataclass(frozen=True, slots=True)
class ProfileProvenance:
    """Where a profile comes from and what it gained over its parent.

    `query_set` is the hash of the judged queries, `judgments` how many grades they hold; `delta` is the mean gain
    of `metric` over `parent`, `low` and `high` its 95 % band, and `how` says how it was measured. `verdict` is
    `better`, `worse` or `unclear`.
    """

    at: datetime
    parent: str
    query_set: str
    queries: int
    judgments: int
    metric: str
    delta: float
    low: float
    high: float
    verdict: str
    how: str = ""

    @property
    def lines(self) -> tuple[tuple[str, str | int | float], ...]:
        """Its values as TOML knows them, in order."""
        values = ((f.name, getattr(self, f.name)) for f in fields(self))
        return tuple((name, iso(v) if isinstance(v, datetime) else _short(v)) for name, v in values)


def birth_of(profile: str, raw: Mapping[str, object]) -> ProfileProvenance:
    """Read the `[birth]` table of a profile's file. Raises `InvalidRecord`."""
    problem = InvalidRecord(f"The birth certificate of the profile “{profile}” cannot be read.", "It was not used.")
    known = {f.name: f.type for f in fields(ProfileProvenance)}
    if set(raw) - set(known) or set(known) - set(raw) - {"how"}:
        raise problem
    values: dict[str, object] = dict(raw)
    try:
        values["at"] = parse_time(str(raw["at"]))
    except ValueError as error:
        raise problem from error
    for name in ("delta", "low", "high"):
        value = raw[name]
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise problem
        values[name] = float(value)
    whole = all(type(raw[name]) is int for name in ("queries", "judgments"))
    text = all(isinstance(raw.get(name, ""), str) for name in ("parent", "query_set", "metric", "verdict", "how"))
    if not whole or not text:
        raise problem
    return ProfileProvenance(**values)  # type: ignore[arg-type]


def _short(value: str | int | float) -> str | int | float:
    return round(value, 4) if isinstance(value, float) else value
