"""The parts of the contract: each asks the product through a door and returns files, name to text."""

import atexit
import hashlib
import json
import re
import shutil
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from shlex import split
from typing import Any, TypeAlias

from tests.contract.door import Answer, Door, Place
from tests.contract.life import DEMO, MOMENT, asked, begin, lived
from tests.contract.shape import entries, shape

Files: TypeAlias = dict[str, str]

INPUTS = Path(__file__).parent / "inputs"
SMALL = 3000
"""Bytes up to which an exported file is recorded whole; of a larger one its size and its hash."""

TOP = 10
"""Places of a ranking that are recorded line by line; of the rest the hash."""

EXPLAINED = ("workbench", "generative-agents", "episodic")
"""The profiles whose first hits are recorded with all that made their scores: one of each way of
scoring.
"""

_TIME = re.compile(rb"\d{4}-\d\d-\d\dT[\d:.]+Z?")
"""A cass playbook says when each of its rules came in: at the present."""

_COMMAND = re.compile(r"^    ([a-z]+)(?: {2,}|$)", re.MULTILINE)
_LISTED = re.compile(r"([a-z-]+)(?:,|$)", re.MULTILINE)


def help_texts(door: Door, folder: Path) -> Files:
    """Return the help of every command and of every command of a command."""
    place = Place(folder)
    place.environment()
    files: Files = {"python": door.ask(place, "python")}
    for words in _commands(door, place):
        answer = door.run(place, *words, "--help")
        assert (answer.code, answer.err) == (0, ""), words
        files[f"{' '.join(words) or 'workbench'}.txt"] = answer.out.decode()
    return files


def _commands(door: Door, place: Place, *words: str) -> Iterator[tuple[str, ...]]:
    yield words
    text = door.run(place, *words, "--help").out.decode()
    below = text.partition("VERB\n")[2]
    by_task = text.partition("by task:\n")[2].partition("  `")[0]
    for name in _COMMAND.findall(below) if words else _LISTED.findall(by_task):
        yield from _commands(door, place, *words, name)


def life(door: Door, folder: Path) -> Files:
    """Return what every command answers, its exit code, and what the journal says of its changes."""
    return {"life.json": _text(lived(door, folder))}


def claude(door: Door, folder: Path) -> Files:
    """Return what is answered and written down when Claude is asked."""
    return {"claude.json": _text(asked(door, folder))}


def app(door: Door, folder: Path) -> Files:
    """Return what the journal says of the changes that only the app makes."""
    place = _filled(door, folder)
    told = {
        name: entries(place.store, before, until)
        for name, before, until in door.ask(place, "app", str(place.store))
    }
    return {"app.json": _text(told)}


USUAL: Mapping[str, str] = {
    "init": "x y", "demo": "--into", "import": "f.jsonl", "export": "--format ace", "convert": "f.txt -",
    "lint": "f.txt", "search": "words", "eval": "f.jsonl", "tune": "f.jsonl", "queries": "list", "reflect": "",
    "curate": "", "ingest": "words", "vote": "m1 helpful", "append": "words", "review": "list", "undo": "", "redo": "",
    "history": "", "show": "m1", "list": "", "stats": "", "status": "", "doctor": "", "compact": "",
    "backup": "b.tar.gz", "restore": "b.tar.gz new", "migrate": "old new", "upkeep": "", "dedup": "", "purge": "m1",
    "scan": "", "allow": "m1", "trust": "", "config": "show", "stores": "", "watch": "", "model": "show",
    "help": "stream",
}  # fmt: skip
"""Arguments that each command takes where nothing is there yet."""


def codes(door: Door, folder: Path) -> Files:
    """Return the exit codes of every command for wrong usage, without a store, and in an empty one."""
    told: dict[str, dict[str, int]] = {
        "": {"an unknown command": door.run(Place(folder), "no-such-command").code}
    }
    empty = Place(folder / "empty")
    assert door.run(empty, "init").code == 0
    for name, words in USUAL.items():
        args = words.split()
        if name in ("init", "restore", "migrate"):
            continue
        told[name] = {
            "an unknown option": door.run(empty, name, "--no-such-option").code,
            "one word too many": door.run(empty, name, *args, "one", "two", "three", "four").code,
            "no store": door.run(Place(folder / name), "--store", "nowhere", name, *args).code,
            "an empty store": door.run(empty, name, *args).code,
        }
    return {"codes.json": _text(told)}


def exports(door: Door, folder: Path) -> Files:
    """Return the demo in every format, whole where it is small."""
    place = _filled(door, folder)
    files: Files = {}
    sums: dict[str, Any] = {}
    for name, command in EXPORTED.items():
        answer = _run(door, place, command)
        assert answer.code == 0, (name, answer.err)
        out = _TIME.sub(b"TIME", answer.out) if "cass" in name else answer.out
        sums[name] = {"bytes": len(out), "sha256": hashlib.sha256(out).hexdigest()}
        if len(out) <= SMALL:
            files[f"{name}.txt"] = out.decode()
    return {"sums.json": _text(sums), **files}


EXPORTED: Mapping[str, str] = {
    **{
        name: f"export --format {name}"
        for name in (
            "ace", "skillbook", "cass", "jsonl", "semantic-patterns", "learnings", "mcp-memory", "letta",
            "external-overview", "external-detail", "external-messages", "queries", "trec-qrels",
        )
    },
    **{
        f"{name} of {what}": f"export --format {name} {options}"
        for name in ("json", "yaml", "csv", "markdown", "prompt", "prompt-counts", "block")
        for what, options in (
            ("the playbook", "--book playbook"),
            ("memories", "--memories --filter tag:auth"),
            ("one section", "--book playbook --section TROUBLESHOOTING"),
            ("one memory", "--memories --filter id:mem-20260209-0000015"),
        )
    },
    "ace, bare": "export --format ace --dialect bare",
    "skillbook, often helpful": "export --format skillbook --min-helpful 20",
    "judged queries": "queries export - --format jsonl",
    **{
        f"playbook converted to {to}": f"convert playbook.txt - --to {to}"
        for to in ("skillbook", "cass", "json", "yaml", "csv", "markdown")
    },
}  # fmt: skip
"""The commands that export the demo."""


def rankings(door: Door, folder: Path) -> Files:
    """Return how every built-in profile ranks the demo for its queries: places, ids and scores to
    the last bit.
    """
    place = _filled(door, folder)
    files: Files = {"numerics.txt": door.ask(place, "numerics") + "\n"}
    for profile in _profiles(door, place):
        answer = _run(door, place, f"queries export - --format run --profile {profile}")
        assert answer.code == 0, answer.err
        files[f"{profile}.txt"] = _ranked(answer.out.decode())
    for profile in EXPLAINED:
        files[f"{profile}.json"] = _why(door, place, profile)
    return files


def _profiles(door: Door, place: Place) -> list[str]:
    said = _run(door, place, "search words --profile 'none of ours'").err
    return re.findall(r"[\w-]+", said.partition("Known ones:")[2])


def _ranked(text: str) -> str:
    """Keep the first lines of each query, and a hash of its whole ranking."""
    queries: dict[str, list[str]] = {}
    for line in text.splitlines():
        query, _, memory, place, score, _ = line.split(" ")
        queries.setdefault(query, []).append(f"{place:>2} {memory} {score}")
    return "".join(_first(query, lines) for query, lines in queries.items())


def _first(title: str, lines: list[str]) -> str:
    whole = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    return "\n".join([title, *lines[:TOP], f"{len(lines)} places, sha256 {whole}", "", ""])


def _why(door: Door, place: Place, profile: str) -> str:
    asked = f"search 'token refresh fails' -k 3 --now {MOMENT} --profile {profile} --explain --json"
    hits = _run(door, place, asked).json
    told = [
        {key: hit[key] for key in ("id", "rank", "score", "parts", "explain") if key in hit}
        for hit in hits
    ]
    return json.dumps(told, indent=1) + "\n"


def keys(door: Door, folder: Path) -> Files:
    """Return the names people write into files of their own: actions, settings, themes, profiles,
    and record fields.
    """
    place = Place(folder)
    place.environment()
    found = door.ask(place, "actions")
    return {
        "actions.json": _text(found["actions"]),
        "scopes.json": _text({title: " ".join(ids) for title, ids in found["scopes"].items()}),
        "tables.json": _text(door.ask(place, "tables")),
        "themes.json": _text(door.ask(place, "themes", str(INPUTS / "themes"))),
        "config.json": _text(_settings(door, Place(folder / "settings"))),
        **_own_profile(door, folder / "profiles"),
    }


def _settings(door: Door, place: Place) -> dict[str, Any]:
    """Return the settings without a file, with one that sets all of them, and how many remarks a
    wrong one earns.
    """
    before = door.run(place, "config", "show", "--json").json["settings"]
    file = Path(door.run(place, "config", "path", "--json").json["path"])
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes((INPUTS / "config.toml").read_bytes())
    own = door.run(place, "config", "show", "--json")
    assert own.err == ""
    file.write_text('them = "x"\n[claude]\nmodle = "y"\nmax_tokens = 1\n', "utf-8")
    wrong = door.run(place, "config", "show", "--json")
    settings = own.json["settings"]
    settings["model"] = str(Path(settings["model"]).relative_to(file.parent))
    return {
        "defaults": before,
        "own": settings,
        "remarks": len(wrong.err.splitlines()),
        "code": wrong.code,
    }


def _own_profile(door: Door, folder: Path) -> Files:
    """Return a profile as it is written, and what one of a person's own ranks."""
    place = _filled(door, folder)
    lines = (place.cwd / "queries.jsonl").read_text("utf-8").splitlines(keepends=True)
    (place.cwd / "two.jsonl").write_text("".join(lines[:2]), "utf-8")
    saved = _run(door, place, "tune two.jsonl --folds 2 --save mine --force --json")
    assert saved.code == 0, saved.err
    (file,) = place.folder.rglob("mine.toml")
    (file.with_name("own.toml")).write_bytes((INPUTS / "profile.toml").read_bytes())
    asked = f"search 'token refresh fails' -k 5 --now {MOMENT} --profile own --json"
    ranked = _run(door, place, asked)
    hits = [f"{hit['rank']} {hit['id']} {hit['score']!r}\n" for hit in ranked.json]
    told = {"file": shape(tomllib.loads(file.read_text("utf-8"))), "answer": shape(saved.json)}
    return {"profile.json": _text(told), "ranked by a profile.txt": "".join(hits)}


def _run(door: Door, place: Place, command: str) -> Answer:
    """Run a command line on the store of a place."""
    return door.run(place, "--store", str(place.store), *split(command))


def _filled(door: Door, folder: Path) -> Place:
    """Return a place whose store holds the demo at the times of its files: the present moment plays
    no part.
    """
    shutil.copytree(_template(door), folder, dirs_exist_ok=True)
    return Place(folder)


@cache
def _template(door: Door) -> Path:
    """Fill a store, once for each door; it is removed when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="workbench-contract-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    place = begin(door, folder).place
    done = _run(door, place, f"import {' '.join(DEMO)}")
    assert done.code == 0, done.err
    (place.cwd / "memories.jsonl").unlink()  # what its file still has is not pruned
    return folder


def _text(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


SECTIONS: Mapping[str, Callable[[Door, Path], Files]] = {
    "help": help_texts,
    "life": life,
    "claude": claude,
    "app": app,
    "codes": codes,
    "exports": exports,
    "rankings": rankings,
    "keys": keys,
}
"""The parts of the contract, each recorded in a folder of its name."""
