"""Upgrades of stored records, one step per version, each in a module of its own.

A record says its version in the field `version`; one without it is version 0. Steps run in order,
in one transaction, after the store was copied: before a library's first change, for reading writes nothing.
"""

from collections.abc import Callable
from typing import NamedTuple

from workbench.core.errors import StoreProblem
from workbench.store.entry import Doc
from workbench.store.journal.engine import Journal
from workbench.store.upgrades import explicit

Rule = Callable[[str, Doc], Doc]


class Step(NamedTuple):
    """The way to `version` from the one before. Records it `must` change cannot be read, only upgraded at once."""

    version: int
    rule: Rule
    must: bool


STEPS: tuple[Step, ...] = (Step(1, explicit.upgrade, must=False),)
"""All steps in order; the last one leads to the present version."""

PUT_OFF = "The store is of an older version and could not be upgraded; it can be read as it is."


def is_due(journal: Journal, tables: frozenset[str], steps: tuple[Step, ...] = STEPS) -> bool:
    """Tell whether `run` is to be called before the next change; what cannot be read without it is upgraded now.

    Raises `StoreProblem` as `run` does.
    """
    if journal.is_adopting or not _outdated(journal, tables, steps):
        return False
    if any(step.must for step in steps):
        run(journal, tables, steps)
        return False
    return True


def run(journal: Journal, tables: frozenset[str], steps: tuple[Step, ...] = STEPS) -> int:
    """Upgrade what is older than the last step in `tables` and return how many records that were.

    Raises `StoreProblem` for a record of a newer version, and when an upgrade that has to be
    cannot be written; one that can wait waits until the store can be written.
    """
    if journal.is_adopting or not _outdated(journal, tables, steps):
        return 0
    try:
        with journal.exclusive():
            return _upgrade(journal, tables, steps)
    except StoreProblem:
        if any(step.must for step in steps):
            raise
        journal.notices.append(PUT_OFF)
        return 0


def _upgrade(journal: Journal, tables: frozenset[str], steps: tuple[Step, ...]) -> int:
    found = _outdated(journal, tables, steps)
    if not found:
        return 0
    from workbench.store.upgrades import backup  # once in the life of a store

    copy = backup.copy_store(journal.folder, journal.clock())
    with journal.transaction("upgrade", f"upgrade {len(found)} records to version {steps[-1].version}") as staged:
        for table, doc_id, doc in found:
            for step in steps:
                if _version(doc) < step.version:
                    doc = {**step.rule(table, doc), "version": step.version}
            staged.put(table, doc_id, doc)
    journal.notices.append(f"{len(found)} records were upgraded; the store as it was is in {copy.name}.")
    return len(found)


def _outdated(journal: Journal, tables: frozenset[str], steps: tuple[Step, ...]) -> list[tuple[str, str, Doc]]:
    latest = steps[-1].version
    found = []
    for table in sorted(tables.intersection(journal.state.names)):
        for doc_id, doc in journal.state.outdated(table, latest):
            version = _version(doc)
            if version < latest:
                found.append((table, doc_id, doc))
            elif version > latest:
                raise StoreProblem(
                    f"{journal.folder} holds records of version {version}; this workbench reads up to {latest}.",
                    "Nothing was changed; upgrade memory-workbench to open it.",
                )
    return found


def _version(doc: Doc) -> int:
    version = doc.get("version", 0)
    return version if isinstance(version, int) else 0
