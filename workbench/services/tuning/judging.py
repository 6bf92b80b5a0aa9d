"""Judging: grades for a query's results, as records that can be undone and exported."""

from datetime import datetime

from workbench.core.record import InvalidQuery, InvalidRecord, UnknownRecord
from workbench.core.text import clean_for_store
from workbench.core.tuning.judgment import MAX_GRADE, Judgment, SavedQuery, judgment_id
from workbench.services.context import Service
from workbench.services.files.imports.importing import query_id


class Judging(Service):
    """Saved queries and judgments of a store."""

    def find(self, query: str, now: datetime | None = None) -> SavedQuery | None:
        """Return the saved query with this text and moment, or `None`."""
        return self._library.queries.find(query_id(clean_for_store(query), now))

    def grades(self, query: str, now: datetime | None = None) -> dict[str, int]:
        """Return the grades given for a query, by memory; empty when it is not saved."""
        name = query_id(clean_for_store(query), now)
        return {j.memory: j.grade for j in self._library.judgments.all() if j.query == name}

    def save_query(
        self, query: str, now: datetime | None = None, tags: tuple[str, ...] = (), actor: str = ""
    ) -> SavedQuery:
        """Save a query, without judgments yet; one that is saved stays as it is. Raises `InvalidQuery`."""
        saved = self._query(query, now, tags)
        if self._library.queries.find(saved.id) is None:
            with self._library.transaction(actor or self._context.actor, f"save the query “{saved.text}”") as tx:
                if self._library.queries.find(saved.id) is None:
                    tx.put(saved)
        return self._library.queries.get(saved.id)

    def judge(self, query: str, now: datetime | None, memory: str, grade: int, actor: str = "") -> Judgment:
        """Grade a memory for a query, 0 (not relevant) to 3 (essential); a later grade replaces an earlier one.

        `now` is the moment the query is asked at, `None` the present. The query is saved along when it is new,
        in the same transaction. The same grade again writes nothing. Raises `InvalidQuery`, `UnknownRecord` or
        `InvalidRecord`.
        """
        if type(grade) is not int or not 0 <= grade <= MAX_GRADE:
            raise InvalidRecord(f"{grade!r} is no grade.", f"Grades are whole numbers from 0 to {MAX_GRADE}.")
        if memory not in self._library.memories:
            raise UnknownRecord(f"There is no memory {memory} in this store.", "Nothing was judged.")
        saved = self._query(query, now, ())
        name, who = judgment_id(saved.id, memory), actor or self._context.actor
        before = self._library.judgments.find(name)
        if before is not None and before.grade == grade and saved.id in self._library.queries:
            return before
        judgment = Judgment(name, saved.id, memory, grade, who, self._context.now())
        with self._library.transaction(who, f"judge {memory} as {grade}") as tx:
            if saved.id not in self._library.queries:
                tx.put(saved)
            tx.put(judgment)
        return judgment

    def withdraw(self, query: str, now: datetime | None, memory: str, actor: str = "") -> Judgment | None:
        """Take a grade back, so that the memory is unjudged again; return it, or `None` when there was none."""
        before = self._library.judgments.find(judgment_id(self._query(query, now, ()).id, memory))
        if before is not None:
            with self._library.transaction(actor or self._context.actor, f"withdraw the grade of {memory}") as tx:
                tx.delete(before)
        return before

    def _query(self, query: str, now: datetime | None, tags: tuple[str, ...]) -> SavedQuery:
        text = clean_for_store(query)
        if not text.strip():
            raise InvalidQuery("The query is empty.", "Nothing was saved.")
        return SavedQuery(query_id(text, now), text, self._context.now(), now, tags)
