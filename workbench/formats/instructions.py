"""Instruction files: `AGENTS.md`, `CLAUDE.md`, `GEMINI.md`, rules of editors, `SKILL.md`.

They are documents that a tool loads whole, no heaps of memories: reading one makes no records. Its
statements can be asked for, and are candidates then.
"""

import posixpath
import re
import textwrap
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath, PurePosixPath
from typing import NamedTuple

from workbench.core.files.format import Clues, Format, Parsed, ReadContext, Reason
from workbench.core.files.lint import headings, lines
from workbench.core.files.memory_md import front_matter
from workbench.core.stream.memory import FILE_KEY, Memory, Source
from workbench.formats.lifecycle import content_id
from workbench.formats.shared import markdown
from workbench.formats.shared.markdown import Statement
from workbench.formats.shared.records import created_at, joined, made, place
from workbench.formats.shared.report import Report, shown
from workbench.formats.shared.values import Notes, flat

# The files that an instruction file imports by `@path`, as Claude Code reads them.


DEEPEST = 5
"""How many files away an import is followed."""

_AT = re.compile(r"(?:(?<=\s)|^)@([^\s`@]+)")
_CODE = re.compile(r"(`+).*?\1")
_SUFFIXES = ("", ".md", ".mdc", ".mdx", ".markdown", ".txt")
_PLACES = ("./", "../", "~/", "/")


class Imported(NamedTuple):
    """A file that is imported on a `line` of the first one, by its path from there; `text` is
    `None` when not read.
    """

    line: int
    path: str
    text: str | None


def imported(text: str, name: str, beside: Callable[[str], str | None]) -> Iterator[Imported]:
    """Yield each file that a text and its imports name once, however they name each other; `name`
    is its own.
    """
    waiting, seen = [(0, name, text, 0)], {name}
    while waiting:
        first, within, said, depth = waiting.pop(0)
        for line, one in named(said):
            here = posixpath.join(posixpath.dirname(within), one)
            path = one if one.startswith("~/") else posixpath.normpath(here)
            there = None if path in seen else beside(path)
            if path in seen or (there is None and not _is_path(one)):
                continue
            seen.add(path)
            yield Imported(first or line, path, there)
            if there is not None and depth + 1 < DEEPEST:
                waiting.append((first or line, path, there, depth + 1))


def missing(text: str, exists: Callable[[str], bool]) -> Iterator[tuple[int, str]]:
    """Yield the line and the path of each import of a file that does not exist."""
    return ((line, name) for line, name in named(text) if _is_path(name) and not exists(name))


def named(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of what may be an import: `@name` outside code."""
    for line in lines(text):
        for found in (
            () if line.code or "@" not in line.text else _AT.finditer(_CODE.sub(" ", line.text))
        ):
            name = found[1].rstrip(".,;:!?)\"'*_")
            if PurePosixPath(name).suffix.lower() in _SUFFIXES and "://" not in name:
                yield line.number, name


def _is_path(name: str) -> bool:
    """Tell a path from a person, a package or a decorator, whether or not there is such a file."""
    return name.startswith(_PLACES) or bool(PurePosixPath(name).suffix)


# What a heading, a sentence that leads to a list, or a statement itself says of what is to be done.


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
    r"^\W*to avoid\b|\b(?:(?:do not|don['’]t|never) (?:forget|hesitate|skip|miss|neglect|ignore)|"
    r"(?:how|order) to avoid|avoid\w* .{1,40} by|(?:if|when|why) .{0,40}(?:not|wrong|bad)|not only)\b",
    re.IGNORECASE,
)
_SHOWN_BAD = re.compile(
    r"^\W{0,4}(?:bad|wrong|incorrect|anti-?pattern|don['’]t do)\b\W|^\s*[❌🚫⛔✗✘]", re.IGNORECASE
)
_SHOWN_GOOD = re.compile(
    r"^\W{0,4}(?:do this(?: instead)?|instead|do|good|better|correct|right|fix|solution|preferred|recommended)\W{0,3}:|"
    r"^\s*[✅✓✔]",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"^\W*(?:if|when|whenever|where|once|unless|until|in case|while|as long as)\b", re.IGNORECASE
)
_OF_ONE_THING = re.compile(
    r"\b(?:do not|don['’]?t|never|avoid)\s+"
    r"(?!(?:do|doing|the following|these|those|this|any of|in|on|at|when|if|for)\b)\S+\s+\S+",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])[\"”’)*_]*\s+(?=\S)")


def forbids(said: str) -> bool | None:
    """Whether what stands under a heading or a leading sentence is not to be done; `None` when that
    cannot be told.

    Of several sentences the last one leads; a condition forbids nothing. What stands under the
    prohibition of one thing is mostly its reason, or what to do instead.
    """
    last = _SENTENCE.split(said.strip())[-1]
    if _CONDITION.search(last):
        last = last.partition(",")[2]
    if _MIXED.search(last):
        return None
    if _NEVERTHELESS.search(last) or _ALLOWS.search(last) or not _FORBIDS.search(last):
        return False
    return None if _OF_ONE_THING.search(last) else True


def speaks(said: str) -> bool:
    """Whether a heading or a leading sentence says of what is below it if that is to be done."""
    last = _SENTENCE.split(said.strip())[-1]
    return bool(_FORBIDS.search(last) or _ALLOWS.search(last))


def says_no(said: str) -> bool:
    """Whether a statement begins with a prohibition of its own."""
    return (
        re.match(r"^\W*(?:do not|don['’]?t|never|avoid|no|beware)\b", said, re.IGNORECASE)
        is not None
    )


# What an instruction file says, statement by statement, each so that it can be understood alone.
#
# A statement carries the headings above it, the sentence that leads to its list, and the items
# below it. What stands under a heading or a sentence that forbids is a warning and says under
# which. Tables, code, check lists, comments and what other programs wrote between their marks are
# no statements.


_LEANS = re.compile(
    r"(?:this|that|these|those|it|they|he|she|otherwise|then|also|instead|however|but|and|or|so|such|for example|e\.g|"
    r"for instance|see (?:above|below)|as above|the (?:above|former|latter|following)|likewise|both|alternatively|"
    r"exception|in other words|therefore|thus|similarly|additionally|having|examples?|why it['’]?s)\b",
    re.IGNORECASE,
)
_STATEMENTS_CODE = re.compile(r"`[^`\n]*`")
_CHECK = re.compile(r"\[[ xX~-]?\]\s")
_RULED = re.compile(r"[ \t]*\|?[ \t]*:?-{2,}[-:| \t]*")
_FENCE = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_NUMBERED = re.compile(r"[ \t]*([0-9]{1,9})[.)][ \t]")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+\S")
_WORD = re.compile(r"[^\W_]{2,}")
_BOLD = re.compile(r"(\*\*|__)(?:(?!\1).)+\1\s*(?:\([^\n]*\))?:?")
_ONLY_A_LINK = re.compile(r"\W*\[[^\]]*\]\([^)]*\)\W*")
_SEE = re.compile(r"see (?:\S+ ?){1,4}$", re.IGNORECASE)
_FACTS = re.compile(r"[\w-]+: \S.*(?:\n[\w-]+: \S.*)+")
_REFERS_BACK = re.compile(r"(?:\S+\s+){1,5}(?:otherwise|as well|too)\W*", re.IGNORECASE)
_QUOTED = re.compile(r"^>[ ]?", re.MULTILINE)
_UNPARTED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_YAML = re.compile(
    r"(?:[ \t]*(?:#[^\n]*)?\n)*[\w-]+:[ \t]*\n[ \t]*(?:#[^\n]*\n[ \t]*)*(?:- )?[\w-]+:"
)
_FEWEST_WORDS, _FEWEST_SIGNS = 3, 6
_SHORT, _MOST_SHORT, _TITLE = 9, 12, 5
"""Words of an item that says little without its list, items of such a list, words of an item that
is a title.
"""

_BEGINS, _ENDS = frozenset({"begin", "start"}), frozenset({"end", "stop"})


class Said(NamedTuple):
    """One statement: the line it starts on, its text with what it stands under, and whether it says
    what not to do.
    """

    line: int
    text: str
    section: str = ""
    forbids: bool = False


@dataclass(frozen=True, slots=True)
class _Under:
    """What a statement stands under: the headings from the outermost on, and the sentence that
    leads to its list.
    """

    path: tuple[str, ...] = ()
    lead: str = ""

    def forbids(self) -> bool | None:
        """Whether what stands here is not to be done; `None` when that cannot be told."""
        said = next((one for one in (self.lead, *reversed(self.path)) if one and speaks(one)), "")
        return forbids(said) if said else False


def statements(text: str, *, titled: bool = False) -> Iterator[Said]:
    """Yield what a file says that can be understood alone; one that is YAML throughout has no
    statements.

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
    """Return the number of a step; nothing for an item without one, and one for one that begins
    with nothing.
    """
    found = _NUMBERED.match(row)
    return max(int(found[1]), 1) if found else 0


def _lead_of(one: Statement) -> str:
    """Return what a paragraph says of the list below it, empty when it is a statement of its own."""
    said = one.text.strip()
    leads = said.rstrip("*_ ").endswith((":", ";")) or _BOLD.fullmatch(said) is not None
    return _flat(said) if leads and "\n\n" not in said and not _FENCE.search(said) else ""


def _listed(group: Sequence[Statement], under: _Under, first: int) -> Iterator[Said]:
    """Yield a list: by its titles where it has some, as a whole where its items say little alone,
    else item by item.

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
    """Tell whether an item stands alone, under nothing, and is a few words that lead to something
    else.
    """
    return (
        len(group) == 1
        and under == _Under()
        and len(group[0].text.split()) <= _TITLE
        and _is_open(group[0].text)
    )


def _is_open(said: str) -> bool:
    return not says_no(said) and not said.rstrip().endswith((".", "!"))


def _may_be_either(one: Statement, group: Sequence[Statement], under: _Under) -> bool:
    """Tell whether nobody can know if an item is to be done: most under a heading that forbids say
    so themselves.

    “Pitfalls: do not block; avoid clones; run the linter” tells in the last one what to do, and in
    others what not to.
    """
    own = sum(says_no(other.text) for other in group)
    return not says_no(one.text) and own * 2 >= len(group) > 1 and under.forbids() is True


def _is_short(group: Sequence[Statement]) -> bool:
    words = [len(one.text.split()) for one in group]
    return 1 < len(group) <= _MOST_SHORT and max(words) <= _SHORT


def _title_of(one: Statement) -> str:
    """Return the title that an item is for the items within it; empty when it is none, or forbids
    something itself.
    """
    title, _, rest = one.text.partition("\n")
    flat = _flat(title).rstrip(": ")
    is_title = (
        len(flat.split()) <= _TITLE and not flat.endswith((".", "!", "?")) and "`" not in flat
    )
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
    yield from _listed(
        [inner for inner in inside if inner.kind == "item"], replace(under, lead=lead), first
    )


def _own(text: str) -> Iterator[Statement]:
    """Yield the statements that a person wrote: none of front matter, and none between the marks of
    a program.
    """
    _, skip = front_matter(text)
    inside = False
    for one in markdown.statements(text, skip):
        if one.kind == "comment":
            words = _WORD.findall(one.text.lower())
            ends = {*words[:1], *words[-1:]} | (
                {"end"} if one.text.startswith(("<!-- /", "<!--/")) else set()
            )
            inside = (inside or not _BEGINS.isdisjoint(ends)) and _ENDS.isdisjoint(ends)
        elif not inside:
            yield one


def _joined(steps: Sequence[Statement], first: int) -> Statement:
    """Return the steps of a numbered list as one statement: they are nothing one by one."""
    said = (
        f"{number}. " + one.text.replace("\n", "\n   ") for number, one in enumerate(steps, first)
    )
    return replace(steps[0], text="\n".join(said))


def _made(one: Statement, under: _Under) -> Iterator[Said]:
    """Yield a statement with what it stands under, unless it is not to be understood without the
    rest of the file.
    """
    said = _QUOTED.sub("", one.text).strip()
    if _stays(one, said) or _LEANS.match(under.lead):
        return
    first = said.partition("\n")[0].rstrip("*_ ")
    forbidden = under.forbids()
    if _SHOWN_GOOD.search(said):
        forbidden = False
    elif forbidden is None and not says_no(said):
        return
    opening = _flat(first)
    nested_under_no = first.endswith(":") and "\n" in said and forbids(opening)
    warns = bool(forbidden or forbidden is None or nested_under_no or _SHOWN_BAD.search(said))
    above = _above(under)
    gap = "\n" if said.startswith("- ") and "\n" in said else " "
    text = f"{above}:{gap}{said}" if above else said
    if warns:
        text = f"Warning, under “{above}”:{gap}{said}" if above else f"Warning: {said}"
    yield Said(one.line, text, under.path[-1] if under.path else "", warns)


def _stays(one: Statement, said: str) -> bool:
    """Tell whether a statement stays in the document: it is no sentence, or leans on what stands
    before it.
    """
    no_text = one.kind == "code" or _FENCE.search(said) or _is_table(said) or _CHECK.search(said)
    if no_text or said.startswith(("<", "@", "![", "[!")) or _is_scanty(said):
        return True
    if _ONLY_A_LINK.fullmatch(said) or _SEE.match(said) or _FACTS.fullmatch(said):
        return True
    first = said.partition("\n")[0].rstrip("*_ ")
    ends_early = first == said.rstrip("*_ ") and first.endswith((":", ";"))
    leans = _LEANS.match(said.lstrip('*_`"“')) or _REFERS_BACK.fullmatch(said)
    return bool(ends_early or leans or not _STATEMENTS_CODE.sub("", said).strip(" .,;:()"))


def _is_scanty(said: str) -> bool:
    """Tell whether a text has too few words to say something; of a script without spaces its signs
    are counted.
    """
    return len(_WORD.findall(said)) < _FEWEST_WORDS and len(_UNPARTED.findall(said)) < _FEWEST_SIGNS


def _is_table(said: str) -> bool:
    rows = said.split("\n")
    return said.startswith("|") or any("|" in row and _RULED.fullmatch(row) for row in rows)


def _above(under: _Under) -> str:
    lead = under.lead.rstrip(":; ")
    path = " › ".join(under.path)
    return f"{path}, {lead}" if path and lead else path or lead


def _flat(text: str) -> str:
    return flat(text.replace("**", "").replace("__", ""))


def _heading(text: str) -> str:
    """Return what a heading says, without the colon that it may end with: what stands below follows
    one of ours.
    """
    return _flat(text).rstrip(": ")


def _headings(text: str) -> dict[int, tuple[int, str]]:
    """Return the headings by their line: how deep each is, and what it says."""
    _, skip = front_matter(text)
    hidden = {
        number for found in _COMMENT.finditer(text) for number in _lines_within(text, *found.span())
    }
    shown = (line for line in lines(text) if line.number > skip and line.number not in hidden)
    return {one.line.number: (one.depth, _heading(one.title)) for one in headings(shown)}


def _lines_within(text: str, start: int, end: int) -> range:
    """Return the numbers of the lines that begin within a part of a text."""
    first = text.count("\n", 0, start) + 2
    return range(first, first + text.count("\n", start, end))


def _paths(heads: dict[int, tuple[int, str]], *, titled: bool) -> list[tuple[str, ...]]:
    """Return the headings that are above, from the outermost on, before the first heading and below
    each.

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


NAME = "instructions"
detect = Clues((
    (0.8, "known by its name", "",
     r"(?i)(?:^|/)(?:(?:AGENTS?|CLAUDE|GEMINI|CLAUDE\.local|AGENTS\.override|SKILL|copilot-instructions|"
     r"[\w.-]+\.instructions)\.md|\.(?:cursor|windsurf|cline|roo)rules|[\w .-]+\.mdc)$"),
    (0.6, "in a folder of rules", "",
     r"(?:^|/)\.(?:cursor|windsurf|clinerules|roo|github/instructions)(?:/[^/]+)*/[^/]+\.mdc?$"),
))  # fmt: skip
"""Their contents are anybody's Markdown: they are known by name only."""


def read(text: str, context: ReadContext) -> Parsed:
    """Read no record; with `context.as_candidates` every statement that can be understood alone,
    imported ones, too.
    """
    report = Report(context.file)
    # Other files are a project's: what they are about is known where they lie.
    name = PurePath(context.path or context.file).name
    said = [(name, one) for one in statements(text, titled=name.lower() == "skill.md")]
    for file in imported(text, name, context.beside):
        read = (
            "not read, as it is not there or outside the project"
            if file.text is None
            else "read as a part of it"
        )
        report.remark(file.line, Reason("it imports {}: {}", (shown(file.path), read)))
        said += [(file.path, one) for one in statements(file.text or "")]
    if not context.as_candidates:
        report.remark(
            1, "an instruction file is a document that agents load whole: no record is made of it"
        )
        return replace(report.parsed(NAME), offered=len(said))
    rows = ((one.line, (name, one), ()) for name, one in said)
    found = report.every(rows, lambda row: _memory(row[1], row[0], context), by_text=True)
    return report.parsed(NAME, memories=found)


def _memory(one: Said, name: str, context: ReadContext) -> tuple[Memory, Notes]:
    notes: Notes = []
    parts = ("doc", place(context), content_id(one.text).removeprefix("imp-"))
    memory = made(
        context,
        notes,
        joined(*parts),
        one.text,
        created_at({}, (), context, notes),
        "gotcha" if one.forbids else "instruction",
        memory_type="procedural",
        category="warning" if one.forbids else "",
        section=one.section,
        status="candidate",
        source=Source(file=name),
        metadata={"line": one.line, FILE_KEY: {"format": NAME, "name": name}},
    )
    return memory, notes


FORMAT = Format(NAME, "instruction file (Markdown)", detect, read)
