"""Reading the lists that language models write: `1.`, `1)`, `(1)`, `Q1:`, `Question 1:` and bullets."""

import re
from collections.abc import Callable
from dataclasses import dataclass

_MARK = re.compile(
    r"""\s{0,8}(?:\*\*|__)?(?:
        \(?(?P<number>\d{1,3})[.):](?!\d)                     # 1.  1)  (1)  1:   but not 1.5
      | (?:Q|Question|Insight)\s?(?P<named>\d{1,3})\s?[.):]   # Q1:  Question 1:
      | [-*•–‣◦](?=\s)                                        # bullets
    )(?:\*\*|__)?\s*""",
    re.VERBOSE | re.IGNORECASE,
)
_EMPHASIS = re.compile(r"(\*\*|__)(.+?)\1")
_RULE = re.compile(r"\s*(?:[-*_=]\s*){3,}|\s*```\w*\s*")


@dataclass(frozen=True, slots=True)
class Item:
    """One item: its text in one line without emphasis, and the lines it was read from."""

    text: str
    raw: str
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """The items of a list, and the other lines that say something."""

    items: tuple[Item, ...] = ()
    rest: tuple[str, ...] = ()


def _never(_item: str) -> bool:
    return False


def read_list(text: str, ended: Callable[[str], bool] = _never) -> Listing:
    """Read a list. An item goes on in the unmarked lines below it, until a blank one or until it has `ended`.

    Headings, rules, fences and lines that end in a colon ("Here are three questions:") are no content.
    """
    items: list[list[str]] = []
    rest: list[str] = []
    inside = False
    for line in text.splitlines():
        if not line.strip() or _RULE.fullmatch(line):
            inside = False
        elif _MARK.match(line):
            items.append([line])
            inside = True
        elif (items and line.startswith("   ")) or (inside and not ended(plain("\n".join(items[-1])))):
            items[-1].append(line)
            inside = True
        elif not line.lstrip().startswith("#") and not line.rstrip(" *_").endswith(":"):
            rest.append(line.strip())
    found = [_item(lines) for lines in items]
    return Listing(tuple(item for item in found if item.text), tuple(rest))


def plain(text: str) -> str:
    """Return `text` in one line, without emphasis marks."""
    return _EMPHASIS.sub(r"\2", " ".join(text.split())).strip()


def _item(lines: list[str]) -> Item:
    mark = _MARK.match(lines[0])
    raw = "\n".join(lines)
    if mark is None:
        return Item(plain(raw), raw)
    digits = mark["number"] or mark["named"]
    # An opening emphasis that closes right behind the mark belongs to the mark.
    text = raw[mark.end() :]
    if raw[: mark.end()].count("**") == 1 and text.count("**") % 2:
        text = "**" + text
    return Item(plain(text), raw, int(digits) if digits else None)
