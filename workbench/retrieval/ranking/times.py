"""Times as numbers: microseconds since 1970 in UTC, whole, so that differences are exact."""

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from workbench.core.record import parse_time

Micros = NDArray[np.int64]
"""Microseconds since 1970 in UTC."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_FORMS = ("0000-00-00T00:00:00Z", "0000-00-00T00:00:00.000000Z")
"""How times are written (`core.record.iso`); 0 stands for any digit."""


def micros(at: datetime) -> int:
    """Return an aware time as microseconds since 1970."""
    gone = at - EPOCH
    return (gone.days * 86_400 + gone.seconds) * 1_000_000 + gone.microseconds


def parsed_micros(texts: Sequence[str]) -> Micros:
    """Read many ISO 8601 times, as `parse_time` does; raises `ValueError`."""
    found = np.empty(len(texts), np.int64)
    sizes = np.fromiter(map(len, texts), np.intp, len(texts))
    rest = np.ones(len(texts), np.bool_)
    for form in _FORMS:
        rows = np.flatnonzero(sizes == len(form))
        chosen = texts if len(rows) == len(texts) else [texts[row] for row in rows.tolist()]
        raw = "".join(chosen).encode(errors="replace")
        if len(raw) == len(form) * len(rows):
            letters = np.frombuffer(raw, np.uint8).reshape(-1, len(form))
            fits = _has_form(letters, form)
            # Without its Z, which numpy does not read.
            column = np.ascontiguousarray(letters[fits, :-1]).view(f"S{len(form) - 1}").ravel()
            found[rows[fits]] = column.astype("datetime64[us]").astype(np.int64)
            rest[rows[fits]] = False
    for row in np.flatnonzero(rest).tolist():
        found[row] = micros(parse_time(texts[row]))
    return found


def _has_form(letters: NDArray[np.uint8], form: str) -> NDArray[np.bool_]:
    """Tell which rows differ from the form only in digits, and have a year that Python knows: not 0."""
    wanted = np.frombuffer(form.encode(), np.uint8)
    digit = wanted == ord("0")
    fits: NDArray[np.bool_] = (letters[:, ~digit] == wanted[~digit]).all(axis=1)
    fits &= (letters[:, digit] - ord("0") <= 9).all(axis=1)
    fits &= (letters[:, :4] != ord("0")).any(axis=1)
    return fits
