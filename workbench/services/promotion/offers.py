"""The places that suggest themselves for a promotion, with what is there now."""

import re
from collections.abc import Iterator
from pathlib import Path

from workbench.core.errors import WorkbenchError
from workbench.formats import managed_block
from workbench.services.playbook.playbook import Playbooks
from workbench.services.promotion.neighbours import brings_in, texts_of
from workbench.services.promotion.placement_files import decoded, read
from workbench.services.promotion.placements import Placing
from workbench.services.promotion.plan import Offer, Target
from workbench.services.promotion.targets import SKILL_FOLDER, memory_folder

USUAL_FILES = ("CLAUDE.md", "AGENTS.md")
"""The files that agents read at the start, in the project's folder."""


def offers(placing: Placing, playbooks: Playbooks) -> tuple[Offer, ...]:
    """Return the usual files, memory files and skills, then every section of every playbook."""
    return (*_files(placing), *_sections(playbooks))


def _files(placing: Placing) -> Iterator[Offer]:
    project = placing.places.project
    if project is None:
        return
    yield from _usual(placing)
    folder = memory_folder(placing.places)
    yield Offer(Target("memory"), "memory file", "" if folder == "." else f"{folder}/")
    own = claude_memory(project)
    if own is not None:
        yield Offer(Target("memory", str(own)), "memory file of Claude Code", "outside the project")
    yield Offer(Target("skill"), "skill", f"{SKILL_FOLDER}/")


def _usual(placing: Placing) -> Iterator[Offer]:
    """Yield the usual files; one that another leads to by a link, or brings in, is the one place for both."""
    texts = {name: next(iter(texts_of(placing.places.named(Path(name)), placing.places).items()), (name, ""))
             for name in _there(placing)}  # fmt: skip
    leads = {
        (name, other)
        for name, (real, text) in texts.items()
        for other in texts
        if other != name and (real == other or brings_in(text, other))
    }
    for name in USUAL_FILES:
        if any(one == name and (other, one) not in leads for one, other in leads):
            continue
        from_others = [one for one, other in leads if other == name]
        said = [_state(placing, name), *(f"{one} leads to it" for one in from_others)]
        yield Offer(Target("block", name), name, ", ".join(part for part in said if part))


def _there(placing: Placing) -> Iterator[str]:
    """Yield the names of the usual files that can be read."""
    for name in USUAL_FILES:
        try:
            if read(placing.places.named(Path(name)).path) is not None:
                yield name
        except WorkbenchError:
            continue


def claude_memory(project: Path) -> Path | None:
    """Return the folder in which Claude Code keeps its own memory of a project, if there is one."""
    try:
        folder = Path.home() / ".claude/projects" / re.sub(r"[^A-Za-z0-9]", "-", str(project)) / "memory"
        return folder if folder.is_dir() else None
    except (OSError, RuntimeError):
        return None


def _state(placing: Placing, name: str) -> str:
    """Say what a file holds already; what is wrong with it is said when it is chosen."""
    try:
        data = read(placing.places.named(Path(name)).path)
        block = managed_block.find(decoded(data, name)[0]) if data is not None else None
    except WorkbenchError:
        return ""
    if data is None:
        return "a new file"
    count = len(block.entries) if block else 0
    return "1 entry" if count == 1 else f"{count} entries" if count else "no entries yet"


def _sections(playbooks: Playbooks) -> Iterator[Offer]:
    lines = playbooks.books()
    for line in lines:
        book = playbooks.open(line.book.id)
        for section in book.sections:
            count = len(book.in_section(section.id))
            bullets = "1 bullet" if count == 1 else f"{count} bullets"
            name = f"{line.book.name} › " if len(lines) > 1 else "playbook › "
            where = f"{book.book.id}/{section.id}"
            yield Offer(Target("playbook", where), f"{name}{section.title or section.key or '(no title)'}", bullets)
