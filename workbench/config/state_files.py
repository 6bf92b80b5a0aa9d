"""JSON files of the state folder: conveniences, so that no damage to one is an error."""

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.core.files.atomic import write_file


def kept(state_dir: Path, name: str) -> dict[str, Any]:
    """Return the object that a file holds; one that is missing or broken counts as empty."""
    try:
        data = json.loads((state_dir / name).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def kept_list(state_dir: Path, name: str, key: str) -> list[Any]:
    """Return a list that a file's object holds under a key, an empty one where there is none."""
    found = kept(state_dir, name).get(key)
    return found if isinstance(found, list) else []


def keep(state_dir: Path, name: str, data: Mapping[str, object]) -> None:
    """Write a file in one step; a folder that cannot be written loses nothing else."""
    with contextlib.suppress(OSError):
        state_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_file(state_dir / name, json.dumps(data, indent=1).encode("ascii"))
