"""Facts are values: no code of ours compares, splits or filters the sentences that other code of
ours wrote.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest

from tests.sources import PACKAGE, trees

SENTENCE = re.compile(r"[A-Za-z]{2,}[,;:.]? +[A-Za-z]{2,}")
"""Two words or more: a name, a mark or a suffix has one."""

SETS = frozenset({"intersection", "isdisjoint", "issubset", "issuperset"})
METHODS = SETS | frozenset({
    "startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "split", "rsplit", "replace",
    "find", "rfind", "index", "rindex", "count", "__contains__",
})  # fmt: skip

ALLOWED = {
    ("core/agents/episodes/episode.py", "no evidence"): "the tag that capture gives an episode",
    (
        "core/playbook/budget.py",
        "net harmful",
    ): "the name of a standing, which is also how it is said",
    ("formats/claude_mem.py", "SQLite format 3\0"): "how a file of SQLite begins",
    ("formats/learnings.py", "Suggested Action"): "a field of the format",
    ("formats/learnings.py", "Suggested Fix"): "a field of the format",
    ("formats/learnings.py", "Requested Capability"): "a field of the format",
    ("formats/learnings.py", "User Context"): "a field of the format",
    ("formats/learnings.py", "Complexity Estimate"): "a field of the format",
    ("formats/learnings.py", "Suggested Implementation"): "a field of the format",
    ("formats/streams.py", "this is blank"): "what the tool stores for nothing",
    (
        "reflect/claude/asker.py",
        "too long",
    ): "the server's own words; its status says no more than a bad request",
}
"""What is looked for all the same, by module, and whose words those are."""

Texts = dict[str, tuple[str, ...]]
"""The texts of a module's constants, by name."""


class Sources:
    """The modules of the package, and the texts that their constants hold."""

    def __init__(self) -> None:
        self.trees = {file.relative_to(PACKAGE).as_posix(): tree for file, tree in trees().items()}
        self._own = {name: dict(_constants(tree)) for name, tree in self.trees.items()}

    def texts(self, name: str) -> Texts:
        """Return the texts that the constants of a module and those it imports hold; `module.NAME`
        is one, too.
        """
        found = dict(self._own[name])
        for node in ast.walk(self.trees[name]):
            if (
                not isinstance(node, ast.ImportFrom)
                or not node.module
                or not node.module.startswith("workbench")
            ):
                continue
            where = node.module.split(".")[1:]
            for alias in node.names:
                called = alias.asname or alias.name
                found[called] = self._module(where).get(alias.name, ())
                inner = self._module([*where, alias.name])
                found.update({f"{called}.{key}": texts for key, texts in inner.items()})
        return found

    def _module(self, parts: list[str]) -> Texts:
        path = "/".join(parts)
        return self._own.get(f"{path}.py") or self._own.get(f"{path}/__init__.py") or {}


@cache
def sources() -> Sources:
    """Return the sources, read once."""
    return Sources()


def _constants(tree: ast.Module) -> Iterator[tuple[str, tuple[str, ...]]]:
    for node in tree.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        texts = tuple(_texts(node.value, {}))
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (
            (target.id, texts) for target in targets if isinstance(target, ast.Name) and texts
        )


def _texts(node: ast.expr, known: Texts) -> Iterator[str]:
    """Yield the texts that an expression is or holds."""
    match node:
        case ast.Constant(value=str() as text):
            yield text
        case ast.JoinedStr(values=values):
            yield "".join(
                str(value.value) if isinstance(value, ast.Constant) else "0" for value in values
            )
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            for part in parts:
                yield from _texts(part, known)
        case ast.Call(func=ast.Name(id="frozenset" | "set" | "tuple" | "dict"), args=[inner]):
            yield from _texts(inner, known)
        case ast.Name(id=name):
            yield from known.get(name, ())
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            yield from known.get(f"{owner}.{name}", ())


def looked_for(tree: ast.AST, known: Texts) -> Iterator[str]:
    """Yield the texts of two words or more that something is compared with, split at or filtered
    by.
    """
    for node in ast.walk(tree):
        asked: list[ast.expr] = []
        if isinstance(node, ast.Compare) and not any(
            isinstance(op, ast.Is | ast.IsNot) for op in node.ops
        ):
            asked = [node.left, *node.comparators]
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in METHODS
        ):
            asked = [node.func.value, *node.args[:1]] if node.func.attr in SETS else node.args[:1]
        elif isinstance(node, ast.MatchValue):
            asked = [node.value]
        yield from (text for one in asked for text in _texts(one, known) if SENTENCE.search(text))


@pytest.mark.parametrize(
    "code",
    [
        'text == "was changed by another"', '"was changed" not in text', 'text.startswith(f"{id} was left out")',
        'text.removesuffix(SAID)', 'text in (SAID, "")', 'said.SAID in text', 'SOME.intersection(texts)',
        'match text:\n    case "kept apart":\n        pass',
    ],
)  # fmt: skip
def test_the_ways_to_look_for_words_are_seen(code: str) -> None:
    known: Texts = dict.fromkeys(("SAID", "said.SAID", "SOME"), ("kept in the file",))
    assert len(list(looked_for(ast.parse(code), known))) == 1


@pytest.mark.parametrize(
    "code", ['text == "kept"', 'text.split(", ")', "kind is KIND", 'say("It was left out.")']
)
def test_a_mark_a_name_and_what_is_said_are_none(code: str) -> None:
    known: Texts = {"KIND": ("kept in the file",)}
    assert list(looked_for(ast.parse(code), known)) == []


def test_constants_of_other_modules_are_known() -> None:
    texts = sources().texts
    known = texts("services/duplicates/plan.py")
    assert known["UNCONFIRMED_TEXT"] == ("the newest text was never confirmed",)
    assert texts("tui/health/upkeep.py")["UNCONFIRMED_TEXT"] == known["UNCONFIRMED_TEXT"]
    assert texts("services/health/doctor.py")["checkpoint_writer.EDITED"] == (
        "memory.edited-*.json",
    )


def test_no_code_looks_for_words_that_other_code_wrote() -> None:
    modules = sources()
    found = {
        (name, text)
        for name, tree in modules.trees.items()
        for text in looked_for(tree, modules.texts(name))
    }
    assert sorted(found - ALLOWED.keys()) == []
    assert sorted(ALLOWED.keys() - found) == [], "no longer looked for: take it off the list"
