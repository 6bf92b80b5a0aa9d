"""`workbench` without a command, and `workbench demo`."""

from pathlib import Path

import pytest

from tests.cli.conftest import NOW, Cli, files_of
from tests.cli.shared import at_a_terminal
from tests.demo import MEMORIES
from workbench.cli.main import run
from workbench.config import paths, recent
from workbench.core.first_run import TRY_DEMO, FirstRun, FirstStep


def test_the_app_opens_the_store_that_is_meant(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    at_a_terminal(monkeypatch)
    assert cli.bare("--store", "there").code == 0
    assert cli.bare().code == 0
    (cli.cwd / ".workbench").mkdir()
    assert cli.bare().code == 0
    assert [(store.name, origin) for store, origin, _ in cli.opened] == [
        ("there", "option"),
        ("store", "global"),
        (".workbench", "project"),
    ]
    assert cli.opened[0][0] == cli.cwd / "there"


def test_the_demo_is_a_filled_copy_that_is_removed_afterwards(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_a_terminal(monkeypatch)
    here, places = Path.cwd(), list[Path]()

    def open_there(
        self: Cli, store: Path, *, origin: str, demo: bool = False, **more: object
    ) -> int:
        places.append(Path.cwd())
        return opened(self, store, origin=origin, demo=demo, **more)

    opened = Cli._open
    monkeypatch.setattr(Cli, "_open", open_there)
    result = cli.bare("demo")
    assert (result.code, result.out, result.err) == (0, "", "")
    ((store, origin, was_filled),) = cli.opened
    assert (origin, was_filled) == ("demo", True)
    assert not store.parent.exists()
    assert places == [store / "scratch-project"], "files are named from there"
    assert Path.cwd() == here
    seen = paths.documents_dir()
    assert seen is not None
    assert not (seen.is_dir() and list(seen.iterdir())), (
        "nothing is remembered of documents that are gone"
    )


def test_without_a_terminal_the_app_says_what_to_do(cli: Cli) -> None:
    for arguments in ((), ("demo",)):
        result = cli.bare(*arguments)
        assert (result.code, result.out) == (2, "")
        assert result.err == (
            "workbench: The app needs a terminal. Run it in one, or use a command: see “workbench --help”.\n"
        )
    assert cli.opened == []


@pytest.mark.slow
def test_a_demo_store_can_be_kept(cli: Cli) -> None:
    folder = cli.cwd / "mine"
    result = cli.bare("demo", "--into", "mine")
    assert (result.code, result.err) == (0, "")
    assert result.out == (
        f"The demo store is in {folder}.\nOpen it with: workbench --store {folder}\n"
        f"What is promoted goes into its scratch project, {folder / 'scratch-project'}.\n"
    )
    assert (folder / "scratch-project" / ".claude/skills/rotate-a-secret/SKILL.md").is_file()
    status = cli.bare("status", "--store", "mine")
    assert status.out.startswith("14 pending · ")
    assert status.out.endswith(f" · {MEMORIES} unseen\n")
    newest = cli.bare("list", "-n", "1", "--store", "mine").out
    assert newest.split()[1] == "2026-03-20"
    listed = cli.bare("documents", "--list", "--store", "mine").out.split()
    assert listed[1::2] == [
        str(folder / "documents" / name)
        for name in ("notes", "sessions/tp-audit", "sessions/tp-exports", "sessions/tp-webhooks")
    ]
    assert (
        "tp-exports/detail/csv-for-excel.md"
        in cli.bare("recall", "excel apostrophe", "--store", "mine").out
    )


def test_a_folder_with_something_in_it_is_refused(cli: Cli) -> None:
    cli.write("notes.txt", "mine")
    before = files_of(cli.cwd)
    result = cli.bare("demo", "--into", ".")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        f"workbench: {cli.cwd} is not empty. Nothing was changed; name a new or empty folder.\n"
    )
    assert files_of(cli.cwd) == before


def test_the_demo_has_a_store_of_its_own(cli: Cli) -> None:
    result = cli.bare("--store", "x", "demo")
    assert (result.code, result.err) == (
        2,
        "workbench: The demo makes a store of its own. Use --into DIR to choose its folder.\n",
    )


class Asked:
    """The workbench started without a command by a person who answers the first card with `step`."""

    def __init__(self, cli: Cli, step: FirstStep | None) -> None:
        self.cards: list[FirstRun] = []
        self.begun: list[str] = []
        self.cli, self.step = cli, step

    def start(self) -> int:
        return run([], open_app=self.open, cwd=self.cli.cwd, clock=lambda: NOW, welcome=self.ask)

    def ask(self, first: FirstRun) -> FirstStep | None:
        self.cards.append(first)
        return self.step

    def open(
        self, store: Path, *, origin: str, demo: bool = False, begin: str = "", **more: object
    ) -> int:
        self.begun.append(begin)
        return self.cli._open(store, origin=origin, demo=demo)


def test_with_no_store_it_asks_and_writes_nothing_before_a_choice(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_a_terminal(monkeypatch)
    asked = Asked(cli, None)
    assert asked.start() == 0
    (card,) = asked.cards
    assert (card.here, card.store, card.closed, card.recent) == (
        cli.cwd,
        paths.data_dir() / "store",
        "",
        (),
    )
    assert cli.read()[0].startswith("Nothing was written.")
    assert cli.opened == []
    assert [*Path.home().rglob("*"), *cli.cwd.rglob("*")] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("choice", "origin", "begin"),
    [("empty", "global", ""), ("import", "global", "app.import"), ("demo", "demo", "")],
)
def test_what_is_chosen_is_opened(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, choice: str, origin: str, begin: str
) -> None:
    at_a_terminal(monkeypatch)
    asked = Asked(cli, FirstStep(choice))  # type: ignore[arg-type]
    assert asked.start() == 0
    ((_, opened, was_filled),) = cli.opened
    assert (opened, was_filled, asked.begun) == (origin, choice == "demo", [begin])


def test_a_store_is_made_here_and_opens_by_itself_from_then_on(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_a_terminal(monkeypatch)
    asked = Asked(cli, FirstStep("project"))
    assert asked.start() == 0
    assert asked.start() == 0
    assert cli.opened == [(cli.cwd / ".workbench", "project", True)] * 2
    assert len(asked.cards) == 1


def test_the_demo_opens_in_between_and_the_store_again_after_it(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_a_terminal(monkeypatch)
    assert cli.bare("init").code == 0
    codes, opened = [TRY_DEMO, 0, 0], list[str]()

    def open_app(store: Path, *, origin: str, **more: object) -> int:
        opened.append(origin)
        return codes.pop(0)

    assert run([], open_app=open_app, cwd=cli.cwd, clock=lambda: NOW) == 0
    assert opened == ["project", "demo", "project"]


def test_stores_that_were_open_before_are_offered(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_a_terminal(monkeypatch)
    other = cli.cwd.parent / "api" / ".workbench"
    assert cli.bare("init", str(other.parent)).code == 0
    for folder in (other, cli.cwd.parent):
        recent.remember(paths.state_dir(), folder, 1, NOW)
    asked = Asked(cli, FirstStep("recent", folder=other))
    assert asked.start() == 0
    assert asked.cards[0].recent == (other,), "a folder without a store is none"
    assert cli.opened == [(other, "recent", True)]


def test_a_store_that_is_there_or_named_is_opened_without_a_card(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_a_terminal(monkeypatch)
    assert cli.bare("init", "--store", str(paths.data_dir() / "store")).code == 0
    asked = Asked(cli, None)
    assert asked.start() == 0
    assert (asked.cards, [origin for _, origin, _ in cli.opened]) == ([], ["global"])
