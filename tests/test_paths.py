"""The folders of the user, the choice of a store, and the shipped files."""

import subprocess
from pathlib import Path

import pytest

from workbench.config import paths
from workbench.config.paths import StoreChoice, find_store, shipped
from workbench.core.record import StoreProblem, WorkbenchError

FOLDERS = {
    "XDG_DATA_HOME": (paths.data_dir, ".local/share"),
    "XDG_CONFIG_HOME": (paths.config_dir, ".config"),
    "XDG_STATE_HOME": (paths.state_dir, ".local/state"),
    "XDG_CACHE_HOME": (paths.cache_dir, ".cache"),
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in FOLDERS:
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_follows_its_variable_and_is_not_created(
    name: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask, usual = FOLDERS[name]
    assert ask() == home / usual / "memory-workbench"
    monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    assert ask() == tmp_path / "elsewhere" / "memory-workbench"
    assert list(home.iterdir()) == []
    assert not (tmp_path / "elsewhere").exists()


def test_without_a_project_the_global_store_is_chosen(tmp_path: Path, home: Path) -> None:
    assert find_store(tmp_path) == StoreChoice(
        home / ".local/share/memory-workbench/store", "global"
    )


def test_the_nearest_project_above_is_chosen(tmp_path: Path) -> None:
    (tmp_path / ".workbench").mkdir()
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert find_store(inner) == StoreChoice(tmp_path / ".workbench", "project")
    (tmp_path / "a" / ".workbench").mkdir()
    assert find_store(inner) == StoreChoice(tmp_path / "a" / ".workbench", "project")
    assert find_store(inner / ".." / "..") == StoreChoice(tmp_path / ".workbench", "project")


def test_a_file_of_that_name_is_no_project(tmp_path: Path) -> None:
    (tmp_path / ".workbench").write_text("")
    assert find_store(tmp_path).origin == "global"


def test_the_option_wins_and_may_be_new(tmp_path: Path, home: Path) -> None:
    (tmp_path / ".workbench").mkdir()
    assert find_store(tmp_path, Path("new/store")) == StoreChoice(
        tmp_path / "new" / "store", "option"
    )
    assert find_store(tmp_path, Path("~/mine")) == StoreChoice(home / "mine", "option")
    assert not (tmp_path / "new").exists()


def test_an_option_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "memory.json"
    file.write_text("{}")
    for bad in (file, Path("~no-such-user-here/x"), Path("a\0b")):
        with pytest.raises(StoreProblem) as caught:
            find_store(tmp_path, bad)
        assert caught.value.hint


def test_shipped_files_are_found_in_a_checkout(tmp_path: Path) -> None:
    package = tmp_path / "workbench"
    (tmp_path / "themes").mkdir()
    with pytest.raises(WorkbenchError):
        shipped("themes", package)  # beside a package without its project file lie strangers' files
    (tmp_path / "pyproject.toml").write_text("")
    assert shipped("themes", package) == tmp_path / "themes"


def test_shipped_files_are_found_in_an_installed_package(tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "workbench"
    demo = package / "_shipped" / "fixtures" / "demo"
    demo.mkdir(parents=True)
    assert shipped("fixtures/demo", package) == demo


def test_missing_shipped_files_are_named() -> None:
    with pytest.raises(WorkbenchError, match="nothing-like-it"):
        shipped("nothing-like-it")


def test_the_demo_is_shipped() -> None:
    assert (shipped("fixtures/demo") / "memories.jsonl").is_file()


def test_a_project_store_that_is_a_link_has_to_lead_to_a_store(tmp_path: Path) -> None:
    clone, elsewhere = tmp_path / "clone", tmp_path / "elsewhere"
    for folder in (clone, elsewhere):
        folder.mkdir()
    (clone / ".workbench").symlink_to(elsewhere)
    with pytest.raises(StoreProblem, match=r"is a link to .*elsewhere, which is not a store"):
        find_store(clone)
    (elsewhere / "journal.jsonl").touch()
    assert find_store(clone).folder == clone / ".workbench"


@pytest.fixture
def worktree(tmp_path: Path) -> tuple[Path, Path]:
    """A repository, and a linked worktree of it."""
    repository, tree = tmp_path / "shop", tmp_path / "trees" / "cart"
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.com")
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    subprocess.run(
        ["git", "-C", str(repository), *who, "commit", "-q", "--allow-empty", "-m", "x"], check=True
    )
    subprocess.run(["git", "-C", str(repository), "worktree", "add", "-q", str(tree)], check=True)
    return repository, tree


def test_worktrees_share_the_store_of_their_repository(worktree: tuple[Path, Path]) -> None:
    """By reading `.git`, without asking git."""
    repository, tree = worktree
    (tree / "lib").mkdir()
    assert find_store(tree / "lib").origin == "global"
    (repository / ".workbench").mkdir()
    assert find_store(tree / "lib") == StoreChoice(repository / ".workbench", "project")
    (tree / ".workbench").mkdir()
    assert find_store(tree / "lib") == StoreChoice(tree / ".workbench", "project")


def test_a_mark_of_git_that_came_from_elsewhere_names_no_store(
    tmp_path: Path, worktree: tuple[Path, Path]
) -> None:
    repository, tree = worktree
    foreign = tmp_path / "foreign"
    (repository / ".workbench").mkdir()
    foreign.mkdir()
    (foreign / ".git").write_bytes((tree / ".git").read_bytes())
    assert find_store(foreign).origin == "global"
    for text in ("", "gitdir: ", "gitdir: /nowhere", "nonsense", "gitdir: \0"):
        (foreign / ".git").write_text(text)
        assert find_store(foreign).origin == "global"
