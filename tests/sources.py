"""The package's own modules as syntax trees: read and parsed once for all that is asked of them."""

import ast
from functools import cache
from pathlib import Path

import workbench

PACKAGE = Path(workbench.__file__).parent


@cache
def trees() -> dict[Path, ast.Module]:
    """Return the tree of every module of the package, by its file."""
    return {path: ast.parse(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
