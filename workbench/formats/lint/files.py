"""Looking a file over by what it is."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path, PurePath

from workbench.core.files.format import ReadContext
from workbench.core.files.formats import format_named
from workbench.core.files.lint import LintFinding
from workbench.core.files.reason import Reason
from workbench.formats import letta, opening
from workbench.formats.ace import ace
from workbench.formats.claude_memory.claude_memory import NAME as CLAUDE_MEMORY
from workbench.formats.instructions import instructions
from workbench.formats.instructions.imported import missing
from workbench.formats.lint import ace as ace_lint
from workbench.formats.lint import memory_index, records
from workbench.formats.shared.report import shown


def lint_file(path: Path, now: datetime, format: str | None = None) -> tuple[str, list[LintFinding]]:
    """Return the format a file has and what is wrong with it. Raises `UnreadableFile`."""
    text = opening.read_text(path)
    kind = format or opening.detected(path, text).format
    return kind, lint_text(path, text, kind, now)


def lint_text(
    path: Path,
    text: str,
    kind: str,
    now: datetime,
    others: Mapping[str, str] | None = None,
) -> list[LintFinding]:
    """Return what is wrong with a text of some format that stands, or could stand, in the file at `path`.

    `others` are texts by name that could stand beside it, in place of those that do. Raises `UnreadableFile`.
    """
    overlay = others or {}
    if kind == ace.NAME:
        return ace_lint.lint(text, str(path))
    if kind == CLAUDE_MEMORY and PurePath(path).name.upper() == "MEMORY.MD":
        there = opening.beside(path.parent)
        topics = [other.name for other in path.parent.glob("*.md") if other.is_file() and other.name != path.name]
        named = list(dict.fromkeys([*topics, *overlay]))
        return memory_index.lint(text, str(path), lambda name: overlay.get(name) or there(name), named)
    known, context = format_named(kind), ReadContext(now=now, file=str(path), as_candidates=True)
    if known.read_path is not None:
        return records.lint(opening.read_file(path, format=kind, context=context), str(path))
    parsed = known.read(text, replace(context, path=str(path), beside=opening.beside(path.parent)))
    found = records.lint(parsed, str(path), records.Writer(text, known.write) if known.write is not None else None)
    if kind == letta.NAME:
        over = (i for i in parsed.issues if isinstance(i.what, Reason) and i.what.pattern is letta.OVER_LIMIT)
        return found + [LintFinding(str(path), one.line, "over-cap", one.reason) for one in over]
    if kind != instructions.NAME:
        return found
    lost = missing(text, lambda name: _exists(path.parent, name))
    said = "the imported file {} is not there"
    return found + [LintFinding(str(path), at, "broken-link", said.format(shown(name))) for at, name in lost]


def _exists(folder: Path, name: str) -> bool:
    try:
        return (folder / Path(name).expanduser()).exists()
    except (OSError, RuntimeError):  # too long a name, or the home folder of nobody
        return False
