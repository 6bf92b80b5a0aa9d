"""TinyDB's own tests, against a store.

They are fetched from the source distribution of the release, never kept here. One of them,
`test_table_repr`, demands the names of TinyDB's own storage classes in a repr and is left out.
"""

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

RELEASE = "4.9.0"
FILES = ("test_tinydb.py", "test_tables.py", "test_operations.py")
CONFTEST = """
import pytest
from tinydb.middlewares import CachingMiddleware
from tinydb.storages import MemoryStorage
from workbench.store.journal.database import open_db

@pytest.fixture
def db(tmp_path):
    db = open_db(tmp_path / "store")
    db.drop_tables()
    db.insert_multiple({"int": 1, "char": char} for char in "abc")
    return db

@pytest.fixture
def storage():
    return CachingMiddleware(MemoryStorage)()
"""


@pytest.mark.slow
def test_tinydbs_own_tests_pass(tmp_path: Path) -> None:
    fetch = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
    got = subprocess.run(
        [*fetch, f"tinydb=={RELEASE}", "-d", str(tmp_path)],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    archives = list(tmp_path.glob("tinydb-*.tar.gz"))
    if not archives:
        pytest.skip(
            f"the source distribution of TinyDB cannot be fetched: {got.stderr.strip()[-200:]}"
        )
    with tarfile.open(archives[0]) as archive:
        archive.extractall(tmp_path / "sdist", filter="data")
    (source,) = (tmp_path / "sdist").glob("tinydb-*/tests")
    tests = tmp_path / "suite"
    tests.mkdir()
    for name in FILES:
        shutil.copy(source / name, tests / name)
    (tests / "conftest.py").write_text(CONFTEST)
    (tests / "pytest.ini").write_text("[pytest]\n")
    root = str(Path(__file__).parents[2])
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "pytest.ini"]
    done = subprocess.run(
        [*run, "--deselect", "test_tables.py::test_table_repr", *FILES],
        cwd=tests, env={"PYTHONPATH": root, "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    passed = int(done.stdout.rpartition(" passed")[0].split()[-1])
    assert passed >= 80
