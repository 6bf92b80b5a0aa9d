"""Bullets of a playbook from a shell."""

import pytest

from tests.cli.conftest import Cli
from workbench.core.playbook.book import Bullet
from workbench.store.library import Library

RULE = "Run the migrations before the workers restart"


def bullets(cli: Cli) -> dict[str, Bullet]:
    return {bullet.id: bullet for bullet in Library(cli.store).bullets.all()}


def test_bullets_are_listed_by_section_with_their_votes(demo: Cli) -> None:
    first = next(iter(bullets(demo).values()))
    line = next(
        line for line in demo.ok("bullet", "list").splitlines() if line.startswith(first.id)
    )
    assert f"+{first.helpful_count}  −{first.harmful_count}" in line
    rows = demo.json("bullet", "list")
    assert {row["id"] for row in rows} == set(bullets(demo))


def test_a_section_is_found_by_its_title_too(demo: Cli) -> None:
    section = Library(demo.store).sections.all()[0]
    added = demo.told("bullet", "add", section.title.upper(), RULE)
    assert added["section"] == section.id


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (("add", "nowhere", RULE), "There is no section “nowhere”"), (("edit", "nope", RULE), "nope"),
        (("edit", "mem-20260206-0000009", RULE), "is a memory"), (("list", "--book", "other"), "no playbook other"),
        (("edit", "shr-00001", " "), "needs text"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused(args: tuple[str, ...], sentence: str, demo: Cli) -> None:
    rev = Library(demo.store).revision
    result = demo("bullet", *args)
    assert result.code == 2
    assert sentence in result.err
    assert Library(demo.store).revision == rev


def test_an_agent_changes_no_playbook(demo: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    before = bullets(demo)
    assert "An agent cannot change a playbook" in demo("bullet", "edit", "shr-00001", RULE).err
    assert bullets(demo) == before


@pytest.mark.parametrize("named", [(), ("--book", "rules")])
def test_the_first_bullet_of_a_store_begins_a_playbook(named: tuple[str, ...], cli: Cli) -> None:
    cli.ok("init")
    added = cli.json("bullet", "add", "strategies", RULE, *named)
    assert (added["book"], bullets(cli)[added["id"]].content) == (
        named[-1] if named else "main",
        RULE,
    )
    assert "There is no section “pitfalls”" in cli("bullet", "add", "pitfalls", RULE).err
    cli.ok("undo")
    assert not Library(cli.store).books.all()
    assert not bullets(cli)
