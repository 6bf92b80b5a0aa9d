"""Many documents at once: their fields as columns, and whether all of them can be read as records.

Reading each document on its own takes several times as long: a store's documents lie far apart in memory, and
few fields hold anything but a text or a number.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from itertools import chain
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from workbench.core.errors import InvalidRecord
from workbench.core.record import Doc, decoders, present, unchanged
from workbench.retrieval.arrays import Rows

_NULL = type(None)
_AS_THEY_ARE = (str, int, bool, float)

Convert = Callable[[Sequence[Any]], NDArray[Any]]


@dataclass(frozen=True, slots=True)
class _Part:
    """A field in the documents of one shape."""

    rows: Rows
    values: tuple[Any, ...]
    types: frozenset[type]


class DocColumns:
    """The fields of n documents, each of which is looked at once; an absent field is a null."""

    def __init__(self, docs: Sequence[Doc]) -> None:
        self._size = len(docs)
        # Documents of one store have few shapes, that is: names that they hold, in order.
        shapes: dict[tuple[str, ...], int] = {}
        shape = np.array([shapes.setdefault(names, len(shapes)) for names in map(tuple, docs)], np.intp)
        values = [tuple(doc.values()) for doc in docs]
        self._parts: dict[str, list[_Part]] = {}
        for names, number in shapes.items():
            rows = np.flatnonzero(shape == number)
            columns = zip(*[values[row] for row in rows.tolist()], strict=True)
            for name, column in zip(names, columns, strict=True):
                self._parts.setdefault(name, []).append(_Part(rows, column, frozenset(map(type, column))))

    def types(self, name: str) -> frozenset[type]:
        """Return the types that a field has."""
        parts = self._parts.get(name, [])
        found = frozenset(chain.from_iterable(part.types for part in parts))
        everywhere = sum(len(part.rows) for part in parts) == self._size
        return found if everywhere else found | {_NULL}

    def given(self, name: str) -> Iterator[tuple[Rows, Sequence[Any]]]:
        """Yield the rows in which a field is not null, and its values there."""
        for part in self._parts.get(name, []):
            if _NULL in part.types:
                there = [at for at, value in enumerate(part.values) if value is not None]
                yield part.rows[there], [part.values[at] for at in there]
            else:
                yield part.rows, part.values

    def column(self, name: str, default: object, dtype: type[np.generic], convert: Convert = np.array) -> NDArray[Any]:
        """Return a field of all documents as numbers, with `default` for null; what `convert` raises is raised."""
        out = np.full(self._size, default, dtype)
        for rows, values in self.given(name):
            out[rows] = convert(values)
        return out

    def readable(self, kind: type, apart: frozenset[str] = frozenset()) -> bool:
        """Tell whether `from_doc(kind, doc)` succeeds for every document.

        Of the fields named in `apart` it is only looked at whether they are texts; the caller reads them.
        """
        hints, decode = get_type_hints(kind), decoders(kind)
        for spec in fields(kind):
            types = self.types(spec.name)
            required = spec.default is MISSING and spec.default_factory is MISSING
            if required and _NULL in types:
                return False
            if spec.name in apart:
                fit = types <= {str, _NULL}
            else:
                fit = self._fit(spec.name, types - {_NULL}, present(hints[spec.name]), decode[spec.name])
            if not fit:
                return False
        return True

    def _fit(self, name: str, types: frozenset[type], hint: Any, decode: Callable[[Any], Any]) -> bool:
        """Tell whether all values of a field can be decoded."""
        if decode is unchanged or not types or (hint in _AS_THEY_ARE and types == {hint}):
            return True
        values = list(chain.from_iterable(column for _, column in self.given(name)))
        if isinstance(hint, type) and is_dataclass(hint):
            return types == {dict} and DocColumns(values).readable(hint)
        if get_origin(hint) is tuple and get_args(hint)[0] is str:
            return types == {list} and set(map(type, chain.from_iterable(values))) <= {str}
        try:
            for value in values:
                decode(value)
        except (TypeError, ValueError, AttributeError, OverflowError, InvalidRecord):
            return False
        return True
