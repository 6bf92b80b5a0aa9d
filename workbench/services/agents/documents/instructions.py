"""The instruction files of a project: documents that agents load whole, so they are not looked through."""

import stat
from datetime import UTC, datetime
from pathlib import Path

from workbench.services.agents.documents.reading import LARGEST, DocumentFolder, Entry

NAMES = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", ".cursorrules", ".windsurfrules", ".clinerules",
         ".github/copilot-instructions.md")  # fmt: skip
PATTERNS = (".github/instructions/*.instructions.md", ".cursor/rules/*.mdc", ".windsurf/rules/*.md",
            ".clinerules/*.md", ".claude/skills/*/SKILL.md")  # fmt: skip
MOST = 200
"""Files of one project that are looked at."""


def is_loaded(path: Path) -> bool:
    """Tell whether agents load a file whole, by its name and folder."""
    return any(path.match(pattern) for pattern in (*NAMES, *PATTERNS))


def instruction_files(project: Path) -> DocumentFolder:
    """Return the instruction files of a project; one that is a link to another is that one."""
    found = [project / name for name in NAMES]
    for pattern in PATTERNS:
        try:
            found += sorted(project.glob(pattern))[:MOST]
        except OSError:
            continue
    entries = [entry for path in found[:MOST] if (entry := _entry(project, path)) is not None]
    return DocumentFolder(project, "notes", tuple(entries))


def _entry(project: Path, path: Path) -> Entry | None:
    try:
        state = path.lstat()
    except OSError:
        return None
    if not stat.S_ISREG(state.st_mode) or state.st_size > LARGEST:
        return None
    changed = datetime.fromtimestamp(state.st_mtime, UTC)
    return Entry(path.relative_to(project).as_posix(), path, "overview", state.st_size, changed)
