"""What a promoted text becomes when its memory is corrected: what was made of the memory, made anew.

Only what follows from the memory moves along. A title or a description that a person typed for it stays.
"""

from dataclasses import replace
from pathlib import PurePosixPath

from workbench.core.playbook.book import Bullet
from workbench.core.promotion.placement import Placement
from workbench.core.stream.memory import Memory
from workbench.formats import managed_block
from workbench.services.promotion import texts

SKILL = "SKILL.md"


def reworded(placement: Placement, before: Memory | Bullet, after: Memory | Bullet) -> Placement | None:
    """Return a placement of `before` as one of `after`; the same when nothing in it moves.

    `None` for a text that was not made of `before`: it was changed since, or in another way.
    """
    if not (isinstance(before, Memory) and isinstance(after, Memory)):
        return None
    match placement.kind:
        case "entry":
            text = _entry(placement.text, before, after)
        case "file":
            text = _file(placement, before, after)
        case "bullet":
            text = texts.content_of(after) if placement.text == texts.content_of(before) else None
    return None if text is None else replace(placement, text=text)


def _entry(text: str, before: Memory, after: Memory) -> str | None:
    """Return an entry that holds the memory itself, or a line of an index that names its file."""
    if text == managed_block.item(texts.content_of(before)):
        return managed_block.item(texts.content_of(after))
    title, link, rest = text.partition("](")
    file, close, about = rest.partition(")")
    if not (title.startswith("- [") and link and close and PurePosixPath(file).suffix == ".md"):
        return None
    title, about = title.removeprefix("- ["), about.removeprefix(" — ")
    (was, now), (old, new) = _said(before, after)
    hook = texts.cut(old, texts.HOOK)
    is_made = about == hook or (not about and hook == was)
    return managed_block.item(
        texts.index_line(now if title == _bracketed(was) else title, file, new if is_made else about)
    )


def _file(placement: Placement, before: Memory, after: Memory) -> str | None:
    """Return a topic file or a skill with the memory's new text, and what was derived from the old one."""
    head, body, rest = placement.text.partition(f"\n{texts.content_of(before)}\n")
    if not body:
        return None
    is_named = PurePosixPath(placement.path).name != SKILL  # a skill keeps its name, which is that of its folder
    for was, now in _said(before, after):
        for old, new in zip(texts.head_lines(was, named=is_named), texts.head_lines(now, named=is_named), strict=True):
            head = f"{head}\n".replace(f"\n{old}\n", f"\n{new}\n", 1)[:-1]
    return f"{head}\n{texts.content_of(after)}\n{rest}"


def _said(before: Memory, after: Memory) -> tuple[tuple[str, str], ...]:
    """Return the title and the description that are made of a memory, before and after."""
    pairs = ((make(before), make(after)) for make in (texts.title_of, texts.about_of))
    return tuple((texts.one_line(was), texts.one_line(now)) for was, now in pairs)


def _bracketed(title: str) -> str:
    return title.replace("[", "(").replace("]", ")")
