"""What a text names that no longer exists: what it became, how that is known, and the text
with the new names.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from workbench.core.record import minute
from workbench.core.stream.memory import Memory

# The paths, symbols, options and targets of build tools that a text names as things that are there.
#
# Much is taken for a name that is none: what nobody finds in the past of a working tree is not said
# to be missing.


NameKind = Literal["path", "symbol", "target", "option"]

REPORTS = frozenset((
    "error", "failure", "code_change", "test_result", "tool_output", "production_incident", "test_failure",
    "test_success", "bug_fix", "feature_implementation", "refactoring", "configuration_change",
    "code_review_feedback", "dependency_change", "file_read",
))  # fmt: skip
"""Types of observations that say what happened: what they name was there then."""

INSTRUCTING = frozenset(("instruction", "convention", "command", "gotcha", "pattern", "correction"))
"""Types of observations that say what holds, whatever kind of memory they are."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a text: `text` is what is looked for, `written` how it stands there.

    A path is relative, with `/`, and may lack its first folders; a symbol is one identifier; a
    target is what `tool` (make, just, npm) is asked to run; an option is one of a command, with its
    dashes.
    """

    kind: NameKind
    text: str
    written: str
    tool: str = ""


_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+|\s+—\s+")
_PAST = re.compile(
    r"(?<![\w/.-])(?:renamed|removed|deleted|gone|no longer|used to|formerly|previously|once was|moved|replaced|"
    r"deprecated|dropped|(?:does|do|did)(?: not|n['’]t) exist|there (?:is|was) no|will be|planned|todo|not yet)"
    r"(?![\w/-]|\.\w)",
    re.I,
)
"""Of what is said so it is known that it is not there, or not yet."""

_INSTEAD = re.compile(r"\b(?:instead of|rather than|in place of)\b", re.I)

_ENDINGS = (
    "py|pyi|pyx|js|jsx|mjs|cjs|ts|tsx|vue|svelte|rs|go|java|kt|scala|rb|php|cs|swift|c|h|cc|cpp|hpp|m|lua|pl|r|jl|ex|"
    "exs|erl|hs|ml|clj|sh|bash|zsh|fish|ps1|bat|sql|proto|graphql|html|css|scss|less|xml|json|jsonl|toml|yaml|yml|ini|"
    "cfg|conf|env|lock|md|rst|txt|csv|tf|gradle|cmake|mk|ipynb|service|j2|tmpl"
)
_PATH = re.compile(
    rf"(?<![\w/.~$@:%+=-])(?P<path>(?:\./)?(?:[\w.@+-]+/)+(?:[\w.@+-]*\w)?|[\w.+-]+\.(?:{_ENDINGS}))(?![\w/*<{{$(]|-\w)"
)
_QUOTED = re.compile(r"`([^`\n]{1,200})`")
_DOTTED = re.compile(
    r"(?<![\w./~$@:%-])([A-Za-z_]\w*(?:(?:\.|::|#)[A-Za-z_]\w*)*)(\(\)?)?(?![\w/-])"
)
_SHAPED = re.compile(
    r"[a-z0-9]*_?[a-z0-9]+(?:_[a-z0-9]+)+_?|_[a-z]\w+|(?:[A-Z][a-z0-9]+){2,}[A-Z]?|[a-z]+[a-z0-9]*(?:[A-Z][a-z0-9]+)+|"
    r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"
)
"""An identifier that no word of a sentence is taken for: joined by underscores, or by capitals."""

_TARGETS: Mapping[str, re.Pattern[str]] = {
    "make": re.compile(r"(?<![\w-])make\s+(?:-\w+\s+)*([a-zA-Z][\w.-]*\w)(?![\w/=])"),
    "just": re.compile(r"(?<![\w-])just\s+([a-z][\w-]*\w)(?![\w/=])"),
    "npm": re.compile(
        r"(?<![\w-])(?:npm|pnpm|yarn|bun)\s+(?:run(?:-script)?\s+)?([a-z][\w:-]*\w)(?![\w/=@])"
    ),
}
_MODULE = re.compile(r"\bpython[\d.]*\s+-m\s+([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*(?![\w-])")
_LEAST = 3
"""Characters of a symbol."""


def is_checked(memory: Memory) -> bool:
    """Tell whether a memory says what holds: living, and an instruction, knowledge or a way of
    doing, not a report.
    """
    if memory.status == "archived" or memory.observation_type in REPORTS:
        return False
    return (
        memory.memory_type in ("semantic", "procedural") or memory.observation_type in INSTRUCTING
    )


def names_in(text: str) -> tuple[Name, ...]:
    """Return the names of a text, each once, in its order; none of a sentence that speaks of what
    is not there.
    """
    found: dict[tuple[str, str], Name] = {}
    for sentence in _SENTENCE.split(text):
        if not _PAST.search(sentence):
            for name in _of_sentence(_INSTEAD.split(sentence)[0]):
                found.setdefault((name.kind, name.text), name)
    return tuple(found.values())


def is_shaped(word: str) -> bool:
    """Tell whether a word looks like an identifier, and like no word of a sentence."""
    return _SHAPED.fullmatch(word) is not None


def _of_sentence(sentence: str) -> Iterator[Name]:
    taken = []
    for match in _PATH.finditer(sentence):
        name = _path(match["path"])
        if name is not None:
            taken.append(match.span())
            yield name
    for match in _MODULE.finditer(sentence):
        taken.append(match.span(1))
        yield Name("path", match[1].replace(".", "/") + ".py", match[1])
    for tool, pattern in _TARGETS.items():
        for match in pattern.finditer(sentence):
            taken.append(match.span(1))
            yield Name("target", match[1], match[1], tool)
    yield from (Name("option", option, option) for option in _OPTION.findall(sentence))
    quoted = [match.span(1) for match in _QUOTED.finditer(sentence)]
    for match in _DOTTED.finditer(sentence):
        if not _within(match.span(), taken):
            yield from _symbols(match[1], bool(match[2]), _within(match.span(), quoted))


def _path(written: str) -> Name | None:
    text = written.removeprefix("./").rstrip("/")
    parts = text.split("/")
    if (
        not text
        or ".." in parts
        or any(not part.strip(".") for part in parts)
        or not re.search("[A-Za-z]", text)
    ):
        return None
    return Name("path", text, text)


def _symbols(dotted: str, called: bool, quoted: bool) -> Iterator[Name]:
    parts = re.split(r"\.|::|#", dotted)
    for place, part in enumerate(parts):
        is_last = place == len(parts) - 1
        if len(part) >= _LEAST and (is_shaped(part) or quoted or (called and is_last)):
            yield Name("symbol", part, part)


def _within(span: tuple[int, int], others: list[tuple[int, int]]) -> bool:
    return any(begin <= span[0] and span[1] <= end for begin, end in others)


@dataclass(frozen=True, slots=True)
class Gone:
    """A name whose thing is not in the working tree, and what became of it.

    `now` is its new name as far as one is known, and is there. `commit` is the one that took it
    away, made `at` a time; both empty where the change is in the working tree only. `place` is the
    file in which that was.
    """

    name: Name
    now: str = ""
    commit: str = ""
    at: datetime | None = None
    place: str = ""


def why(gone: Gone) -> str:
    """Return what became of a name, in words."""
    what = f"{gone.name.tool} " if gone.name.kind == "target" else ""
    happened = f"is {what}{gone.now} now" if gone.now else "no longer exists"
    place = f" in {gone.place}" if gone.place and gone.name.kind != "path" else ""
    by = f"commit {gone.commit[:10]}" if gone.commit else "not committed yet"
    when = f" of {minute(gone.at)[:10]}" if gone.at else ""
    return f"{what}{gone.name.written} {happened} ({by}{when}{place})"


def corrected(text: str, found: Iterable[Gone]) -> str:
    """Return a text with the new names of what has one, each put in wherever it stands by itself."""
    for gone in found:
        if gone.now:
            pattern = rf"(?<![\w/-]){re.escape(gone.name.written)}(?![\w/-]|\.\w)"
            text = re.sub(pattern, gone.now.replace("\\", r"\\"), text)
    return text
