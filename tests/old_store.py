"""A store as a development version before 1.0 wrote it, made of one of today."""

import gzip
import json
from hashlib import blake2b
from pathlib import Path
from typing import Any

from workbench.store.journal import segments
from workbench.store.journal.codec import unseal


def make_old(folder: Path, heads: Path | None = None) -> None:
    """Write the journal of a store in the old format, known to the machine that remembers its
    stores in `heads`.
    """
    known, store = b"", segments.store_id(folder)
    for path in sorted(folder.glob("journal*.jsonl*")):
        packed = path.suffix == ".gz"
        data = gzip.decompress(path.read_bytes()) if packed else path.read_bytes()
        lines = [old_line(unseal(line)) for line in data.splitlines()]
        known += b"".join(blake2b(line, digest_size=16).digest() for line in lines)
        data = b"".join(line + b"\n" for line in lines)
        path.write_bytes(gzip.compress(data) if packed else data)
    (folder / "checkpoint.json").unlink(missing_ok=True)
    if heads is not None:
        heads.mkdir(exist_ok=True)
        (heads / f"{store}.lines").write_bytes(known)


def old_line(value: dict[str, Any]) -> bytes:
    """Return a line (without its line end) of the old format."""
    value.pop("uid", None)
    if "journal" in value:
        value |= {"schema": 3, "edition": 0}
    elif value["kind"] == "edit":
        del value["kind"]
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()[:-1]
    return body + b',"sum":"%s"}' % blake2b(body, digest_size=8).hexdigest().encode()
