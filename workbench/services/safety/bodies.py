"""What records keep beside the store, looked through for secrets, and written again without them."""

import json
from collections.abc import Callable, Iterator, Mapping

from workbench.core.values import cleaned
from workbench.services.safety.secret_filter import strings
from workbench.store.blobs import BlobProblem
from workbench.store.library import Library
from workbench.store.records import IN_BLOBS


def packed(doc: object) -> bytes:
    """Return JSON values as they are kept beside the store: the same values, the same bytes."""
    return json.dumps(doc, separators=(",", ":"), allow_nan=False).encode()


def body_of(library: Library, name: str) -> Mapping[str, object]:
    """Return the JSON object that is kept under a hash. Raises `BlobProblem`, also when it is none."""
    try:
        doc = json.loads(library.blobs.read(name))
    except (ValueError, RecursionError) as error:
        raise BlobProblem(name, "damaged") from error
    if not isinstance(doc, dict):
        raise BlobProblem(name, "damaged")
    return doc


def texts_beside(library: Library) -> Iterator[tuple[str, str]]:
    """Yield every text that is kept beside the store, with its place in words; what cannot be read
    is passed over.
    """
    owners = _owners(library)
    for name in library.blobs.names():
        try:
            doc = body_of(library, name)
        except BlobProblem:
            continue
        for part, value in doc.items():
            for text in strings({part: value}):
                yield f"{owners.get(name, f'blobs {name[:12]}')}, {part}", text


def rewritten(library: Library, clean: Callable[[str], str]) -> dict[str, str]:
    """Write everything beside the store again as `clean` has it; return what takes the place of
    which hash.

    What took the place of another one before is among it. The old ones are still there. Raises
    `StoreProblem`.
    """
    found = dict(library.blobs.replaced())
    for name in library.blobs.names():
        try:
            doc = body_of(library, name)
        except BlobProblem:
            continue
        new = cleaned(doc, clean)
        if new != doc:
            found[name] = library.blobs.put(packed(new))
    return {old: _last(found, now) for old, now in found.items()}


def _last(found: Mapping[str, str], name: str) -> str:
    for _ in range(len(found)):
        if name not in found:
            break
        name = found[name]
    return name


def _owners(library: Library) -> dict[str, str]:
    """Return which record names which hash, as "table id"."""
    found: dict[str, str] = {}
    for table, kind in IN_BLOBS.items():
        for _, key, doc in library.every_field(table):
            found[str(doc.get(kind.field))] = f"{table} {key}"
    return found
