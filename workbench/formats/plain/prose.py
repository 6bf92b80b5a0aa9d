"""Markdown for people, which `plain.items` reads back, and text for an agent's prompt, which nothing does."""

from collections.abc import Iterator

from workbench.core.files.format import Parsed
from workbench.core.playbook.book import Bullet, Playbook
from workbench.core.stream.memory import Memory
from workbench.formats.ace.writing import write_playbook
from workbench.formats.plain.items import written


def write_markdown(parsed: Parsed, original: str | None = None) -> str:
    """Write a document with a heading for each section, or for each type of memory."""
    del original
    title = parsed.playbooks[0].book.name if parsed.playbooks else "Memories"
    lines = [f"# {_flat(title)}"]
    for heading, items in _grouped(parsed):
        lines += ["", f"## {_flat(heading)}", "", *map(written, items)]
    return "\n".join(lines) + "\n"


def write_prompt(parsed: Parsed, original: str | None = None) -> str:
    """Write what an agent is to read: a playbook's sections and bullets with their ids, or one memory a line."""
    del original
    if not parsed.playbooks:
        return "".join(f"- {_one_line(memory.content)}\n" for memory in parsed.memories)
    lines: list[str] = []
    for heading, bullets in _sections(parsed.playbooks[0]):
        lines += [
            *([""] if lines else []),
            f"## {_flat(heading)}",
            *(f"- [{b.id}] {_flat(b.content)}" for b in bullets),
        ]
    return "\n".join(lines) + "\n" if lines else ""


def write_prompt_with_counts(parsed: Parsed, original: str | None = None) -> str:
    """Write a playbook with its helpful and harmful counts, in the strict form that ACE agents read."""
    if not parsed.playbooks:
        return write_prompt(parsed, original)
    return write_playbook(parsed.playbooks[0], dialect="counts")


def _grouped(parsed: Parsed) -> Iterator[tuple[str, list[Memory] | list[Bullet]]]:
    if parsed.playbooks:
        yield from _sections(parsed.playbooks[0])
        return
    groups: dict[str, list[Memory]] = {}
    for memory in parsed.memories:
        groups.setdefault(memory.observation_type, []).append(memory)
    yield from sorted(groups.items())


def _sections(playbook: Playbook) -> Iterator[tuple[str, list[Bullet]]]:
    """Yield the sections that hold something, with their bullets; deprecated ones are left out."""
    living = [bullet for bullet in playbook.bullets if bullet.state != "deprecated"]
    ranked = sorted(living, key=lambda bullet: bullet.order)
    for section in sorted(playbook.sections, key=lambda section: section.order):
        mine = [bullet for bullet in ranked if bullet.section == section.id]
        if mine:
            yield section.title or section.key or "Others", mine
    known = {section.id for section in playbook.sections}
    lost = [bullet for bullet in ranked if bullet.section not in known]
    if lost:
        yield "Others", lost


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _flat(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\\n")
