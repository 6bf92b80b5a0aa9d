"""Memories that are kept apart: an older version noted that as rejected proposals to merge them, now it is kept pairs.

Whoever reads finds the pairs of such proposals as if they were stored; before a library's next change they are. A
proposal that is rejected has its pairs from then on, also when its rejection is taken back or done again.
"""

import threading
from collections.abc import Mapping
from typing import TypeGuard

from workbench.core.errors import InvalidRecord, StoreProblem
from workbench.core.record import from_doc
from workbench.store.entry import Doc
from workbench.store.journal.engine import Journal
from workbench.store.journal.staged import Staged
from workbench.store.journal.state import State
from workbench.store.naming import PAIRS, to_document
from workbench.store.records import PAIRS_SCHEMA, state_in
from workbench.store.upgrades import PUT_OFF, backup

ACTOR = "upgrade"
_PROPOSALS = "proposals"


class Outstanding:
    """The pairs of memories that rejected proposals alone keep apart; looked up anew when one of either changed."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._lock = threading.Lock()
        self._found: Mapping[str, Doc] | None = None
        self._follow()
        self._has_failed = False

    def pairs(self) -> Mapping[str, Doc]:
        """Return the documents of the pairs by their keys."""
        with self._lock:
            if self._state is not self._journal.state:
                self._follow()
            proposals, pairs = (changes.take() for changes in self._changes)
            if self._found is None or proposals or pairs:
                state, every = self._state, self._found is None
                for doc_id in _rejected(state) if every else [doc_id for doc_id, _ in proposals]:
                    self._said[doc_id] = _pairs_of(state.get(_PROPOSALS, doc_id))
                said = (one for pairs_said in self._said.values() for one in pairs_said.items())
                self._found = {key: pair for key, pair in said if state.doc_id_of(PAIRS, key) is None}
            return self._found

    def store(self) -> int:
        """Store the pairs, after the store was copied; return how many those were.

        Where that cannot be done it is noted, once, and everything is read as before.
        """
        journal = self._journal
        if self._has_failed or journal.is_adopting or not journal.standing.trusted or not self.pairs():
            return 0
        try:
            with journal.exclusive():
                return self._store()
        except StoreProblem:
            self._has_failed = True
            journal.notices.append(PUT_OFF)
            return 0

    def _store(self) -> int:
        found, journal = self.pairs(), self._journal
        if not found:
            return 0
        copy = backup.copy_store(journal.folder, journal.clock())
        what = f"{len(found)} {'pair' if len(found) == 1 else 'pairs'} of memories that are kept apart"
        with journal.transaction(ACTOR, f"note {what}") as staged:
            for key, doc in found.items():
                _put(staged, key, doc)
        journal.notices.append(
            f"{what} {'was' if len(found) == 1 else 'were'} upgraded; the store as it was is in {copy.name}. "
            "Older versions cannot open it any more."
        )
        return len(found)

    def _follow(self) -> None:
        self._state = self._journal.state
        self._changes = (self._state.watch(_PROPOSALS), self._state.watch(PAIRS))
        self._found = None
        self._said: dict[str, dict[str, Doc]] = {}


def follow(journal: Journal, staged: Staged) -> None:
    """Let the pairs that were upgraded follow what an undo or redo does to the proposals that they come from.

    A pair that somebody decided on anew is that decision's own; in a store that is not upgraded there are none.
    """
    if journal.schema < PAIRS_SCHEMA:
        return
    before: dict[str, Doc] = {}
    for (table, doc_id), doc in list(staged.docs.items()):
        if table == _PROPOSALS:
            before |= _pairs_of(journal.state.get(table, doc_id))
            before |= _pairs_of(doc)
        elif table == PAIRS and doc is not None and doc.get("actor") == ACTOR:
            before[doc["id"]] = doc
    if not before:
        return
    present = {doc_id: journal.state.get(_PROPOSALS, doc_id) for doc_id in _rejected(journal.state)}
    present |= {doc_id: doc for (table, doc_id), doc in staged.docs.items() if table == _PROPOSALS}
    about = {id for pair in before.values() for id in (pair["left"], pair["right"])}
    wanted: dict[str, Doc] = {}
    for doc in present.values():
        if _keeps_apart(doc) and len(about.intersection(doc.get("evidence", ()))) > 1:
            wanted |= _pairs_of(doc)
    for key in before:
        _follow_pair(staged, key, wanted.get(key))


def _rejected(state: State) -> list[str]:
    """Return the document ids of the proposals that were rejected."""
    return state.waiting(_PROPOSALS, "rejected", state_in)


def _follow_pair(staged: Staged, key: str, wanted: Doc | None) -> None:
    doc_id = staged.doc_id_of(PAIRS, key)
    stored = None if doc_id is None else staged.get(PAIRS, doc_id)
    if wanted is not None and stored is None:
        _put(staged, key, wanted)
    elif wanted is None and doc_id is not None and stored is not None and stored.get("actor") == ACTOR:
        staged.delete(PAIRS, doc_id)


def _pairs_of(doc: Doc | None) -> dict[str, Doc]:
    """Return the documents of the pairs that a proposal's document stands for, by their keys."""
    if not _keeps_apart(doc):
        return {}
    from workbench.core.duplicates.kept_pair import pairs_kept_by  # mostly there are none, and a vote does not wait
    from workbench.core.review.proposal import Proposal

    try:
        return {pair.id: to_document(pair) for pair in pairs_kept_by(from_doc(Proposal, doc), ACTOR)}
    except InvalidRecord:
        return {}


def _keeps_apart(doc: Doc | None) -> TypeGuard[Doc]:
    return doc is not None and doc.get("kind") == "merge" and doc.get("state") == "rejected"


def _put(staged: Staged, key: str, doc: Doc) -> None:
    doc_id = staged.doc_id_of(PAIRS, key) or str(staged.allocate(PAIRS))
    staged.keys[PAIRS, key] = doc_id
    staged.put(PAIRS, doc_id, doc)
