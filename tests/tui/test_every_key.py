"""Every key of a screen, a dialog or a widget has a method behind it: one that has none would be
silent.
"""

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

import pytest
from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import ModalScreen

import workbench.tui
from workbench.tui.app.actions import Action, bindings
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.areas import AREAS

ROOT = Path(workbench.tui.__file__).parent


def _nodes() -> list[type[DOMNode]]:
    """Return every class of the app that can have keys."""
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT.parent.parent).with_suffix("").parts
        import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    found: list[type[DOMNode]] = []
    waiting: list[type[DOMNode]] = [DOMNode]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if kind.__module__.startswith("workbench.tui."):
            found.append(kind)
    return sorted(set(found), key=lambda kind: (kind.__module__, kind.__qualname__))


def silent(kind: type[DOMNode]) -> list[str]:
    """Return the actions of a class's own keys that nothing carries out."""
    own: Iterable[object] = kind.__dict__.get("BINDINGS", ())
    actions = [
        (b.action if isinstance(b, Binding) else str(b[1]))
        for b in own
        if isinstance(b, Binding | tuple)
    ]
    return [action for action in actions if not _is_there(kind, action)]


def _is_there(kind: type[DOMNode], action: str) -> bool:
    place, _, name = action.partition("(")[0].rpartition(".")
    holder = {"app": App, "screen": AreaScreen}.get(place, kind)
    return hasattr(holder, f"action_{name}")


@pytest.mark.slow
@pytest.mark.parametrize("kind", _nodes(), ids=lambda kind: kind.__qualname__)
def test_every_key_has_a_method_and_is_in_a_table_that_help_and_keymap_know(
    kind: type[DOMNode],
) -> None:
    assert silent(kind) == []
    held = {b.id for b in kind.__dict__.get("BINDINGS", ()) if isinstance(b, Binding) and b.id}
    scopes = AREAS.scopes().values()
    assert not held or any(held <= {action.id for action in scope} for scope in scopes)


def test_a_key_without_a_method_is_found_in_a_dialog() -> None:
    table = (
        Action("toy.shout", "x", "shout", "Say it loud"),
        Action("toy.close", "escape", "close", "Close it"),
    )

    class Toy(ModalScreen[None]):
        BINDINGS = bindings(table)

        def action_close(self) -> None:
            self.dismiss(None)

    assert silent(Toy) == ["shout"]
    dialogs = [kind for kind in _nodes() if issubclass(kind, ModalScreen)]
    assert len([kind for kind in dialogs if kind.__dict__.get("BINDINGS")]) > 20
