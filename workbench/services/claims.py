"""A working tree as it is now: which files there are, which words they hold, and what its build
tools can be asked.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from workbench.core.agents.actors import require_person
from workbench.core.claims import Gone, Name, corrected, is_checked, is_shaped, names_in, why
from workbench.core.duplicates.groups import text_mark
from workbench.core.playbook.book import Bullet
from workbench.core.playbook.operations import THEN, Curatable, Delete, Update, to_json
from workbench.core.record import WorkbenchError, as_object, parse_time
from workbench.core.review.proposal import Proposal
from workbench.core.runtime import Cancelled
from workbench.core.stream.memory import Memory
from workbench.services.context import Service
from workbench.services.duplicates.plan import WORKBENCH
from workbench.services.promotion.placements import places_of
from workbench.store.folder import repository_of
from workbench.store.repository import Repository, repository_at

MOST_FILES = 50_000
"""Files and folders that are looked at, at most."""

_LONGEST = 1_000_000
"""Bytes of a file in which words are looked for."""

_PASSED_OVER = frozenset((
    ".git", ".hg", ".svn", "node_modules", ".venv", "venv", ".tox", ".nox", "__pycache__", ".mypy_cache",
    ".ruff_cache", ".pytest_cache", ".workbench", ".idea",
))  # fmt: skip
PROSE = frozenset(
    (
        ".md",
        ".rst",
        ".txt",
        ".adoc",
        ".mdx",
        ".mdc",
        ".org",
        ".log",
        ".lock",
        ".jsonl",
        ".po",
        ".svg",
    )
)
"""Endings of what tells of things rather than has them: a name in a changelog is not there for
that.
"""

_TOOLS = {
    "make": ("makefile", "gnumakefile"),
    "just": ("justfile", ".justfile"),
    "npm": ("package.json",),
}
"""The files in which a tool's targets are, in small letters."""


class WorkingTree:
    """The files below a folder, read once; links are not followed out of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.is_whole = True

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The paths of its files and folders, relative, with `/`."""
        found: list[str] = []
        for above, folders, files in os.walk(self.folder):
            folders[:] = sorted(name for name in folders if name not in _PASSED_OVER)
            begin = Path(above).relative_to(self.folder).as_posix()
            lead = "" if begin == "." else f"{begin}/"
            found += (f"{lead}{name}" for name in (*folders, *sorted(files)))
            if len(found) > MOST_FILES:
                self.is_whole = False
                break
        return tuple(found)

    @cached_property
    def _endings(self) -> frozenset[str]:
        """Every path, and each of its ends that begins with a folder or a file."""
        ends: set[str] = set()
        for path in self.paths:
            ends.add(path)
            while "/" in path:
                path = path.partition("/")[2]
                ends.add(path)
        return frozenset(ends)

    def has_path(self, path: str) -> bool:
        """Tell whether something lies at a path, or at one that ends with it."""
        if path in self._endings:
            return True
        try:
            return os.path.lexists(self.folder / path)
        except ValueError:
            return False

    def has_ending(self, name: Name) -> bool:
        """Tell whether a path is there that a name means, a module's also as a package."""
        return self.has_path(name.text) or (
            name.text.endswith(".py") and self.has_path(name.text[:-3])
        )

    def without(self, words: Iterable[str]) -> frozenset[str]:
        """Return those of some words that stand in none of the files, prose aside; an option with
        its dashes is one.
        """
        missing = {word: re.compile(word_pattern(word)) for word in words}
        for text in self._texts():
            for word in [
                word for word, pattern in missing.items() if word in text and pattern.search(text)
            ]:
                del missing[word]
            if not missing:
                break
        return frozenset(missing)

    def has_target(self, tool: str, target: str) -> bool:
        """Tell whether a build tool of the tree can be asked for a target; also where that cannot
        be told.
        """
        texts = [
            text
            for path in self.paths
            if is_of(tool, path)
            if (text := self._read(path)) is not None
        ]
        if tool == "npm":
            return any(target in scripts for scripts in map(_scripts, texts))
        return any(re.search(target_line(target), text, re.M) for text in texts)

    def ignores(self, path: str) -> bool:
        """Tell whether a part of a path is named by the tree's `.gitignore`: it is made anew, and
        may be missing.
        """
        return not self._ignored.isdisjoint(path.split("/")) or any(
            PurePosixPath(path).match(pattern) for pattern in self._ignored if "*" in pattern
        )

    @cached_property
    def _ignored(self) -> frozenset[str]:
        text = self._read(".gitignore") or ""
        lines = (line.strip().strip("/") for line in text.splitlines())
        return frozenset(
            line.rpartition("/")[2] for line in lines if line and not line.startswith(("#", "!"))
        )

    def _texts(self) -> Iterator[str]:
        for path in self.paths:
            if (
                PurePosixPath(path).suffix.lower() not in PROSE
                and (text := self._read(path)) is not None
            ):
                yield text

    def _read(self, path: str) -> str | None:
        """Return the text of a file; `None` for what is none, too long, or cannot be read."""
        place = self.folder / path
        try:
            if place.is_symlink() or not place.is_file() or place.stat().st_size > _LONGEST:
                return None
            data = place.read_bytes()
        except OSError:
            return None
        return None if b"\0" in data[:4096] else data.decode("utf-8", "replace")


def word_pattern(word: str) -> str:
    """Return a pattern for a symbol or an option that stands by itself."""
    edge = "-" if word.startswith("-") else ""
    return rf"(?<![A-Za-z0-9_{edge}]){re.escape(word)}(?![A-Za-z0-9_{edge}])"


def is_prose(path: str) -> bool:
    """Tell whether a file tells of things rather than has them."""
    return PurePosixPath(path).suffix.lower() in PROSE


def is_of(tool: str, path: str) -> bool:
    """Tell whether a file is one in which the targets of a build tool are."""
    name = path.rpartition("/")[2].lower()
    return name in _TOOLS[tool] or (tool == "make" and name.endswith(".mk"))


def target_line(target: str) -> str:
    """Return a pattern for the line in which a file of make or just begins a target."""
    names = r"[\w./%$(){}=\"'+*-]+"
    return rf"^ *@?(?:{names} +)*{re.escape(target)}(?: +{names})* *:(?!=)"


def _scripts(text: str) -> frozenset[str]:
    try:
        doc = json.loads(text)
    except (ValueError, RecursionError):
        return frozenset()
    return frozenset(as_object(as_object(doc).get("scripts")))


# “Still true?” asked of a working tree: what memories and bullets name that is not there, as
# proposals.


# What became of names that are not in a working tree: what took each away, and what it put there
# instead.


_COMMITS = "20000"
"""Commits that are looked through, at most."""

_SAFE = ("--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all", "-M")
_FORMAT = "--format=%x01%H %cI"
_ALIKE = 0.5
"""How alike a name that went and one that came in another line are, where one was made of the
other.
"""

_MUCH_ALIKE = 0.65
"""How alike two options are, one of which was made of the other: all begin with dashes."""

_LINE = 1000
"""Characters of a line that are looked at: nobody makes a name behind more."""

_ASKED = 20_000
"""Bytes of words that git is asked for at a time; a command takes no more than six times that."""

_STEPS = 5
"""Renames of one thing, one after the other, that are followed."""

WORDS = ("symbol", "option")
"""The kinds of names that stand in files as they are written."""

_KEYWORDS = (
    "def|class|function|fn|func|struct|enum|trait|interface|type|const|static|let|var|val|module|mod|record|message|"
    "export|typedef|define|async|public|private|protected|local|readonly|impl|fun|object|sub"
)


@dataclass(slots=True)
class _Hunk:
    """Lines that went and lines that came, at one place of a file."""

    place: str
    gone: list[str] = field(default_factory=list)
    made: list[str] = field(default_factory=list)


class _Commit(NamedTuple):
    """A commit, or what is not committed yet (without an id), and what it changed: paths, or places
    of files.
    """

    id: str
    at: datetime | None
    moved: Mapping[str, str]
    hunks: Sequence[_Hunk]


class Past:
    """Looks for names in what a repository's commits took away, the latest first."""

    def __init__(
        self, repository: Repository, tree: WorkingTree, cancelled: Cancelled = lambda: False
    ) -> None:
        self._repository, self._tree, self._cancelled = repository, tree, cancelled

    def paths(self, names: Collection[Name]) -> dict[Name, Gone]:
        """Return which of some paths were once there, what took them away, and what they are called
        now.
        """
        if not names:
            return {}
        went: dict[str, tuple[str, _Commit]] = {}
        for commit in self._moves():
            for old, new in commit.moved.items():
                went.setdefault(old, (new, commit))
        ends: dict[str, str] = {}
        for old in went:
            for end in _ends(old):
                ends.setdefault(end, old)
        found = {}
        for name in names:
            last = ends.get(name.text, "")
            if last and not self._tree.ignores(last):
                commit = went[last][1]
                now = _named_alike(name.text, last, self._followed(last, went))
                found[name] = Gone(name, now, commit.id, commit.at, last)
        return found

    def words(self, names: Collection[Name]) -> dict[Name, Gone]:
        """Return which of some words were once made in a file, what took them away, and the new
        names.
        """
        found: dict[Name, Gone] = {}
        asked = {name: name.text for name in names}
        for _ in range(_STEPS):
            if not asked or self._cancelled():
                break
            later = self._last_seen(asked)
            found |= {
                name: gone if name not in found else replace(found[name], now=gone.now)
                for name, gone in later
            }
            missing = self._not_there([name for name, gone in later if gone.now], found)
            asked = {name: found[name].now for name in missing}
        for name in self._not_there(found, found):
            found[name] = replace(found[name], now="")  # what it was called next is gone, too
        kept = self._made_otherwise(
            name for name, gone in found.items() if name.kind == "option" and not gone.now
        )
        return {name: gone for name, gone in found.items() if name not in kept}

    def _made_otherwise(self, options: Iterable[Name]) -> frozenset[Name]:
        """Return the options that a parser may make of a name that is there: `dry_run`, or
        "dry-run".
        """
        spelt = {name: {name.text[2:], name.text[2:].replace("-", "_")} for name in options}
        gone = self._tree.without({word for words in spelt.values() for word in words})
        return frozenset(name for name, words in spelt.items() if not words <= gone)

    def _not_there(self, names: Iterable[Name], found: Mapping[Name, Gone]) -> list[Name]:
        """Return the names whose new name is not there either."""
        renamed = [name for name in names if found[name].now]
        gone = self._tree.without({found[name].now for name in renamed if name.kind in WORDS})
        symbols = [name for name in renamed if name.kind in WORDS and found[name].now in gone]
        targets = [name for name in renamed if name.kind == "target"]
        return symbols + [
            name for name in targets if not self._tree.has_target(name.tool, found[name].now)
        ]

    def _last_seen(self, asked: Mapping[Name, str]) -> list[tuple[Name, Gone]]:
        """Return what took each of some words away, and what it says instead."""
        left, found = dict(asked), []
        for commit in self._changes(asked.values()):
            for name, word in list(left.items()):
                hunks = [
                    h
                    for h in commit.hunks
                    if any(_makes(name, word, line, h.place) for line in h.gone)
                ]
                if hunks:
                    now = _instead(word, commit.hunks, name)
                    found.append((name, Gone(name, now, commit.id, commit.at, hunks[0].place)))
                    del left[name]
            if not left or self._cancelled():
                break
        return found

    def _followed(self, old: str, went: Mapping[str, tuple[str, _Commit]]) -> str:
        """Return where a file lies now that was moved, maybe more than once; "" when it is gone."""
        seen, now = {old}, went[old][0]
        while now and not self._tree.has_path(now) and now not in seen:
            seen.add(now)
            now = went.get(now, ("", None))[0]
        return now if now and self._tree.has_path(now) else ""

    def _moves(self) -> Iterator[_Commit]:
        """Yield which files each commit moved or took away, and with each the folders it emptied of
        all it held.
        """
        what = (*_SAFE, "--name-status", "--diff-filter=DR")
        with self._repository.lines("diff-index", *what, self._repository.head, tree=True) as lines:
            yield from _moves_of(lines)
        with self._repository.lines(
            "log", *what, _FORMAT, "-n", _COMMITS, self._repository.head
        ) as lines:
            yield from _moves_of(lines)

    def _changes(self, words: Iterable[str]) -> Iterator[_Commit]:
        """Yield the changes in which a commit, or what is not committed yet, adds or takes away
        some words.
        """
        what = (*_SAFE, "-p", "-U0", "-l", "2000")
        with self._repository.lines("diff-index", *what, self._repository.head, tree=True) as lines:
            yield from _hunks_of(lines)
        for some in _batches(sorted(set(words))):
            pick = ("-G", "|".join(map(re.escape, some)).replace(r"\-", "-"), "-E")
            with self._repository.lines(
                "log", *what, *pick, _FORMAT, "-n", _COMMITS, self._repository.head
            ) as lines:
                yield from _hunks_of(lines)


def _batches(words: Sequence[str]) -> Iterator[list[str]]:
    """Part words into runs that git can be asked for at a time; one that is too long by itself is
    passed over.
    """
    some, size = list[str](), 0
    for word in words:
        length = 2 * len(word.encode()) + 1
        if length > _ASKED:
            continue
        if size + length > _ASKED:
            yield some
            some, size = [], 0
        some.append(word)
        size += length
    if some:
        yield some


def _ends(path: str) -> Iterator[str]:
    """Yield a path, its folders, and every end of each that begins with a whole name."""
    parts = path.split("/")
    for last in range(len(parts), 0, -1):
        for first in range(last):
            if last == len(parts) or last - first > 1:
                yield "/".join(parts[first:last])


def _named_alike(text: str, old: str, new: str) -> str:
    """Return what a text would write for a `new` path that named the `old` one: a file, or a folder
    it was in.
    """
    if not new:
        return ""
    lead, _, rest = f"/{old}".rpartition(f"/{text}")
    lead = f"{lead}/".lstrip("/")
    if not new.endswith(rest):
        return ""
    now = new.removesuffix(rest)
    return now.removeprefix(lead) if lead and now.startswith(lead) else now


def _moves_of(lines: Iterable[str]) -> Iterator[_Commit]:
    commit, moved = _Commit("", None, {}, ()), dict[str, str]()
    for line in lines:
        if line.startswith("\x01"):
            yield commit._replace(moved=moved)
            commit, moved = _begun(line), {}
        elif "\t" in line:
            status, old, *new = line.split("\t")
            moved[old] = new[0] if new and status.startswith("R") else ""
    yield commit._replace(moved=moved)


def _hunks_of(lines: Iterable[str]) -> Iterator[_Commit]:
    commit, hunks, place = _Commit("", None, {}, ()), list[_Hunk](), ""
    in_hunk, at = False, _Hunk("")
    for line in lines:
        if line.startswith("\x01"):
            yield commit._replace(hunks=hunks)
            commit, hunks, in_hunk = _begun(line), [], False
        elif line.startswith("diff --git "):
            in_hunk = False
        elif line.startswith("@@"):
            in_hunk, at = True, _Hunk(place)
            if not is_prose(place):
                hunks.append(at)
        elif not in_hunk and line.startswith("--- "):
            place = line[4:].strip().removeprefix("a/")
        elif in_hunk and line.startswith("-"):
            at.gone.append(line[1:_LINE])
        elif in_hunk and line.startswith("+"):
            at.made.append(line[1:_LINE])
    yield commit._replace(hunks=hunks)


def _begun(line: str) -> _Commit:
    id, _, at = line[1:].partition(" ")
    try:
        return _Commit(id, parse_time(at.strip()), {}, ())
    except ValueError:
        return _Commit(id, None, {}, ())


def _makes(name: Name, word: str, line: str, place: str) -> bool:
    """Tell whether a line is one that a word is made by: defined, given a value, or begun as a
    target.
    """
    if word not in line:
        return False
    quoted = re.escape(word)
    if name.kind == "option":
        return re.search(_option_line(re.escape(word)), line) is not None
    if name.kind == "target":
        begins = rf'"{quoted}"\s*:\s*"' if name.tool == "npm" else target_line(word)
        return is_of(name.tool, place) and re.search(begins, line) is not None
    if re.search(rf"(?<!\w)(?:{_KEYWORDS})\s+(?:\w+\s+){{0,8}}\*?{quoted}(?!\w)", line):
        return True
    # What looks like any word may be another thing of the same name: only its definition tells.
    given = rf"(?<![\w.]){quoted}\s*(?::|=(?!=)|\()|[\"']{quoted}[\"']\s*[:\],)]"
    return is_shaped(word) and re.search(given, line) is not None


def _option_line(option: str) -> str:
    """Return a pattern for a line in which a parser is given an option: a string that begins with
    it, or its letter.
    """
    return rf"[\"'`](?:-\w[,|/ ]+)?{option}(?![\w-])"


def _instead(word: str, hunks: Iterable[_Hunk], name: Name) -> str:
    """Return the word that a commit says where it said another, as far as most of its lines agree."""
    said: Counter[str] = Counter()
    loose: Counter[str] = Counter()
    nearly = _nearly_option if name.kind == "option" else _nearly
    for hunk in hunks:
        for line in hunk.gone:
            if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", line):
                said.update(_exactly(word, line, hunk.made))
                if _makes(name, word, line, hunk.place):
                    loose.update(nearly(word, line, hunk))
    best = said.most_common(1) or loose.most_common(1)
    return best[0][0] if best else ""


def _exactly(word: str, line: str, made: Iterable[str]) -> Iterator[str]:
    """Yield the words of lines that are the same but for one word."""
    pieces = re.split(rf"(?<!\w){re.escape(word)}(?!\w)", line.strip())
    pattern = (
        re.escape(pieces[0]) + r"(?P<now>[\w:.-]*\w)" + r"(?P=now)".join(map(re.escape, pieces[1:]))
    )
    for other in made:
        match = re.fullmatch(pattern, other.strip())
        if match and match["now"] != word:
            yield match["now"]


def _nearly_option(word: str, _line: str, hunk: _Hunk) -> Iterator[str]:
    """Yield the one option that came where some went, and is much like the word."""
    given = re.compile(_option_line(r"(--[a-z][\w-]*)"))
    went, came = (
        {match[1] for line in lines if (match := given.search(line))}
        for lines in (hunk.gone, hunk.made)
    )
    alike = [one for one in came - went if SequenceMatcher(None, word, one).ratio() >= _MUCH_ALIKE]
    if len(alike) == 1:
        yield alike[0]


def _nearly(word: str, line: str, hunk: _Hunk) -> Iterator[str]:
    """Yield the word of the one line that came for the one that went, where both begin alike and
    the words, too.
    """
    lead = re.match(rf"\s*(?P<lead>(?:[\w@]+\s+){{0,8}})\*?{re.escape(word)}(?!\w)", line)
    if lead is None or not lead["lead"]:
        return
    begin = re.compile(rf"\s*{re.escape(lead['lead'])}(?P<now>\w+)")
    came = [match["now"] for other in hunk.made if (match := begin.match(other))]
    went = [other for other in hunk.gone if begin.match(other)]
    if (
        len(came) == len(went) == 1
        and came[0] != word
        and SequenceMatcher(None, word, came[0]).ratio() >= _ALIKE
    ):
        yield came[0]


KIND = "stale"
RENAMED, GONE = "renamed", "gone"
"""The flags of what has new names, and of what names something that has none."""

Texts = Memory | Bullet


class Stale(NamedTuple):
    """A memory or a bullet, what it names that is not there, and the proposal that is made of it."""

    record: Texts
    gone: tuple[Gone, ...]
    proposal: Proposal


class TruePlan(NamedTuple):
    """What a check of a working tree found, or put into Review.

    `checked` counts the memories and bullets that name something, `names` what they name. `found`
    are new, `open` wait already, `withdrawn` wait and hold no longer, and `decided` counts what a
    person decided before and does not change. `with_git` tells whether the past was looked at;
    without it nothing is known of symbols and targets. `is_own`: it is the tree that the store
    belongs to; what another one has says nothing of what waits.
    """

    folder: Path
    checked: int
    names: int
    found: tuple[Stale, ...] = ()
    open: tuple[Proposal, ...] = ()
    withdrawn: tuple[Proposal, ...] = ()
    decided: int = 0
    with_git: bool = True
    is_whole: bool = True
    is_own: bool = True

    @property
    def is_empty(self) -> bool:
        """Whether putting it into Review changes nothing."""
        return not self.found and not self.withdrawn


class StillTrue(Service):
    """Holds what a store's memories and bullets name against a working tree."""

    @property
    def folder(self) -> Path | None:
        """The working tree that the store belongs to, if it belongs to one."""
        return places_of(self._library.folder).project

    def plan(self, folder: Path | None = None, cancelled: Cancelled = lambda: False) -> TruePlan:
        """Return exactly what `carry_out` would do now; it reads only, and starts nothing that the
        tree names.

        Raises `WorkbenchError` where there is no working tree, or when it was cancelled.
        """
        given = folder or self.folder
        if given is None or not given.is_dir():
            what = f"{given} is not a folder" if given else "This store belongs to no project"
            raise WorkbenchError(
                f"{what}, so there is no working tree to check.", "Give one; nothing was changed."
            )
        place = repository_of(given) or given
        texts = {self._key(record): record for record in self._checked()}
        named = {key: names for key, record in texts.items() if (names := names_in(record.content))}
        tree, repository = WorkingTree(place), repository_at(place)
        gone = _gone(tree, {name for names in named.values() for name in names}, cancelled)
        if cancelled():
            raise WorkbenchError("The check was stopped.", "Nothing was proposed.")
        found = []
        for key, names in named.items():
            missing = tuple(
                replace(gone[_plain(name)], name=name) for name in names if _plain(name) in gone
            )
            if missing:
                record = texts[key]
                found.append(Stale(record, missing, self._proposal(record, missing)))
        made = TruePlan(
            place,
            len(named),
            sum(map(len, named.values())),
            with_git=repository is not None,
            is_own=self._is_own(place),
        )
        return self._against(made, found)._replace(is_whole=tree.is_whole)

    def before_reflection(self, cancelled: Cancelled) -> None:
        """Put what is found into Review where there is a repository; a reflection does without what
        cannot be told.
        """
        folder = self.folder
        if folder is not None and repository_at(repository_of(folder) or folder) is not None:
            with suppress(WorkbenchError):
                self.carry_out(self.plan(cancelled=cancelled))

    def _is_own(self, place: Path) -> bool:
        own = self.folder
        return own is not None and (repository_of(own) or own).resolve() == place.resolve()

    def carry_out(self, plan: TruePlan) -> TruePlan:
        """Put what a check found into Review, as one action of the workbench; a tree of its choice
        no agent puts there.

        Raises `WorkbenchError`.
        """
        if not plan.is_own:
            require_person(self._context.actor, "propose by another working tree")
        if plan.is_empty:
            return plan
        count = len(plan.found)
        with self._context.transaction(f"still true? {count} found") as tx:
            for proposal in plan.withdrawn:
                tx.delete(proposal)
            for stale in plan.found:
                if self._library.proposals.find(stale.proposal.id) is None:
                    tx.put(stale.proposal)
        return plan

    def _checked(self) -> Iterable[Texts]:
        yield from (memory for memory in self._library.memories.all() if is_checked(memory))
        yield from (bullet for bullet in self._library.bullets.all() if bullet.state == "active")

    def _against(self, plan: TruePlan, found: Sequence[Stale]) -> TruePlan:
        """Return a plan with what was found held against what waits, and what was decided."""
        stored = {p.id: p for p in self._library.proposals.all() if p.id.startswith(f"{KIND}-")}
        waits = [p for p in stored.values() if p.state == "open"]
        here = {stale.proposal.id for stale in found}
        return plan._replace(
            found=tuple(stale for stale in found if stale.proposal.id not in stored),
            open=tuple(p for p in waits if p.id in here),
            withdrawn=tuple(p for p in waits if p.id not in here) if plan.is_own else (),
            decided=sum(stored[id].state != "open" for id in here if id in stored),
        )

    def _key(self, record: Texts) -> str:
        return record.id if isinstance(record, Memory) else f"{record.book}/{record.id}"

    def _proposal(self, record: Texts, gone: tuple[Gone, ...]) -> Proposal:
        """Return a finding as a proposal: for a bullet a suggested operation, as a Curator's are."""
        text = corrected(record.content, gone)
        told = " ".join(sorted(f"{one.name.kind}:{one.name.text}:{one.now}" for one in gone))
        id = f"{KIND}-{self._key(record).replace('/', '-')}-{text_mark(record.content + told)[:12]}"
        reasons = tuple(f"{why(one)}" for one in gone)
        flags = tuple(dict.fromkeys(RENAMED if one.now else GONE for one in gone))
        made = Proposal(
            id, KIND, WORKBENCH, record.content.strip().partition("\n")[0][:400], self._context.now(),
            flags=flags, reasons=reasons,
        )  # fmt: skip
        if isinstance(record, Memory):
            renames = {"content": text} if text != record.content else {}
            return replace(
                made, title=record.line, evidence=(record.id,), importance=record.importance_score,
                texts=(text_mark(record.content),), operation=renames,
            )  # fmt: skip
        asked: Curatable = Update(record.id, text) if text != record.content else Delete(record.id)
        operation = to_json(asked, record.book, "") | {THEN: {record.id: record.content}}
        return replace(made, kind="curator", operation=operation, flags=())


def _gone(tree: WorkingTree, names: Iterable[Name], cancelled: Cancelled) -> Mapping[Name, Gone]:
    """Return what is not in a tree and was: with git what its past knows, else paths into folders
    that are there.
    """
    asked = {_plain(name) for name in names}
    absent = (name for name in asked if name.kind == "path" and not tree.has_ending(name))
    paths = {name for name in absent if not tree.ignores(name.text)}
    repository = repository_at(tree.folder)
    if repository is None:
        return {
            name: Gone(name)
            for name in paths
            if "/" in name.text and tree.has_path(name.text.rpartition("/")[0])
        }
    missing = tree.without({name.text for name in asked if name.kind in WORDS})
    words = {name for name in asked if name.kind in WORDS and name.text in missing}
    words |= {
        name
        for name in asked
        if name.kind == "target" and not tree.has_target(name.tool, name.text)
    }
    past = Past(repository, tree, cancelled)
    return {**past.paths(paths), **past.words(words)}


def _plain(name: Name) -> Name:
    """Return a name whatever the way it is written."""
    return replace(name, written=name.text)
