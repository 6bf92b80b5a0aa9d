"""What became of names that are not in a working tree: what took each away, and what it put there instead."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from difflib import SequenceMatcher

from workbench.core.claims.gone import Gone
from workbench.core.claims.names import Name, is_shaped
from workbench.core.record import parse_time
from workbench.services.claims.tree import WorkingTree, is_of, is_prose, target_line
from workbench.store.repository import Cancelled, Repository

_COMMITS = "20000"
"""Commits that are looked through, at most."""

_SAFE = ("--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all", "-M")
_FORMAT = "--format=%x01%H %cI"
_ALIKE = 0.5
"""How alike a name that went and one that came in another line are, where one was made of the other."""

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


@dataclass(frozen=True, slots=True)
class _Commit:
    """A commit, or what is not committed yet (without an id), and what it changed: paths, or places of files."""

    id: str
    at: datetime | None
    moved: Mapping[str, str]
    hunks: Sequence[_Hunk]


class Past:
    """Looks for names in what a repository's commits took away, the latest first."""

    def __init__(self, repository: Repository, tree: WorkingTree, cancelled: Cancelled = lambda: False) -> None:
        self._repository, self._tree, self._cancelled = repository, tree, cancelled

    def paths(self, names: Collection[Name]) -> dict[Name, Gone]:
        """Return which of some paths were once there, what took them away, and what they are called now."""
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
        """Return which of some words were once made in a file, what took them away, and the new names."""
        found: dict[Name, Gone] = {}
        asked = {name: name.text for name in names}
        for _ in range(_STEPS):
            if not asked or self._cancelled():
                break
            later = self._last_seen(asked)
            found |= {name: gone if name not in found else replace(found[name], now=gone.now) for name, gone in later}
            missing = self._not_there([name for name, gone in later if gone.now], found)
            asked = {name: found[name].now for name in missing}
        for name in self._not_there(found, found):
            found[name] = replace(found[name], now="")  # what it was called next is gone, too
        kept = self._made_otherwise(name for name, gone in found.items() if name.kind == "option" and not gone.now)
        return {name: gone for name, gone in found.items() if name not in kept}

    def _made_otherwise(self, options: Iterable[Name]) -> frozenset[Name]:
        """Return the options that a parser may make of a name that is there: `dry_run`, or "dry-run"."""
        spelt = {name: {name.text[2:], name.text[2:].replace("-", "_")} for name in options}
        gone = self._tree.without({word for words in spelt.values() for word in words})
        return frozenset(name for name, words in spelt.items() if not words <= gone)

    def _not_there(self, names: Iterable[Name], found: Mapping[Name, Gone]) -> list[Name]:
        """Return the names whose new name is not there either."""
        renamed = [name for name in names if found[name].now]
        gone = self._tree.without({found[name].now for name in renamed if name.kind in WORDS})
        symbols = [name for name in renamed if name.kind in WORDS and found[name].now in gone]
        targets = [name for name in renamed if name.kind == "target"]
        return symbols + [name for name in targets if not self._tree.has_target(name.tool, found[name].now)]

    def _last_seen(self, asked: Mapping[Name, str]) -> list[tuple[Name, Gone]]:
        """Return what took each of some words away, and what it says instead."""
        left, found = dict(asked), []
        for commit in self._changes(asked.values()):
            for name, word in list(left.items()):
                hunks = [h for h in commit.hunks if any(_makes(name, word, line, h.place) for line in h.gone)]
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
        """Yield which files each commit moved or took away, and with each the folders it emptied of all it held."""
        what = (*_SAFE, "--name-status", "--diff-filter=DR")
        with self._repository.lines("diff-index", *what, self._repository.head, tree=True) as lines:
            yield from _moves_of(lines)
        with self._repository.lines("log", *what, _FORMAT, "-n", _COMMITS, self._repository.head) as lines:
            yield from _moves_of(lines)

    def _changes(self, words: Iterable[str]) -> Iterator[_Commit]:
        """Yield the changes in which a commit, or what is not committed yet, adds or takes away some words."""
        what = (*_SAFE, "-p", "-U0", "-l", "2000")
        with self._repository.lines("diff-index", *what, self._repository.head, tree=True) as lines:
            yield from _hunks_of(lines)
        for some in _batches(sorted(set(words))):
            pick = ("-G", "|".join(map(re.escape, some)).replace(r"\-", "-"), "-E")
            with self._repository.lines("log", *what, *pick, _FORMAT, "-n", _COMMITS, self._repository.head) as lines:
                yield from _hunks_of(lines)


def _batches(words: Sequence[str]) -> Iterator[list[str]]:
    """Part words into runs that git can be asked for at a time; one that is too long by itself is passed over."""
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
    """Return what a text would write for a `new` path that named the `old` one: a file, or a folder it was in."""
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
            yield replace(commit, moved=moved)
            commit, moved = _begun(line), {}
        elif "\t" in line:
            status, old, *new = line.split("\t")
            moved[old] = new[0] if new and status.startswith("R") else ""
    yield replace(commit, moved=moved)


def _hunks_of(lines: Iterable[str]) -> Iterator[_Commit]:
    commit, hunks, place = _Commit("", None, {}, ()), list[_Hunk](), ""
    in_hunk, at = False, _Hunk("")
    for line in lines:
        if line.startswith("\x01"):
            yield replace(commit, hunks=hunks)
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
    yield replace(commit, hunks=hunks)


def _begun(line: str) -> _Commit:
    id, _, at = line[1:].partition(" ")
    try:
        return _Commit(id, parse_time(at.strip()), {}, ())
    except ValueError:
        return _Commit(id, None, {}, ())


def _makes(name: Name, word: str, line: str, place: str) -> bool:
    """Tell whether a line is one that a word is made by: defined, given a value, or begun as a target."""
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
    """Return a pattern for a line in which a parser is given an option: a string that begins with it, or its letter."""
    return rf"[\"'`](?:-\w[,|/ ]+)?{option}(?![\w-])"


def _instead(word: str, hunks: Iterable[_Hunk], name: Name) -> str:
    """Return the word that a commit says where it said another, as far as most of its lines agree."""
    said: Counter[str] = Counter()
    loose: dict[str, Counter[str]] = defaultdict(Counter)
    for hunk in hunks:
        for line in hunk.gone:
            if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", line):
                said.update(_exactly(word, line, hunk.made))
                if _makes(name, word, line, hunk.place):
                    loose[word].update((_nearly_option if name.kind == "option" else _nearly)(word, line, hunk))
    best = said.most_common(1) or loose[word].most_common(1)
    return best[0][0] if best else ""


def _exactly(word: str, line: str, made: Iterable[str]) -> Iterator[str]:
    """Yield the words of lines that are the same but for one word."""
    pieces = re.split(rf"(?<!\w){re.escape(word)}(?!\w)", line.strip())
    pattern = re.escape(pieces[0]) + r"(?P<now>[\w:.-]*\w)" + r"(?P=now)".join(map(re.escape, pieces[1:]))
    for other in made:
        match = re.fullmatch(pattern, other.strip())
        if match and match["now"] != word:
            yield match["now"]


def _nearly_option(word: str, _line: str, hunk: _Hunk) -> Iterator[str]:
    """Yield the one option that came where some went, and is much like the word."""
    given = re.compile(_option_line(r"(--[a-z][\w-]*)"))
    went, came = ({match[1] for line in lines if (match := given.search(line))} for lines in (hunk.gone, hunk.made))
    alike = [one for one in came - went if SequenceMatcher(None, word, one).ratio() >= _MUCH_ALIKE]
    if len(alike) == 1:
        yield alike[0]


def _nearly(word: str, line: str, hunk: _Hunk) -> Iterator[str]:
    """Yield the word of the one line that came for the one that went, where both begin alike and the words, too."""
    lead = re.match(rf"\s*(?P<lead>(?:[\w@]+\s+){{0,8}})\*?{re.escape(word)}(?!\w)", line)
    if lead is None or not lead["lead"]:
        return
    begin = re.compile(rf"\s*{re.escape(lead['lead'])}(?P<now>\w+)")
    came = [match["now"] for other in hunk.made if (match := begin.match(other))]
    went = [other for other in hunk.gone if begin.match(other)]
    if len(came) == len(went) == 1 and came[0] != word and SequenceMatcher(None, word, came[0]).ratio() >= _ALIKE:
        yield came[0]
