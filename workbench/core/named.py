"""Light entries: something that is named where it is listed, and imported when it is first used."""

from functools import cache
from importlib import import_module
from typing import Any


@cache
def implementation(name: str) -> Any:
    """Import what an entry names: `package.module:name`."""
    module, _, inner = name.partition(":")
    return getattr(import_module(module), inner)
