"""The manual: its tables are those of the product, it leaves nothing out, its links lead on, and
its examples work.
"""

import ast
import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.manual import COMMAND, PAGES, SYMBOLS, TABLES, generated, options, parsers
from workbench.cli.main import build_parser
from workbench.config.settings_reading import KEYS
from workbench.core.agents.actors import ENVIRONMENT
from workbench.core.files.formats import known_formats
from workbench.formats.exports import OUTLETS
from workbench.tui.app.areas import AREAS

PATHS = sorted(PAGES.glob("*.md"))
WHOLE = "\n".join(path.read_text("utf-8") for path in PATHS)
PACKAGE = PAGES.parent
AT_THE_TOP = [PACKAGE.parent / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]

_LINK = re.compile(r"\]\(([^)\s]+)\)")

NO_SIGNS = set("“”‘’„…–—·×°±€′″")
"""What a sentence has, and what is only drawn as part of a figure or a frame."""

FIGURES = (
    "BOX DRAWINGS",
    "BLOCK",
    "SHADE",
    "BRAILLE",
    "REPLACEMENT CHARACTER",
    "EIGHTH",
    "QUADRANT",
)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_tables_of_a_page_are_those_of_the_product(path: Path) -> None:
    page = path.read_text("utf-8")
    assert generated(page) == page, f"Tables are out of date. Write them anew: {COMMAND}"


def test_every_table_is_on_a_page() -> None:
    assert [name for name in TABLES if f"<!-- generated: {name} -->" not in WHOLE] == []


def test_every_action_is_named_with_its_keys() -> None:
    ids = [action.id for action in AREAS.every_action()]
    assert [
        id for id in ids if f"`{id}`" not in WHOLE and f"({id})" not in re.sub(r"\s+", " ", WHOLE)
    ] == []


def test_every_command_and_option_is_described() -> None:
    page = (PAGES / "commands.md").read_text("utf-8")
    for _, parser in parsers(build_parser()):
        name = parser.prog.partition(" ")[2]
        _, found, rest = page.partition(f"# {name}\n")
        assert found, name
        section = rest.partition("\n#")[0]
        assert [
            o for action in options(parser) for o in action.option_strings if o not in section
        ] == [], name


def test_every_setting_and_format_is_described() -> None:
    settings, files = (
        (PAGES / f"{name}.md").read_text("utf-8")
        for name in ("settings-and-keys", "files-and-formats")
    )
    assert [key.name for key in KEYS if f"`{key.name}`" not in settings] == []
    names = [*(one.name for one in known_formats()), *(one.name for one in OUTLETS)]
    assert [name for name in names if f"`{name}`" not in files] == []


def test_every_sign_that_a_screen_draws_is_explained() -> None:
    page = (PAGES / "symbols.md").read_text("utf-8")
    assert [sign for signs in SYMBOLS.values() for sign, _ in signs if sign not in page] == []
    drawn: dict[str, str] = {}
    for path in sorted((PACKAGE / "tui").rglob("*.py")):
        for sign in _signs(path):
            drawn.setdefault(sign, path.name)
    assert {sign: where for sign, where in drawn.items() if sign not in page} == {}


def _signs(path: Path) -> Iterator[str]:
    """Yield the signs in the strings of a module, but not in its comments and docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            for sign in set(node.value) - NO_SIGNS:
                is_letter = unicodedata.category(sign)[0] in "LMNZC"
                if (
                    not sign.isascii()
                    and not is_letter
                    and not any(f in unicodedata.name(sign, "") for f in FIGURES)
                ):
                    yield sign


@pytest.mark.parametrize("path", [*PATHS, *AT_THE_TOP], ids=lambda path: path.stem)
def test_links_and_pictures_of_a_page_are_there(path: Path) -> None:
    for target in _LINK.findall(path.read_text("utf-8")):
        if "://" not in target:
            name, _, anchor = target.partition("#")
            there = path.parent / name if name else path
            assert there.exists(), target
            assert not anchor or anchor in _anchors(there), target


def _anchors(path: Path) -> set[str]:
    """Return what the headings of a page are called in links."""
    headings = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_has_a_title_and_can_be_reached_from_the_first() -> None:
    assert [path.name for path in PATHS if not path.read_text("utf-8").startswith("# ")] == []
    seen, ahead = set[str](), ["index.md"]
    while ahead:
        name = ahead.pop()
        if name not in seen and (PAGES / name).is_file():
            seen.add(name)
            ahead += [
                target.partition("#")[0]
                for target in _LINK.findall((PAGES / name).read_text("utf-8"))
            ]
    assert [path.name for path in PATHS if path.name not in seen] == []


EXAMPLES = {
    path.stem: re.findall(r"```console\n(.*?)```", path.read_text("utf-8"), re.DOTALL)
    for path in PATHS
}
FOUND_SOMETHING = {
    "workbench tune --save mine",
    'workbench plan check "Already implemented in branch X"',
}
"""Examples that end with 1: nothing is better there, or something takes one off the plan."""

OF_AGENTS = ("CLAUDE", "ANTHROPIC", "CODEX", "WORKBENCH", "XDG_")


@pytest.mark.slow
@pytest.mark.parametrize("page", [name for name, blocks in EXAMPLES.items() if blocks])
def test_the_examples_of_a_page_work_in_the_demo_store(page: str, tmp_path: Path) -> None:
    """They are run one after the other, as somebody does who reads the page, in a folder and a home
    of its own.
    """
    project, home = tmp_path / "project", tmp_path / "home"
    project.mkdir()
    home.mkdir()
    scripts = Path(sys.executable).parent
    mine = {name: value for name, value in os.environ.items() if not name.startswith(OF_AGENTS)}
    mine = {name: value for name, value in mine.items() if name not in ENVIRONMENT}
    mine |= {"HOME": str(home), "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}

    def run(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", command], cwd=project, env=mine, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False,
        )  # fmt: skip

    assert run("workbench demo --into .workbench").returncode == 0
    failed: list[str] = []
    for line in "".join(EXAMPLES[page]).splitlines():
        prompt, _, command = line.partition(" ")
        assert prompt == "$", line
        done = run(command)
        if done.returncode != (1 if command in FOUND_SOMETHING else 0):
            failed.append(f"{line}\n{done.returncode}: {done.stderr[-500:]}")
    assert not failed, "\n\n".join(failed)
