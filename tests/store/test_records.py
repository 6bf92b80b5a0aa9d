"""The kinds of records, as they are listed."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.store.helpers import memory, open_library
from workbench.store.records import RECORDS, TABLES, kind_in, table_of


def test_listing_the_kinds_loads_none_of_them() -> None:
    code = "import sys, workbench.store.records\nprint(*sorted(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    classes = {entry.type.partition(":")[0] for entry in RECORDS}
    assert classes.isdisjoint(found.stdout.split())
    assert {table_of(kind_in(entry.table)) for entry in RECORDS} == TABLES


def test_a_table_of_a_later_version_is_left_where_it_is(tmp_path: Path) -> None:
    later = {"id": "r-1", "text": "Look whether it still does."}
    library = open_library(tmp_path)
    with library.journal.transaction("human", "remind") as staged:
        staged.put("reminders", "1", later)
    with pytest.raises(KeyError):
        library.table_named("reminders")
    with library.transaction("human", "add") as tx:
        tx.put(memory(1))
    library.close()
    assert open_library(tmp_path).journal.state.get("reminders", "1") == later
