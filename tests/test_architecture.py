"""The arrows as they really load: a late import hides from the import linter, not from
`sys.modules`.
"""

import ast
import subprocess
import sys
import tomllib
from collections.abc import Collection, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest
import textual

from tests.sources import PACKAGE, trees

HEAVY = (
    "textual",
    "tinydb",
    "numpy",
    "rapidfuzz",
    "model2vec",
    "anthropic",
    "sqlite3",
    "orjson",
    "psycopg",
)


def loaded_by(code: str) -> set[str]:
    """Return the top-level modules that are loaded after running `code` in a fresh interpreter."""
    script = (
        f"import sys\n{code}\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    )
    command = [sys.executable, "-c", script]
    result = subprocess.run(command, capture_output=True, text=True, check=True, cwd=PACKAGE.parent)
    return set(result.stdout.split())


def modules_of(package: str) -> str:
    paths = sorted(p for p in (PACKAGE / package).rglob("*.py") if p.stem != "__init__")
    names = (".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in paths)
    return "\n".join(f"import {name}" for name in names)


@pytest.mark.parametrize(
    ("package", "allowed"),
    [
        ("core", set()),
        ("formats", {"sqlite3"}),
        ("store", {"tinydb", "orjson", "sqlite3"}),
        ("retrieval", {"numpy", "rapidfuzz", "sqlite3"}),
        ("evaluation", {"numpy", "rapidfuzz", "sqlite3"}),
        ("services", {"tinydb", "orjson", "numpy", "rapidfuzz", "sqlite3"}),
    ],
)
def test_a_layer_loads_only_its_own_libraries(package: str, allowed: set[str]) -> None:
    assert loaded_by(modules_of(package)) & set(HEAVY) <= allowed


def test_the_app_loads_neither_the_model_library_nor_anthropic() -> None:
    assert not loaded_by("import workbench.tui.app.run") & {
        "model2vec",
        "anthropic",
        "huggingface_hub",
    }


def test_asking_for_help_loads_almost_nothing() -> None:
    code = "from workbench.__main__ import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass"
    assert not loaded_by(code) & {"textual", "numpy", "model2vec", "anthropic"}


@cache
def imports() -> dict[str, frozenset[str]]:
    """Return which modules of ours each module imports: at its top, in a function, or for its types
    only.
    """
    files = {_module_name(path): tree for path, tree in trees().items()}
    return {
        name: frozenset(_imported(name, tree, files.keys()) - {name})
        for name, tree in files.items()
    }


def _module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(module: str, tree: ast.Module, known: Collection[str]) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports by a relative name"
            inner = ((f"{node.module}.{name.name}", node.module or "") for name in node.names)
            found |= {name if name in known else package for name, package in inner}
    return found & set(known)


def test_no_file_imports_itself_by_way_of_others() -> None:
    """What is imported late, or for its types, counts: neither of the two can be understood without
    the other.
    """
    try:
        TopologicalSorter(imports()).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_interfaces_import_the_services_the_core_and_the_config() -> None:
    """No layer below the services is theirs to reach, late or for its types either."""
    reached = {
        f"{name} -> {other}"
        for name, others in imports().items()
        for other in others
        if name.split(".")[1:2] in (["tui"], ["cli"], ["mcp"], ["agent"], ["__main__"])
        and other.split(".")[1:2] in [[floor] for floor in FLOORS]
    }
    assert sorted(reached) == []


def test_contracts_cover_every_package_and_module_of_the_root() -> None:
    """Whoever does not own a library is in the contract that keeps it from it; the layers are
    exhaustive.
    """
    root = {_module_name(path).split(".")[1] for path in trees() if path != PACKAGE / "__init__.py"}
    settings = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text("utf-8"))["tool"][
        "importlinter"
    ]
    layers = next(contract for contract in settings["contracts"] if contract["type"] == "layers")
    assert layers["exhaustive"]
    assert {name for layer in layers["layers"] for name in layer.split(" | ")} == root
    kept = [
        contract for contract in settings["contracts"] if contract.get("allow_indirect_imports")
    ]
    assert len(kept) == len(OWNERS)
    for contract in kept:
        sources = {source.partition(".")[2] for source in contract["source_modules"]}
        assert root - sources == OWNERS[contract["forbidden_modules"][0]], contract["name"]


FLOORS = {"store", "retrieval", "formats", "reflect", "safety", "evaluation"}

OWNERS = {
    "workbench.store": {"services", "core", "config", "clipboard", "crash", "streams", *FLOORS},
    "tinydb": {"store"},
    "mcp": {"mcp"},
    "psycopg": {"store"},
    "workbench.store.journal": {"store"},
    "textual": {"tui"},
    "anthropic": {"reflect", "safety", "agent"},
}


def _modules_in(folder: Path) -> list[Path]:
    """Return the modules and packages of a folder; what only byte code of former ones is left of is
    none.
    """
    return [
        path for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    ]


def feature_table() -> str:
    """Return which folder or module of each layer is about a feature, as CONTRIBUTING shows it."""
    layers = ("core", "services", "tui", "cli")
    places = {layer: {path.stem: path for path in _modules_in(PACKAGE / layer)} for layer in layers}
    lines = [
        f"| feature | {' | '.join(f'`{layer}/`' for layer in layers)} |",
        "|---" * (len(layers) + 1) + "|",
    ]
    for feature in sorted(places["services"]):
        found = [places[layer].get(feature) for layer in layers]
        if len([path for path in found if path is not None]) > 1 and not feature.startswith("__"):
            cells = [
                (path and f"[{path.name}](workbench/{path.parent.name}/{path.name})") or ""
                for path in found
            ]
            lines.append(f"| {feature} | {' | '.join(cells)} |")
    return "\n".join(lines)


def test_the_table_of_features_is_as_the_folders_are() -> None:
    page = (PACKAGE.parent / "CONTRIBUTING.md").read_text("utf-8")
    shown = page.partition("<!-- features -->\n")[2].partition("\n<!-- end -->")[0]
    assert shown == feature_table(), f"Put this into CONTRIBUTING.md:\n{feature_table()}"


def test_every_folder_is_a_package() -> None:
    folders = {path.parent for path in trees()}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").exists()] == []


def test_few_functions_are_long_and_none_is_very_long() -> None:
    lengths = {
        f"{path.relative_to(PACKAGE)}:{node.lineno} {node.name}": node.end_lineno - node.lineno + 1
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None
    }
    assert {name: lines for name, lines in lengths.items() if lines > 120} == {}
    long = [name for name, lines in lengths.items() if lines > 60]
    assert len(long) <= 60, long


def test_the_journal_is_the_stores_own() -> None:
    """What those outside need of it is a member of the library, named after the need."""
    reaching = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path, tree in trees().items()
        if not path.is_relative_to(PACKAGE / "store")
        for node in ast.walk(tree)
        if (isinstance(node, ast.Attribute) and node.attr == "journal")
        or (isinstance(node, ast.ImportFrom) and _is_journal(node.module or "", node))
        or (isinstance(node, ast.Import) and any(_is_journal(name.name) for name in node.names))
    ]
    assert reaching == []


def test_documents_as_they_are_stored_are_the_stores_own() -> None:
    """What those outside need of them is a method of the library, named after the need."""
    reaching = [
        f"{path.relative_to(PACKAGE)}:{node.lineno} {node.attr}"
        for path, tree in trees().items()
        if not path.is_relative_to(PACKAGE / "store")
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in ("documents", "state")
        and _is_library(node.value)
    ]
    assert reaching == []


def test_the_stores_folder_is_only_handed_on() -> None:
    """Whoever outside the store needs a place in or beside its folder asks the library for it."""
    reaching = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path, tree in trees().items()
        if not path.is_relative_to(PACKAGE / "store")
        for line in _joined(tree)
    ]
    assert reaching == []


def test_a_joined_folder_of_a_store_is_found() -> None:
    """Also under another name; what is handed on or shown is not."""
    other = "folder = self._library.folder; folder.glob('*')"
    for code in ("library.folder / 'x'", other, "bench.library.folder.parent"):
        assert list(_joined(ast.parse(f"def do(): {code}"))) == [1]
    assert (
        list(
            _joined(
                ast.parse("def do(): where = library.folder; print(where, f'{library.folder}')")
            )
        )
        == []
    )


def _joined(tree: ast.Module) -> Iterator[int]:
    """Yield the lines in which a library's folder is joined to something, or asked for what is in
    or beside it.
    """
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            nodes = list(ast.walk(function))
            given = [
                node
                for node in nodes
                if isinstance(node, ast.Assign) and _is_folder(node.value, set())
            ]
            names = {
                target.id
                for node in given
                for target in node.targets
                if isinstance(target, ast.Name)
            }
            for node in nodes:
                if isinstance(node, ast.BinOp) and _is_folder(node.left, names):
                    yield node.lineno
                if isinstance(node, ast.Attribute) and _is_folder(node.value, names):
                    yield node.lineno


def _is_folder(node: ast.expr, names: set[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in names
    return isinstance(node, ast.Attribute) and node.attr == "folder" and _is_library(node.value)


def _is_library(node: ast.expr) -> bool:
    """Tell whether an expression is called a library: `library`, `self._library`, `bench.library`."""
    name = (
        node.id
        if isinstance(node, ast.Name)
        else node.attr
        if isinstance(node, ast.Attribute)
        else ""
    )
    return name.strip("_") in ("library", "journal")


def _is_journal(module: str, names: ast.ImportFrom | None = None) -> bool:
    """Tell whether an import is of the journal's package, or of something in it."""
    own = "workbench.store.journal"
    inner = (
        module == "workbench.store"
        and names is not None
        and any(name.name == "journal" for name in names.names)
    )
    return inner or module == own or module.startswith(f"{own}.")


def test_only_the_outermost_edge_catches_everything() -> None:
    broad = [
        str(path.relative_to(PACKAGE))
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id == "Exception"))
    ]
    assert set(broad) <= {"__main__.py"}


PRIVATE_NAMES = "workbench.tui.app.private_names"
"""The one module that uses private names of Textual, each with its reason."""


def test_few_private_names_of_textual_are_used_and_all_in_one_module() -> None:
    used = private_names_of_textual()
    assert {module for module, _ in used} <= {PRIVATE_NAMES}
    assert len({name for _, name in used}) <= 4, used


def private_names_of_textual() -> set[tuple[str, str]]:
    """Return the private names of Textual that the screens import, use on what is not their own, or
    override, with the module that does.
    """
    root = Path(textual.__file__).parent
    theirs = {
        ".".join(("textual", *path.relative_to(root).with_suffix("").parts)): ast.parse(
            path.read_text("utf-8")
        )
        for path in root.rglob("*.py")
    }
    ours = {_module_name(path): tree for path, tree in trees().items()}
    ours = {name: tree for name, tree in ours.items() if name.startswith("workbench.tui.")}
    known = {name for tree in theirs.values() for name in _private_in(tree)}
    known |= {name for module in theirs for name in module.split(".") if _is_private(name)}
    own = {name for tree in ours.values() for name in _private_in(tree)}
    used = {
        (module, name)
        for module, tree in ours.items()
        for node in ast.walk(tree)
        for name in _named(node)
        if name in known and not (name in own and _is_on_self(node))
    }
    of_class = {
        (module, node.name): _private_in(node)
        for module, tree in (theirs | ours).items()
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }
    for module, name in [each for each in of_class if each[0] in ours]:
        for base in getattr(import_module(module), name).__mro__[1:]:
            inherited = of_class.get((base.__module__, base.__name__), set())
            if base.__module__ in theirs:
                used |= {(module, each) for each in of_class[module, name] & inherited}
    return used


def _named(node: ast.AST) -> list[str]:
    """Return the names that an attribute, or an import from Textual, names."""
    if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("textual."):
        return [*str(node.module).split("."), *(alias.name for alias in node.names)]
    return [node.attr] if isinstance(node, ast.Attribute) else []


def _is_on_self(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )


def _private_in(tree: ast.AST) -> set[str]:
    """Return the private names that are defined: functions, attributes, and names of a class."""
    found = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
        elif isinstance(node, ast.ClassDef):
            targets = (
                [each.target] if isinstance(each, ast.AnnAssign) else each.targets
                for each in node.body
                if isinstance(each, ast.Assign | ast.AnnAssign)
            )
            found |= {name.id for some in targets for name in some if isinstance(name, ast.Name)}
    return set(filter(_is_private, found))


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")
