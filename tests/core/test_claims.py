"""The names in a text: what is taken for one, what is not, and the text with new ones."""

import pytest

from tests.core.samples import NOW, memory
from workbench.core.claims import Gone, Name, corrected, is_checked, names_in, why


def found(text: str) -> set[tuple[str, str]]:
    return {(name.kind, name.text) for name in names_in(text)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Run ./scripts/deploy.sh from the root.", {("path", "scripts/deploy.sh")}),
        ("Fixtures live in `tests/data/`.", {("path", "tests/data")}),
        ("conftest.py sets the clock", {("path", "conftest.py")}),
        ("Call `refresh()` first", {("symbol", "refresh")}),
        (
            "Go through TokenStore.save_all, never around it",
            {("symbol", "TokenStore"), ("symbol", "save_all")},
        ),
        ("AUTH_SECRET must be set", {("symbol", "AUTH_SECRET")}),
        ("Run `make client` and commit", {("target", "client"), ("symbol", "make")}),
        ("pnpm build fails without NODE_ENV", {("target", "build"), ("symbol", "NODE_ENV")}),
        ("npm run check:types", {("target", "check:types")}),
        ("python -m tools.seed_db", {("path", "tools/seed_db.py")}),
        ("Use new_client() instead of old_client()", {("symbol", "new_client")}),
        ("The reader was renamed from load_all to read_all", set()),
        ("`old.py` no longer exists. See new.py", {("path", "new.py")}),
        ("see https://example.com/a/b.py and /etc/hosts and ~/.npmrc", set()),
        ("src/**/*.py and $HOME/bin and <name>/x", set()),
        ("Never store local times", set()),
    ],
)
def test_what_is_taken_for_a_name(text: str, names: set[tuple[str, str]]) -> None:
    assert found(text) == names


def test_what_holds_is_checked_and_what_happened_is_not() -> None:
    rule = memory(memory_type="semantic", observation_type="convention")
    assert is_checked(rule)
    assert is_checked(memory(memory_type="episodic", observation_type="instruction"))
    assert not is_checked(memory(memory_type="procedural", observation_type="error"))
    assert not is_checked(memory(memory_type="episodic", observation_type="decision"))
    assert not is_checked(
        memory(memory_type="semantic", status="archived", archived_reason="forgotten")
    )


def test_new_names_are_put_in_where_the_old_ones_stand_by_themselves() -> None:
    text = "read_all() and read_all_now; `src/io.py`, src/io.pyi; make docs"
    renamed = [
        Gone(Name("symbol", "read_all", "read_all"), "load_all"),
        Gone(Name("path", "src/io.py", "src/io.py"), "src/files/io.py"),
        Gone(Name("target", "docs", "docs", "make")),
    ]
    assert (
        corrected(text, renamed)
        == "load_all() and read_all_now; `src/files/io.py`, src/io.pyi; make docs"
    )


def test_why_says_what_became_of_it_and_by_what() -> None:
    moved = Gone(Name("path", "a.py", "a.py"), "b.py", "0123456789abcdef", NOW, "a.py")
    assert why(moved) == "a.py is b.py now (commit 0123456789 of 2026-11-21)"
    target = Gone(Name("target", "docs", "docs", "make"), "", "", None, "Makefile")
    assert why(target) == "make docs no longer exists (not committed yet in Makefile)"
