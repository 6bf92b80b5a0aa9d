"""Facts are values: no code of ours compares, splits or filters the sentences that other code of
ours wrote.
"""

import ast
import re
from collections.abc import Iterator

from tests.sources import PACKAGE, trees

SENTENCE = re.compile(r"[A-Za-z]{2,}[,;:.]? +[A-Za-z]{2,}")
"""Two words or more: a name, a mark or a suffix has one."""

METHODS = {
    "startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "split", "rsplit", "replace",
    "find", "rfind", "index", "rindex", "count", "__contains__",
}  # fmt: skip

ALLOWED = {
    "no evidence": "the tag that capture gives an episode",
    "net harmful": "the name of a standing, which is also how it is said",
    "SQLite format 3\0": "how a file of SQLite begins",
    "this is blank": "what the tool stores for nothing",
    "too long": "the server's own words; its status says no more than a bad request",
}
"""What is looked for all the same, and whose words those are."""


def looked_for(tree: ast.Module) -> Iterator[str]:
    """Yield the texts of two words or more that something is compared with, split at or filtered
    by.
    """
    known = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        asked: list[ast.expr] = []
        match node:
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() | ast.In() | ast.NotIn(), *_]):
                asked = [left, *node.comparators]
            case ast.Call(func=ast.Attribute(attr=name)) if name in METHODS:
                asked = node.args[:1]
            case ast.MatchValue(value=value):
                asked = [value]
        for one in asked:
            place = known.get(one.id, one) if isinstance(one, ast.Name) else one
            for part in getattr(place, "elts", [place]):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield from [part.value] if SENTENCE.search(part.value) else []


def test_no_code_looks_for_words_that_other_code_wrote() -> None:
    found = {
        (file.relative_to(PACKAGE).as_posix(), text)
        for file, tree in trees().items()
        for text in looked_for(tree)
    }
    assert [one for one in sorted(found) if one[1] not in ALLOWED] == []
    assert ALLOWED.keys() <= {text for _, text in found}, "no longer looked for"


def test_words_that_are_looked_for_are_seen() -> None:
    code = 'SAID = "kept in the file"\ntext == SAID\ntext.startswith("was left out")\nsay(SAID)'
    assert list(looked_for(ast.parse(code))) == ["kept in the file", "was left out"]
