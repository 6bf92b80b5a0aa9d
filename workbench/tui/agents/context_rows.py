"""The rows of a context: all of it, each layer's budget, then what each gives, and what it leaves out and why."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from textual.content import Content

from workbench.core.text import printable
from workbench.services.agents.answers import text_of
from workbench.services.agents.context.values import AgentContext, Item, Layer, LeftOut
from workbench.services.open import Workbench
from workbench.services.safety.provenance import BEGIN
from workbench.tui.agents.drawing import bar, memory_line
from workbench.tui.widgets.bars.slider import CHANGED
from workbench.tui.widgets.content import MUTED, assemble, body
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.lists.row import Cell

NAMED = 5
"""What is left out of a layer is named one by one up to so many, until the row that counts the rest is opened."""

_BAR, _SHORT_BAR, _NARROW = 16, 8, 64
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Whole:
    """The row of all that is given."""

    made: AgentContext


@dataclass(frozen=True, slots=True)
class Head:
    """The row of a layer with its budget as a bar; `moved` says that a key moved it."""

    layer: Layer
    moved: bool


@dataclass(frozen=True, slots=True)
class Section:
    """The row that heads what a layer gives and leaves out."""

    layer: Layer


@dataclass(frozen=True, slots=True)
class Given:
    """The row of something that is given."""

    layer: Layer
    item: Item


@dataclass(frozen=True, slots=True)
class Out:
    """The row of something that is left out."""

    layer: Layer
    left: LeftOut


@dataclass(frozen=True, slots=True)
class More:
    """The row that counts what else a layer leaves out."""

    layer: Layer
    count: int


@dataclass(frozen=True, slots=True)
class Weak:
    """The row that counts what the ranking found and any question could have found."""

    count: int


Row = Whole | Head | Section | Given | Out | More | Weak


def rows_of(made: AgentContext, moved: Collection[str], unfolded: Collection[str]) -> list[Row]:
    """Return the rows of a context; of the layers that are `unfolded` everything that is left out has one."""
    rows: list[Row] = [Whole(made), *(Head(layer, layer.kind.id in moved) for layer in made.layers)]
    for layer in made.layers:
        if layer.items or layer.left_out:
            rows += [Section(layer), *(Given(layer, item) for item in layer.items)]
            rows += _left_out(layer, layer.kind.id in unfolded)
    return [*rows, Weak(made.weak)] if made.weak else rows


def _left_out(layer: Layer, unfolded: bool) -> Iterator[Row]:
    few = len(layer.left_out) if unfolded else NAMED
    yield from (Out(layer, left) for left in layer.left_out[:few])
    if len(layer.left_out) > few:
        yield More(layer, len(layer.left_out) - few)


def key_of(row: Row) -> tuple[str, str]:
    """Name a row, so that the cursor stays on it while budgets move; what falls out of a layer keeps its name."""
    match row:
        case Whole() | Weak():
            return (type(row).__name__, "")
        case Head(layer) | Section(layer) | More(layer):
            return (type(row).__name__, layer.kind.id)
        case Given(layer, item):
            return (layer.kind.id, item.id)
        case Out(layer, left):
            return (layer.kind.id, left.id)


def is_heading(row: Row) -> bool:
    """Tell whether a row heads those below it."""
    return isinstance(row, Whole | Section)


def id_of(row: Row | None) -> str:
    """Return the id of what a row gives or leaves out; empty for the others."""
    return row.item.id if isinstance(row, Given) else row.left.id if isinstance(row, Out) else ""


def place_of(row: Row | None, bench: Workbench) -> tuple[str, str] | None:
    """Return table and key of the memory or bullet that a row is about; `None` for none."""
    id, library = id_of(row), bench.library
    if not id:
        return None
    return ("memories", id) if id in library.memories else ("bullets", id) if id in library.bullets else None


def draw(row: Row, width: int, bench: Workbench) -> list[Cell] | Content:
    """Return the line of a row."""
    match row:
        case Whole(made):
            used = f"{number(made.tokens)} of {number(made.budget)} tokens"
            return assemble([(f"{'all':<14} ", ""), (used, ""), (f" · {number(len(made.given))} given", MUTED)])
        case Head(layer, moved):
            return _head(layer, moved, width)
        case Section(layer):
            return Content.styled(layer.kind.title, "$text-accent")
        case Given(_, item):
            shown = item.score if item.relevance is None else item.relevance
            score = "" if shown is None else f"{shown:.3f}"
            return [
                Cell(number(item.tokens), 6, MUTED, "right"),
                Cell(score, 5, MUTED, "right"),
                Cell(_said(item, bench)),
            ]
        case Out(_, left):
            said, about = f"✗ {why(left)}", Content("") if left.why == "held" else _about(left.id, bench)
            return [Cell(said, min(len(said), max(12, width * 3 // 5)), "$text-warning"), Cell(about)]
        case More(_, count):
            return Content.styled(f"✗ … and {number(count)} more left out, enter shows them", MUTED)
        case Weak(count):
            return Content.styled(f"✗ {number(count)} below the floor: any question finds as much", MUTED)


def _head(layer: Layer, moved: bool, width: int) -> Content:
    share = layer.tokens / layer.budget if layer.budget else 0.0
    cells = _SHORT_BAR if width < _NARROW else _BAR
    figures = f" {number(layer.tokens)} of {number(layer.budget)}"
    told = layer.items and (width >= _NARROW or not layer.left_out)
    given = f" · {number(len(layer.items))} given" if told else ""
    out = f" · {number(len(layer.left_out))} left out" if layer.left_out else ""
    title = f"{layer.kind.title:<14}{CHANGED if moved else ' '}"
    return assemble([(title, "")]) + bar(share, cells) + assemble([(figures, ""), (given + out, MUTED)])


def _said(item: Item, bench: Workbench) -> Content:
    """Return what is given in one line: a memory as everywhere, of another text its first line."""
    memory = bench.library.memories.find(item.id)
    if memory is not None:
        return memory_line(memory, bench)
    lines = (line for line in item.text.split("\n") if line.strip() and not line.startswith(BEGIN))
    return Content(printable(next(lines, "")[:_LONGEST]))


def _about(id: str, bench: Workbench) -> Content:
    memory = bench.library.memories.find(id)
    if memory is not None:
        return memory_line(memory, bench)
    bullet = bench.library.bullets.find(id)
    text = id if bullet is None else bullet.content
    return Content(printable(bench.safety.masked(text[:_LONGEST])))


def told(row: Row, bench: Workbench) -> Content:
    """Return what a row stands for besides the memory it is about: all texts as the agent gets them, or why not."""
    match row:
        case Whole(made):
            return Content("\n\n").join([body(_ALL, MUTED), body(text_of(made) or "Nothing is given.")])
        case Head(layer) | Section(layer):
            return Content("\n").join([body(_sum(layer), "bold"), *(body(f"\n{item.text}") for item in layer.items)])
        case Given(layer, item):
            return Content("\n").join([*_given(layer, item, bench), Content("")])
        case Out(layer, left):
            said = body(f"Left out of “{layer.kind.title}”: {why(left)}", "bold $text-warning")
            return Content("\n").join([said, body(bench.safety.masked(left.id), MUTED), Content("")])
        case More(layer, count):
            return body(f"{number(count)} more are left out of “{layer.kind.title}”; enter lists them.")
        case Weak(count):
            return body(f"{number(count)} of the best were below the floor: any question finds as much.")


def _given(layer: Layer, item: Item, bench: Workbench) -> Iterator[Content]:
    score = "" if item.score is None else f" · score {item.score:.4f}"
    score = score if item.relevance is None else f" · relevance {item.relevance:.4f}"
    yield body(f"Given in “{layer.kind.title}” · {number(item.tokens)} tokens{score}", "bold")
    yield body(item.id, MUTED)
    if item.id not in bench.library.memories:
        yield body(f"\n{item.text}")


_ALL = "What a layer leaves of its budget goes on to those below it, so that together they come to more than all."


def _sum(layer: Layer) -> str:
    before = f": {number(layer.own)} of its own, {number(layer.left_before)} left by those above"
    of = f"{number(layer.tokens)} of {number(layer.budget)} tokens"
    return f"{layer.kind.title} · {of}{before if layer.left_before else ''}"


def why(left: LeftOut) -> str:
    """Say why something is left out."""
    return {
        "budget": f"over budget by {number(left.over)} tokens" if left.over else "net harmful: better ones do not fit",
        "held": "held back: the text gives orders or hides characters",
        "unapproved": "not approved by a person",
        "weak": "below the floor",
        "given": "given by a layer above",
        "placed": "in a file that agents load",
        "untrusted": "nobody has looked at it: workbench documents DIR --trust",
    }[left.why]
