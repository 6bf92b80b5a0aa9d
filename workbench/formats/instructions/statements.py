"""What an instruction file says, statement by statement, each so that it can be understood alone.

A statement carries the headings above it, the sentence that leads to its list, and the items below it. What stands
under a heading or a sentence that forbids is a warning and says under which. Tables, code, check lists, comments and
what other programs wrote between their marks are no statements.
"""

import re
import textwrap
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from workbench.core.files.textedit import Line, lines
from workbench.formats.instructions.meaning import forbids, is_shown_bad, is_shown_good, says_no, speaks
from workbench.formats.shared import markdown
from workbench.formats.shared.markdown import Statement, heading_of

_LEANS = re.compile(
    r"(?:this|that|these|those|it|they|he|she|otherwise|then|also|instead|however|but|and|or|so|such|for example|e\.g|"
    r"for instance|see (?:above|below)|as above|the (?:above|former|latter|following)|likewise|both|alternatively|"
    r"exception|in other words|therefore|thus|similarly|additionally|having|examples?|why it['’]?s)\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"`[^`\n]*`")
_CHECK = re.compile(r"\[[ xX~-]?\]\s")
_RULED = re.compile(r"[ \t]*\|?[ \t]*:?-{2,}[-:| \t]*")
_FENCE = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_NUMBERED = re.compile(r"[ \t]*([0-9]{1,9})[.)][ \t]")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+\S")
_UNDERLINE = re.compile(r" {0,3}(=+|-{3,})[ \t]*$")
_WORD = re.compile(r"[^\W_]{2,}")
_BOLD = re.compile(r"(\*\*|__)(?:(?!\1).)+\1\s*(?:\([^\n]*\))?:?")
_ONLY_A_LINK = re.compile(r"\W*\[[^\]]*\]\([^)]*\)\W*")
_SEE = re.compile(r"see (?:\S+ ?){1,4}$", re.IGNORECASE)
_FACTS = re.compile(r"[\w-]+: \S.*(?:\n[\w-]+: \S.*)+")
_REFERS_BACK = re.compile(r"(?:\S+\s+){1,5}(?:otherwise|as well|too)\W*", re.IGNORECASE)
_QUOTED = re.compile(r"^>[ ]?", re.MULTILINE)
_UNPARTED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_YAML = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*[\w-]+:[ \t]*\n[ \t]*(?:#[^\n]*\n[ \t]*)*(?:- )?[\w-]+:")
_FEWEST_WORDS, _FEWEST_SIGNS = 3, 6
_SHORT, _MOST_SHORT, _TITLE = 9, 12, 5
"""Words of an item that says little without its list, items of such a list, words of an item that is a title."""

_BEGINS, _ENDS = frozenset({"begin", "start"}), frozenset({"end", "stop"})


@dataclass(frozen=True, slots=True)
class Said:
    """One statement: the line it starts on, its text with what it stands under, and whether it says what not to do."""

    line: int
    text: str
    section: str = ""
    forbids: bool = False


@dataclass(frozen=True, slots=True)
class _Under:
    """What a statement stands under: the headings from the outermost on, and the sentence that leads to its list."""

    path: tuple[str, ...] = ()
    lead: str = ""

    def forbids(self) -> bool | None:
        """Whether what stands here is not to be done; `None` when that cannot be told."""
        said = next((one for one in (self.lead, *reversed(self.path)) if one and speaks(one)), "")
        return forbids(said) if said else False


def statements(text: str, *, titled: bool = False) -> Iterator[Said]:
    """Yield what a file says that can be understood alone; one that is YAML throughout has no statements.

    Where it is `titled`, its title says what it is about: each statement stands under that, too.
    """
    if _YAML.match(text.removeprefix("\ufeff")):
        return
    heads = _headings(text)
    starts, paths = list(heads), _paths(heads, titled=titled)
    places = {line.number: line.text for line in lines(text)}
    group: list[Statement] = []
    under, last, first = _Under(), (_Under(), False), 0
    for one in _own(text):
        path = paths[bisect_right(starts, one.line)]
        under = under if path == under.path else _Under(path)
        number = _number(places[one.line]) if one.kind == "item" else 0
        if group and (one.kind != "item" or (under, number > 0) != last):
            yield from _listed(group, under=last[0], first=first)
            group = []
        if one.kind == "item":
            first = first if group else number
            group.append(one)
            last = under, number > 0
        elif one.line not in heads:
            lead = _lead_of(one)
            under = replace(under, lead=lead)
            yield from _made(one, under) if not lead else ()
    yield from _listed(group, under=last[0], first=first)


def _number(row: str) -> int:
    """Return the number of a step; nothing for an item without one, and one for one that begins with nothing."""
    found = _NUMBERED.match(row)
    return max(int(found[1]), 1) if found else 0


def _lead_of(one: Statement) -> str:
    """Return what a paragraph says of the list below it, empty when it is a statement of its own."""
    said = one.text.strip()
    leads = said.rstrip("*_ ").endswith((":", ";")) or _BOLD.fullmatch(said) is not None
    return _flat(said) if leads and "\n\n" not in said and not _FENCE.search(said) else ""


def _listed(group: Sequence[Statement], under: _Under, first: int) -> Iterator[Said]:
    """Yield a list: by its titles where it has some, as a whole where its items say little alone, else item by item.

    `first` is the number of its first step, nothing where its items have none.
    """
    if group and all(map(_title_of, group)):
        for one in group:
            yield from _titled(one, under)
    elif first and len(group) > 1:
        yield from _made(_joined(group, first), under)
    elif _is_short(group) and under.lead:
        whole = "\n".join("- " + one.text.replace("\n", "\n  ") for one in group)
        yield from _made(replace(group[0], text=whole), under)
    else:
        for one in group if not _is_remnant(group, under) else ():
            if not _may_be_either(one, group, under):
                yield from _made(one, under)


def _is_remnant(group: Sequence[Statement], under: _Under) -> bool:
    """Tell whether an item stands alone, under nothing, and is a few words that lead to something else."""
    return len(group) == 1 and under == _Under() and len(group[0].text.split()) <= _TITLE and _is_open(group[0].text)


def _is_open(said: str) -> bool:
    return not says_no(said) and not said.rstrip().endswith((".", "!"))


def _may_be_either(one: Statement, group: Sequence[Statement], under: _Under) -> bool:
    """Tell whether nobody can know if an item is to be done: most under a heading that forbids say so themselves.

    “Pitfalls: do not block; avoid clones; run the linter” tells in the last one what to do, and in others what not to.
    """
    own = sum(says_no(other.text) for other in group)
    return not says_no(one.text) and own * 2 >= len(group) > 1 and under.forbids() is True


def _is_short(group: Sequence[Statement]) -> bool:
    words = [len(one.text.split()) for one in group]
    return 1 < len(group) <= _MOST_SHORT and max(words) <= _SHORT


def _title_of(one: Statement) -> str:
    """Return the title that an item is for the items within it; empty when it is none, or forbids something itself."""
    title, _, rest = one.text.partition("\n")
    flat = _flat(title).rstrip(": ")
    is_title = len(flat.split()) <= _TITLE and not flat.endswith((".", "!", "?")) and "`" not in flat
    return flat if is_title and not speaks(flat) and _ITEM.match(rest) else ""


def _titled(one: Statement, under: _Under) -> Iterator[Said]:
    """Yield the items within an item that is their title."""
    lead = f"{under.lead.rstrip(':; ')}, {_title_of(one)}" if under.lead else _title_of(one)
    inside = [
        replace(inner, line=one.line + inner.line)
        for inner in markdown.statements(textwrap.dedent(one.text.partition("\n")[2]))
    ]
    rows = one.text.split("\n")
    first = _number(rows[inside[0].line - one.line]) if inside else 0
    yield from _listed([inner for inner in inside if inner.kind == "item"], replace(under, lead=lead), first)


def _own(text: str) -> Iterator[Statement]:
    """Yield the statements that a person wrote: none of front matter, and none between the marks of a program."""
    _, skip = markdown.front_matter(text)
    inside = False
    for one in markdown.statements(text, skip):
        if one.kind == "comment":
            words = _WORD.findall(one.text.lower())
            ends = {*words[:1], *words[-1:]} | ({"end"} if one.text.startswith(("<!-- /", "<!--/")) else set())
            inside = (inside or not _BEGINS.isdisjoint(ends)) and _ENDS.isdisjoint(ends)
        elif not inside:
            yield one


def _joined(steps: Sequence[Statement], first: int) -> Statement:
    """Return the steps of a numbered list as one statement: they are nothing one by one."""
    said = (f"{number}. " + one.text.replace("\n", "\n   ") for number, one in enumerate(steps, first))
    return replace(steps[0], text="\n".join(said))


def _made(one: Statement, under: _Under) -> Iterator[Said]:
    """Yield a statement with what it stands under, unless it is not to be understood without the rest of the file."""
    said = _QUOTED.sub("", one.text).strip()
    if _stays(one, said) or _LEANS.match(under.lead):
        return
    first = said.partition("\n")[0].rstrip("*_ ")
    forbidden = under.forbids()
    if is_shown_good(said):
        forbidden = False
    elif forbidden is None and not says_no(said):
        return
    opening = _flat(first)
    nested_under_no = first.endswith(":") and "\n" in said and forbids(opening)
    warns = bool(forbidden or forbidden is None or nested_under_no or is_shown_bad(said))
    above = _above(under)
    gap = "\n" if said.startswith("- ") and "\n" in said else " "
    text = f"{above}:{gap}{said}" if above else said
    if warns:
        text = f"Warning, under “{above}”:{gap}{said}" if above else f"Warning: {said}"
    yield Said(one.line, text, under.path[-1] if under.path else "", warns)


def _stays(one: Statement, said: str) -> bool:
    """Tell whether a statement stays in the document: it is no sentence, or leans on what stands before it."""
    no_text = one.kind == "code" or _FENCE.search(said) or _is_table(said) or _CHECK.search(said)
    if no_text or said.startswith(("<", "@", "![", "[!")) or _is_scanty(said):
        return True
    if _ONLY_A_LINK.fullmatch(said) or _SEE.match(said) or _FACTS.fullmatch(said):
        return True
    first = said.partition("\n")[0].rstrip("*_ ")
    ends_early = first == said.rstrip("*_ ") and first.endswith((":", ";"))
    leans = _LEANS.match(said.lstrip('*_`"“')) or _REFERS_BACK.fullmatch(said)
    return bool(ends_early or leans or not _CODE.sub("", said).strip(" .,;:()"))


def _is_scanty(said: str) -> bool:
    """Tell whether a text has too few words to say something; of a script without spaces its signs are counted."""
    return len(_WORD.findall(said)) < _FEWEST_WORDS and len(_UNPARTED.findall(said)) < _FEWEST_SIGNS


def _is_table(said: str) -> bool:
    rows = said.split("\n")
    return said.startswith("|") or any("|" in row and _RULED.fullmatch(row) for row in rows)


def _above(under: _Under) -> str:
    lead = under.lead.rstrip(":; ")
    path = " › ".join(under.path)
    return f"{path}, {lead}" if path and lead else path or lead


def _flat(text: str) -> str:
    return " ".join(text.replace("**", "").replace("__", "").split())


def _heading(text: str) -> str:
    """Return what a heading says, without the colon that it may end with: what stands below follows one of ours."""
    return _flat(text).rstrip(": ")


def _headings(text: str) -> dict[int, tuple[int, str]]:
    """Return the headings by their line: how deep each is, and what it says; also those underlined."""
    hidden = [found.span() for found in _COMMENT.finditer(text)]
    _, skip = markdown.front_matter(text)
    found: dict[int, tuple[int, str]] = {}
    before: Line | None = None
    comments = iter([*hidden, (len(text) + 1, len(text) + 1)])
    start, end = next(comments)
    for line in lines(text):
        while line.start >= end:
            start, end = next(comments)
        plain = not line.code and line.number > skip and not start < line.start < end
        said = heading_of(line.text) if plain else None
        mark = _UNDERLINE.match(line.text) if plain else None
        if said is not None:
            found[line.number] = (len(line.text.lstrip()) - len(line.text.lstrip().lstrip("#")), _heading(said))
        elif mark and before is not None and _is_title(before):
            found[before.number] = (1 if mark[1][0] == "=" else 2, _heading(before.text))
        before = line if plain and said is None and line.text.strip() else None
    return found


def _is_title(line: Line) -> bool:
    return re.match(r" {0,3}[^\s\-*+#>|<\d:]", line.text) is not None and not line.text.rstrip().endswith((".", ":"))


def _paths(heads: dict[int, tuple[int, str]], *, titled: bool) -> list[tuple[str, ...]]:
    """Return the headings that are above, from the outermost on, before the first heading and below each.

    The title of a file is one only where nothing else is, or where it is `titled`.
    """
    path: list[tuple[int, str]] = []
    out: list[tuple[str, ...]] = [()]
    for depth, said in heads.values():
        while path and path[-1][0] >= depth:
            path.pop()
        path.append((depth, said))
        kept = path[1:] if not titled and len(path) > 1 and path[0][0] == 1 else path
        out.append(tuple(said for _, said in kept if said))
    return out
