"""What could be changed in a module: every comparison, `and`, `not`, sum, constant and condition,
one at a time.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

CONTEXT = 8
"""Lines that a text may have, so that it stands once in the package."""

COMPARED = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"), ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="), ast.In: ("in", "not in"), ast.NotIn: ("not in", "in"), ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}  # fmt: skip
COUNTED = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"), ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
}  # fmt: skip
SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any"}
UNSEEN = ("annotation", "returns", "decorator_list")
"""Parts of the syntax whose change no program would notice."""

Change = tuple[str, int, int, bytes]
"""What is changed: the kind, the bytes from and to which, and what they become."""


class Source:
    """One module: its bytes, and what could be changed in them."""

    def __init__(self, path: Path) -> None:
        self.path, self.data = path, path.read_bytes()
        self.tree = ast.parse(self.data)
        self._starts = [0, *(found.end() for found in re.finditer(b"\n", self.data))]

    def changes(self) -> Iterator[Change]:
        """Yield every change of one operator, constant or condition."""
        yield from self._changes(self.tree)

    def _changes(self, node: ast.AST) -> Iterator[Change]:
        if _is_silent(node):
            return
        yield from self._own(node)
        for name, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and name not in UNSEEN:
                    yield from self._changes(child)

    def _own(self, node: ast.AST) -> Iterator[Change]:
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for op, left, right in zip(node.ops, sides, sides[1:], strict=False):
                yield from self._between("comparison", left, right, *COMPARED[type(op)])
        if isinstance(node, ast.BoolOp):
            words = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            for left, right in zip(node.values, node.values[1:], strict=False):
                yield from self._between("and/or", left, right, *words)
        if isinstance(node, ast.BinOp) and _counts(node.op, node.left, node.right):
            yield from self._between("arithmetic", node.left, node.right, *COUNTED[type(node.op)])
        if isinstance(node, ast.AugAssign) and _counts(node.op, node.target, node.value):
            yield from self._between(
                "arithmetic", node.target, node.value, *(f"{s}=" for s in COUNTED[type(node.op)])
            )
        if isinstance(node, ast.expr):
            yield from self._whole(node)
        for test in _conditions(node):
            inner = self.data[self._at(test) : self._end(test)]
            yield "condition", self._at(test), self._end(test), b"(not (%s))" % inner

    def _whole(self, node: ast.expr) -> Iterator[Change]:
        start, end = self._at(node), self._end(node)
        match node:
            case ast.UnaryOp(op=ast.Not()):
                yield "not", start, start + 3, b""
            case ast.Constant(value=bool(is_so)):
                yield "constant", start, end, str(not is_so).encode()
            case ast.Constant(value=int(number)):
                yield "constant", start, end, str(number + 1).encode()
            case ast.Call(func=ast.Name(id=name)) if name in SWAPPED:
                yield "min/max", start, start + len(name), SWAPPED[name].encode()

    def _between(
        self, kind: str, left: ast.expr, right: ast.expr, sign: str, other: str
    ) -> Iterator[Change]:
        begin, gap = self._end(left), self.data[self._end(left) : self._at(right)]
        if found := re.fullmatch(rb"[\s)]*(%s)[\s(]*" % re.escape(sign).encode(), gap):
            yield kind, begin + found.start(1), begin + found.end(1), other.encode()

    def _at(self, node: ast.expr) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr) -> int:
        return self._starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)

    def texts(self, change: Change, package: bytes) -> tuple[str, str] | None:
        """Return before and after of a change in as many lines as make it stand once in the
        package.
        """
        _, start, end, new = change
        first = self.data.rfind(b"\n", 0, start) + 1
        last = self.data.find(b"\n", end) % (len(self.data) + 1)
        for more in range(CONTEXT):
            before = self.data[first:last]
            if package.count(before) == 1:
                after = self.data[first:start] + new + self.data[end:last]
                ast.parse(self.data[:first] + after + self.data[last:])
                return before.decode(), after.decode()
            if more % 2 == 0 and first:
                first = self.data.rfind(b"\n", 0, first - 1) + 1
            else:
                last = self.data.find(b"\n", last + 1) % (len(self.data) + 1)
        return None

    def around(self, line: int) -> list[range]:
        """Return the lines of a line, of the statements that hold it, from the innermost, and of
        the module.
        """
        nodes = (node for node in ast.walk(self.tree) if isinstance(node, ast.stmt))
        spans = (range(node.lineno, (node.end_lineno or node.lineno) + 1) for node in nodes)
        held = sorted((span for span in spans if line in span), key=len)
        return [range(line, line + 1), *held, range(1, len(self._starts) + 1)]


def _conditions(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the conditions of a node that hold no operator of their own to change."""
    tests = node.ifs if isinstance(node, ast.comprehension) else []
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        tests = [node.test]
    own = (ast.Compare, ast.BoolOp, ast.Constant)
    yield from (
        t
        for t in tests
        if not isinstance(t, own) and not isinstance(getattr(t, "op", None), ast.Not)
    )


def _is_silent(node: ast.AST) -> bool:
    """Tell whether a node says something to the type checker only, or asks `zip` for what is so
    anyway.
    """
    if isinstance(node, ast.Assert | ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.Subscript | ast.If):
        return ast.unparse(node.value if isinstance(node, ast.Subscript) else node.test) in (
            "Literal",
            "TYPE_CHECKING",
        )
    return isinstance(node, ast.keyword) and node.arg == "strict"


def _counts(op: ast.operator, left: ast.expr, right: ast.expr) -> bool:
    """Tell whether an operator seems to work on numbers: joined texts and paths fail at once,
    changed.
    """
    if type(op) not in COUNTED or isinstance(getattr(left, "value", 0), str):
        return False
    nodes = [node for side in (left, right) for node in ast.walk(side)]
    names = any(
        isinstance(node, ast.Name) and node.id in ("len", "sum", "min", "max", "abs")
        for node in nodes
    )
    numbers = any(
        isinstance(node, ast.Constant) and type(node.value) in (int, float) for node in nodes
    )
    return not isinstance(op, ast.Add | ast.Div) or names or numbers
