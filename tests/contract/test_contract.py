"""What is recorded is what the product does: its command in this process and, slowly, an installed
one.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.contract.door import Door, Inside, Installed, Place
from tests.contract.recorded import difference, recorded
from tests.contract.sections import SECTIONS

ROOT = Path(__file__).parents[2]

HEAVY = {
    "claude": "loading the library that asks it takes seconds",
    "life": "a store's life from the first command on is some sixty commands",
    "rankings": "every query under every profile",
}
"""Parts that are proved with the slow tests only, and why."""

PACKED = ("help", "rankings", "keys")
"""Parts that need what a wheel carries beside its modules: themes, models, texts."""

PARTS = [pytest.param(name, marks=[pytest.mark.slow] if name in HEAVY else []) for name in SECTIONS]


@pytest.fixture(scope="module")
def inside() -> Door:
    """The command in this process."""
    return Inside()


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Door:
    """The command of a fresh environment that a wheel of this checkout was installed into."""
    folder = tmp_path_factory.mktemp("installed")
    source = folder / "source"
    left_out = shutil.ignore_patterns(".*", "__pycache__", "tests", "build", "dist")
    shutil.copytree(ROOT, source, ignore=left_out)
    environment = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "HOME")
    }
    environment |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "HOME": str(Path("~").expanduser())}

    def run(*command: str | Path) -> None:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"

    run(sys.executable, "-m", "venv", "env")
    binaries = folder / "env" / Path(sysconfig.get_path("scripts")).name
    run(
        binaries / "python",
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        "wheels",
        source,
    )
    (wheel,) = (folder / "wheels").glob("*.whl")
    shutil.rmtree(source)
    run(binaries / "python", "-m", "pip", "install", "--quiet", wheel)
    return Installed(binaries)


@pytest.mark.parametrize("part", PARTS)
def test_what_is_recorded_holds(inside: Door, tmp_path: Path, part: str) -> None:
    said = difference(part, SECTIONS[part](inside, tmp_path))
    assert not said, f"\n{said}"


@pytest.mark.slow
@pytest.mark.parametrize("part", PACKED)
def test_it_holds_for_an_installed_wheel(installed: Door, tmp_path: Path, part: str) -> None:
    said = difference(part, SECTIONS[part](installed, tmp_path))
    assert not said, f"\n{said}"
    assert installed.run(Place(tmp_path / "demo"), "demo", "--into", "demo").code == 0


def test_a_difference_is_told_with_the_command_that_records_it() -> None:
    files = recorded("codes")
    assert difference("codes", files) == ""
    said = difference(
        "codes",
        {name: text.replace('"no store": 2', '"no store": 3') for name, text in files.items()},
    )
    assert '-  "no store": 2,' in said
    assert '+  "no store": 3,' in said
    assert "python -m tests.contract record" in said
