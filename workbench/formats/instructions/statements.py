"""What an instruction file says, statement by statement, each so that it can be understood alone.

A statement carries the headings above it, the sentence that leads to its list, and the items below it. What stands
under a heading or a sentence that forbids is a warning and says under which. Tables, code, check lists, comments and
what other programs wrote between their marks are no statements.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace

from workbench.core.files.textedit import Line, lines
from workbench.formats.shared import markdown
from workbench.formats.shared.markdown import Statement, heading_of

_FORBIDS = re.compile(
    r"\b(?:do not|don['’]?ts?|don['’]ts|never|avoid|anti-?patterns?|forbidden|prohibited|not allowed|disallowed|"
    r"bad|wrong|incorrect|mistakes?|pitfalls?|must not|mustn['’]t|should not|shouldn['’]t|cannot|can['’]t|"
    r"not to(?: do)?|no-?gos?|off[- ]limits|out of scope|not recommended|discouraged|deprecated|banned|red flags?|"
    r"smells?|non-goals?)\b|[❌🚫⛔✗✘]",
    re.IGNORECASE,
)
_ALLOWS = re.compile(
    r"^\W*(?:do|dos|do['’]s|good|better|correct|right|instead|preferred|prefer|always|allowed|must|recommended|use|"
    r"fix|solution)\b(?![ ]+not\b)|^\W*[✅✓✔]",
    re.IGNORECASE,
)
_MIXED = re.compile(
    r"\bdo['’]?s?\s*(?:and|&|/|\||vs\.?|or|,)\s*(?:do not|don['’]?t)|"
    r"\b(?:good|right|correct|always)\b.{0,12}\b(?:bad|wrong|incorrect|never)\b|"
    r"\b(?:bad|wrong|incorrect|never)\b.{0,12}\b(?:good|right|correct|always)\b",
    re.IGNORECASE,
)
_NEVERTHELESS = re.compile(
    r"\b(?:(?:do not|don['’]t|never) (?:forget|hesitate|skip|miss|neglect|ignore)|to avoid|avoid\w* .{1,40} by|"
    r"if .{0,40}(?:not|wrong|bad)|when .{0,40}(?:not|wrong|bad)|why .{0,40}(?:not|wrong|bad)|not only)\b",
    re.IGNORECASE,
)
_SHOWN_BAD = re.compile(r"^\W{0,4}(?:bad|wrong|incorrect|anti-?pattern|don['’]t do)\b\W|^\s*[❌🚫⛔✗✘]", re.IGNORECASE)
_LEANS = re.compile(
    r"(?:this|that|these|those|it|they|he|she|otherwise|then|also|instead|however|but|and|or|so|such|for example|e\.g|"
    r"for instance|see (?:above|below)|as above|the (?:above|former|latter|following)|likewise|both|alternatively)\b",
    re.IGNORECASE,
)
_CHECK = re.compile(r"\[[ xX~-]?\]\s")
_RULED = re.compile(r"[ \t]*\|?[ \t]*:?-{2,}[-:| \t]*")
_FENCE = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_NUMBERED = re.compile(r"[ \t]*[0-9]{1,9}[.)][ \t]")
_UNDERLINE = re.compile(r" {0,3}(=+|-{3,})[ \t]*$")
_WORD = re.compile(r"[^\W_]{2,}")
_FEWEST_WORDS = 3
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
        for said in (self.lead, *reversed(self.path)):
            if _MIXED.search(said):
                return None
            if _NEVERTHELESS.search(said) or _ALLOWS.search(said):
                return False
            if _FORBIDS.search(said):
                return True
        return False


def statements(text: str) -> Iterator[Said]:
    """Yield what a file says that can be understood alone."""
    numbered: list[Statement] = []
    under, last = _Under(), _Under()
    heads = _headings(text)
    starts, paths = list(heads), _paths(heads)
    places = {line.number: line.text for line in lines(text)}
    for one in _own(text):
        path = paths[bisect_right(starts, one.line)]
        if path != under.path:
            under = _Under(path)
        steps = one.kind == "item" and _NUMBERED.match(places[one.line]) is not None
        if numbered and (not steps or under != last):
            yield from _made(_joined(numbered), last)
            numbered = []
        last = under
        if steps:
            numbered.append(one)
        elif one.kind == "item":
            yield from _made(one, under)
        elif one.line not in heads:
            leads = one.text.rstrip("*_ ").endswith(":") and "\n\n" not in one.text and not _FENCE.search(one.text)
            under = replace(under, lead=_flat(one.text) if leads else "")
            yield from _made(one, under) if not leads else ()
    if numbered:
        yield from _made(_joined(numbered), last)


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


def _joined(steps: list[Statement]) -> Statement:
    """Return the steps of a numbered list as one statement: they are nothing one by one."""
    if len(steps) == 1:
        return steps[0]
    said = (f"{number}. " + one.text.replace("\n", "\n   ") for number, one in enumerate(steps, 1))
    return replace(steps[0], text="\n".join(said))


def _made(one: Statement, under: _Under) -> Iterator[Said]:
    """Yield a statement with what it stands under, unless it is not to be understood without the rest of the file."""
    said = one.text.strip()
    leaves = one.kind == "code" or _FENCE.search(said) or _is_table(said) or _CHECK.search(said)
    if leaves or said.startswith(("<", "@", "![", "[!")) or len(_WORD.findall(said)) < _FEWEST_WORDS:
        return
    first = said.partition("\n")[0].rstrip("*_ ")
    if _LEANS.match(said.lstrip('*_`"“')) or (first == said.rstrip("*_ ") and first.endswith(":")):
        return
    forbids = under.forbids()
    if forbids is None:
        return
    above = _above(under, said)
    opening = _flat(first)
    nested_under_no = first.endswith(":") and "\n" in said and _Under(lead=opening).forbids()
    warns = bool(forbids or nested_under_no or _SHOWN_BAD.search(said))
    text = f"{above}: {said}" if above else said
    if warns:
        text = f"Warning, under “{above}”: {said}" if above else f"Warning: {said}"
    yield Said(one.line, text, under.path[-1] if under.path else "", warns)


def _is_table(said: str) -> bool:
    rows = said.split("\n")
    return said.startswith("|") or any("|" in row and _RULED.fullmatch(row) for row in rows)


def _above(under: _Under, said: str) -> str:
    lead = under.lead.rstrip(": ")
    steps = "\n" in said and _NUMBERED.match(said)
    path = " › ".join(under.path)
    above = f"{path}, {lead}" if path and lead else path or lead
    return f"{above}, step by step" if steps and above else above


def _flat(text: str) -> str:
    return " ".join(text.replace("**", "").replace("__", "").split())


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
            found[line.number] = (len(line.text.lstrip()) - len(line.text.lstrip().lstrip("#")), _flat(said))
        elif mark and before is not None and _is_title(before):
            found[before.number] = (1 if mark[1][0] == "=" else 2, _flat(before.text))
        before = line if plain and said is None and line.text.strip() else None
    return found


def _is_title(line: Line) -> bool:
    return re.match(r" {0,3}[^\s\-*+#>|<\d:]", line.text) is not None and not line.text.rstrip().endswith((".", ":"))


def _paths(heads: dict[int, tuple[int, str]]) -> list[tuple[str, ...]]:
    """Return the headings that are above, from the outermost on, before the first heading and below each.

    The title of the file is one only where nothing else is.
    """
    path: list[tuple[int, str]] = []
    out: list[tuple[str, ...]] = [()]
    for depth, said in heads.values():
        while path and path[-1][0] >= depth:
            path.pop()
        path.append((depth, said))
        kept = path[1:] if len(path) > 1 and path[0][0] == 1 else path
        out.append(tuple(said for _, said in kept if said))
    return out
