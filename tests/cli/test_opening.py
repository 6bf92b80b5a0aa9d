"""`workbench` without a command, `demo`, `init`, `config` and `stores`: which store is meant, made or refused, and
where things are.
"""

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.cli.conftest import NOW, Cli, files_of
from tests.cli.shared import WORKBENCH, at_a_terminal, configure, workbench
from tests.demo import MEMORIES
from workbench.cli.main import run
from workbench.config import paths, recent
from workbench.core.first_run import TRY_DEMO, FirstRun, FirstStep
from workbench.core.record import StoreProblem
from workbench.tui.app.run import run as run_app


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
    assert result.code == 0
    assert result.out == ""
    assert result.err == ""
    ((store, origin, was_filled),) = cli.opened
    assert origin == "demo"
    assert was_filled is True
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
        assert result.code == 2
        assert result.out == ""
        assert result.err == (
            "workbench: The app needs a terminal. Run it in a terminal, or use a command: see “workbench --help”.\n"
        )
    assert cli.opened == []


@pytest.mark.slow
def test_a_demo_store_can_be_kept(cli: Cli) -> None:
    folder = cli.cwd / "mine"
    assert f"Open it with: workbench --store {folder}\n" in cli.bare("demo", "--into", "mine").out
    assert (folder / "scratch-project" / ".claude/skills/rotate-a-secret/SKILL.md").is_file()
    assert f" · {MEMORIES} unseen\n" in cli.bare("status", "--store", "mine").out
    found = cli.bare("recall", "excel apostrophe", "--store", "mine").out
    assert "tp-exports/detail/csv-for-excel.md" in found


def test_a_folder_with_something_in_it_is_refused(cli: Cli) -> None:
    cli.write("notes.txt", "mine")
    before = files_of(cli.cwd)
    result = cli.bare("demo", "--into", ".")
    assert result.code == 2
    assert result.out == ""
    assert result.err == (
        f"workbench: {cli.cwd} is not empty. Nothing was changed; name a new or empty folder.\n"
    )
    assert files_of(cli.cwd) == before


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
    assert card.here == cli.cwd
    assert card.store == paths.data_dir() / "store"
    assert card.closed == ""
    assert card.recent == ()
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
    assert opened == origin
    assert was_filled == (choice == "demo")
    assert asked.begun == [begin]


def test_a_store_is_made_here_and_opens_by_itself_from_then_on(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_a_terminal(monkeypatch)
    asked = Asked(cli, FirstStep("project"))
    assert asked.start() == 0
    assert asked.start() == 0
    assert cli.opened == [(cli.cwd / ".workbench", "project", True)] * 2
    assert len(asked.cards) == 1


def test_a_path_in_an_answer_names_the_file_whatever_its_folder_is_called(cli: Cli) -> None:
    folder = cli.cwd / "AKIAZ7QWERTYUI5PLMNB"
    made = json.loads(cli.bare("init", str(folder), "--json").out)
    assert made["store"] == str(folder / ".workbench")


@pytest.mark.parametrize("mark", [".git/", "CLAUDE.md"])
def test_a_file_is_imported_into_a_store_of_the_project(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    at_a_terminal(monkeypatch)
    if mark == ".git/":
        (cli.cwd / ".git").mkdir()
    else:
        cli.write(mark, "# Rules\n")
    asked = Asked(cli, FirstStep("import"))
    assert asked.start() == 0
    assert asked.cards[0].is_project
    assert cli.opened == [(cli.cwd / ".workbench", "project", True)]
    assert asked.begun == ["app.import" if mark == ".git/" else "stream.begin"]


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
    assert asked.cards == []
    assert [origin for _, origin, _ in cli.opened] == ["global"]


def git(folder: Path, *args: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b.c", *args]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


READING = (
    "list", "show mem-20260320-0000001", "search x", "stats", "status", "history", "doctor",
    "export --format jsonl --out x.jsonl", "eval q.json", "scan", "review list", "upkeep --dry-run",
    "dedup --dry-run", "queries list", "backup b.tar.gz",
)  # fmt: skip


CHANGING = (
    "undo", "redo", "vote mem-20260320-0000001 helpful", "purge mem-20260320-0000001", "review approve p-1",
    "review reject p-1", "dedup", "upkeep", "reflect", "compact", "search x --for-agent a",
    "allow mem-20260320-0000001 --reason x",
)  # fmt: skip


def everything(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


@pytest.mark.parametrize("command", [*READING, *CHANGING])
def test_who_reads_a_store_that_is_not_there_is_told_and_makes_nothing(
    cli: Cli, command: str
) -> None:
    near, empty = cli.store.with_name("stare"), cli.store.with_name("empty")
    cli.bare("--store", str(near), "init")
    empty.mkdir()
    before = everything(cli.store.parent)
    assert cli.refused(*command.split()) == (
        f"workbench: There is no store in {cli.store}. Did you mean {near}?\n"
    )
    result = cli.bare("--store", str(empty), *command.split())
    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith(f"workbench: There is no store in {empty}. ")
    assert everything(cli.store.parent) == before


@pytest.mark.parametrize("command", ["append x", "ingest x", "import memory.jsonl"])
def test_who_brings_something_in_makes_the_store_and_says_so_once(cli: Cli, command: str) -> None:
    entity = '{"type":"entity","name":"d","entityType":"rule","observations":["need a secret"]}\n'
    cli.write("memory.jsonl", entity)
    if command.startswith("import"):
        assert cli("import", "--dry-run", "memory.jsonl").code == 0
        assert not cli.store.exists()
    assert f"Created a new store in {cli.store}" in cli(*command.split()).err
    assert "new store" not in cli(*command.split()).err


@pytest.mark.parametrize("command", READING)
def test_who_reads_the_default_store_makes_nothing(cli: Cli, command: str) -> None:
    result = cli.bare(*command.split())
    assert "There is no store" not in result.err or command in ("doctor", "backup b.tar.gz")
    assert not paths.data_dir().exists()


def test_the_project_store_inside_is_named(cli: Cli) -> None:
    assert cli.bare("init", "project").code == 0
    result = cli.bare("--store", "project", "list")
    assert f"Did you mean {cli.cwd / 'project' / '.workbench'}?" in result.err


def test_a_new_store_stays_out_of_git_and_says_so_once(cli: Cli) -> None:
    git(cli.cwd, "init", "-q")
    (cli.cwd / ".workbench").mkdir()
    first = cli.bare("ingest", "deploys need AUTH_SECRET")
    assert first.code == 0
    assert first.err == ""
    result = cli.bare("--store", "second", "append", "x")
    assert result.err == f"Created a new store in {cli.cwd / 'second'}; git ignores it.\n"
    assert cli.bare("--store", "second", "append", "y").err == ""
    assert "git ignores it" in cli.bare("--store", "third", "ingest", "x").err
    git(cli.cwd, "add", "-A")
    assert git(cli.cwd, "ls-files") == ""


def test_init_makes_a_store_once(cli: Cli) -> None:
    made = cli.bare("init", "--json")
    store = cli.cwd / ".workbench"
    assert json.loads(made.out) == {"store": str(store), "shared": False}
    assert f"{store} already has a store. Nothing was changed." in cli.bare("init").err
    cli.refused("init", "x")


def test_a_shared_store_is_committed_and_merged_by_lines(cli: Cli) -> None:
    git(cli.cwd, "init", "-q")
    assert cli.bare("init", "--shared").code == 0
    assert cli.bare("ingest", "deploys need AUTH_SECRET").code == 0
    assert cli.bare("search", "deploys").code == 0
    git(cli.cwd, "add", "-A")
    assert git(cli.cwd, "ls-files").split() == [
        ".workbench/.gitattributes", ".workbench/.gitignore", ".workbench/journal.jsonl",
    ]  # fmt: skip
    assert "merge: union" in git(cli.cwd, "check-attr", "merge", ".workbench/journal.jsonl")
    assert "git add" not in cli.bare("doctor").out


def test_the_doctor_says_what_git_would_take_in(cli: Cli) -> None:
    git(cli.cwd, "init", "-q")
    cli.bare("init")
    assert "git add" not in cli.bare("doctor").out
    (cli.cwd / ".workbench" / ".gitignore").unlink()
    assert "`git add` would add this store" in cli.bare("doctor").out


OLD = Path(__file__).parents[1] / "store" / "fixtures" / "records-0"


SAID = "was written by a development version before 1.0, which this one does not read."


@pytest.fixture
def old(cli: Cli) -> Cli:
    shutil.copytree(OLD, cli.store)
    return cli


@pytest.mark.parametrize(
    "command",
    ["list", "status", "search build", "doctor", "history", "undo", "append seen", "vote mem-20260301-0000001 helpful",
     "backup ../b", "trust --yes", "context build"],
)  # fmt: skip
def test_every_command_refuses_it(command: str, old: Cli) -> None:
    err = old.refused(*command.split())
    assert SAID in err
    assert "memory-workbench 0.1.0" in err
    assert err.count("\n") == 1
    assert held(old.store) == held(OLD)


def test_the_app_refuses_it(old: Cli) -> None:
    with pytest.raises(StoreProblem, match=r"development version before 1\.0"):
        run_app(old.store, origin="option")
    assert held(old.store) == held(OLD)


def test_a_server_refuses_it(old: Cli) -> None:
    done = workbench("--store", str(old.store), "mcp")
    assert done.returncode == 2
    assert SAID in done.stderr
    assert held(old.store) == held(OLD)


def test_a_hook_notes_why_it_kept_nothing_and_lets_the_agent_go_on(old: Cli) -> None:
    event = {
        "hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(old.cwd),
        "prompt": "No, use pnpm here, never npm.",
    }  # fmt: skip
    command = [*WORKBENCH, "--store", str(old.store), "capture", "claude-code"]
    subprocess.run(command, input=json.dumps(event), text=True, timeout=120, check=True)
    assert held(old.store) == held(OLD)
    notes = [path.read_text("utf-8") for path in paths.state_dir().rglob("*") if path.is_file()]
    assert any(SAID in note for note in notes)


def test_config_show_prints_what_holds_as_a_config_file(cli: Cli) -> None:
    assert cli.ok("config", "path") == f"{paths.config_dir() / 'config.toml'}\n"
    configure('theme = "workbench-light"\n[reflection]\nhours = 12\n')
    shown = tomllib.loads(cli.ok("config", "show"))
    told = (shown["theme"], shown["reflection"]["hours"], shown["profile"])
    assert told == ("workbench-light", 12, "workbench")


@pytest.mark.parametrize("command", [("status",), ("config", "show"), ("stores",)])
def test_what_is_wrong_with_the_config_is_said_on_stderr(
    cli: Cli, command: tuple[str, ...]
) -> None:
    cli.ok("init")
    configure('them = "workbench-light"\n')
    result = cli(*command)
    assert result.code == 0
    assert result.err.splitlines()[0] == 'config.toml: unknown key "them"; did you mean "theme"?'


def test_stores_lists_the_recent_ones_and_marks_the_one_here(cli: Cli, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    recent.remember(paths.state_dir(), other, 3, NOW)
    lines = cli.ok("stores").splitlines()
    assert len(lines) == 2
    assert lines[0].startswith(f"→  {cli.store} ")
    assert " ".join(lines[0].split()[2:]) == "not opened yet opens here: asked for with --store"
    assert lines[1].split() == [str(other), "last", "opened", "2026-03-20", "18:00"]


def test_stores_names_the_global_one_and_the_projects(cli: Cli) -> None:
    result = cli.bare("stores")
    assert "opens here: your global store" in result.out
    assert result.err == "No store opened yet.\n"
    (cli.cwd / ".workbench").mkdir()
    assert "opens here: of the project you are in" in cli.bare("stores").out


def held(folder: Path) -> dict[str, bytes]:
    """Return what the store's files hold; the lock holds nothing."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "lock"}
