"""What is told once: the first time, to those it concerns, and again only where nothing can be noted."""

from pathlib import Path

import pytest

from workbench.config.loading import load
from workbench.config.told import FILE_NAME, new_default


def config(folder: Path, text: str) -> Path:
    path = folder / "config.toml"
    path.write_text(text)
    return path


def test_settings_that_name_the_default_are_told_once_that_it_is_another(tmp_path: Path) -> None:
    loaded, state = load(config(tmp_path, 'profile = "workbench"\n')), tmp_path / "state"
    assert new_default(loaded, state) == (
        "The profile “workbench”, which your settings name, reads a memory with the talk around it now; "
        "what it was is “workbench-1”."
    )
    assert new_default(loaded, state) == ""


@pytest.mark.parametrize("text", ["", 'profile = "engram"\n', 'profile = "workbench-1"\n', 'theme = "light"\n'])
def test_nobody_else_is_told(tmp_path: Path, text: str) -> None:
    assert new_default(load(config(tmp_path, text)), tmp_path / "state") == ""
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("held", [b"\xff", b"[", b"[]", b'{"told": 3}', b'{"told": [3, null]}', b"[" * 100_000])
def test_a_broken_note_counts_as_none_and_is_mended(tmp_path: Path, held: bytes) -> None:
    loaded = load(config(tmp_path, 'profile = "workbench"\n'))
    (tmp_path / FILE_NAME).write_bytes(held)
    assert new_default(loaded, tmp_path)
    assert not new_default(loaded, tmp_path)


def test_a_folder_that_cannot_be_written_only_means_that_it_is_told_again(tmp_path: Path) -> None:
    loaded = load(config(tmp_path, 'profile = "workbench"\n'))
    (tmp_path / "state").write_text("a file is in the way")
    assert new_default(loaded, tmp_path / "state")
    assert new_default(loaded, tmp_path / "state")
