"""Pattern files on their way in and out."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.core.agents.actors import require_person
from workbench.core.agents.patterns.pattern import Pattern
from workbench.core.agents.patterns.statistics import claimed
from workbench.core.files.format import Issue, ReadContext
from workbench.core.record import InvalidRecord
from workbench.core.stream.memory import Memory
from workbench.formats import opening
from workbench.formats.patterns import NAME, as_entry, as_pattern, entry_in, written_back
from workbench.services.agents.patterns.entry import entered
from workbench.services.context import Context
from workbench.services.safety.safety import Safety
from workbench.services.safety.secret_filter import IMPORT, SecretFilter
from workbench.services.safety.texts import name_of
from workbench.store.library import Tx


@dataclass(frozen=True, slots=True)
class Intake:
    """What a pattern file holds: the patterns that are new, the ids of those that are there, and what was wrong."""

    path: Path
    new: tuple[Pattern, ...]
    present: tuple[str, ...]
    issues: tuple[Issue, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()


class PatternIntake:
    def __init__(self, context: Context, gate: SecretFilter) -> None:
        self._context = context
        self._library = context.library
        self._gate = gate
        self._table = context.library.table(Pattern)

    def plan(self, path: Path) -> Intake:
        """Read a file of patterns and compare it with the store; writes nothing. Raises `UnreadableFile`."""
        reading = ReadContext(now=self._context.now(), file=name_of(path))
        parsed = opening.read_file(path, format=NAME, context=reading)
        made, refused = list[Pattern](), list[tuple[str, str]]()
        for memory in parsed.memories:
            try:
                made.append(self._pattern(memory))
            except InvalidRecord as error:
                refused.append((memory.id, error.message))
        new = tuple(pattern for pattern in made if self._table.find(pattern.id) is None)
        present = tuple(pattern.id for pattern in made if self._table.find(pattern.id) is not None)
        return Intake(path, new, present, parsed.issues, tuple(refused))

    def carry_out(self, intake: Intake) -> int:
        """Store what is new in a file, as one action; return how many. An agent's word does not do for that."""
        require_person(self._context.actor, "import patterns")
        name = name_of(Path(intake.path.name))
        if not intake.new:
            return 0
        with self._library.transaction(f"import:{name}", f"import patterns of {name}", group=_group()) as tx:
            return sum(self._put(tx, pattern) for pattern in intake.new)

    def written(self, ids: Sequence[str], original: str | None, safety: Safety) -> str:
        """Return agent-playbook's file with patterns as they are now, all in use or waiting where none is named.

        What a file has beyond that stays as it is. Raises `UnknownRecord`, `UnreadableFile` for another kind of file,
        `FlaggedText` for a pattern that may not leave the store, and `StoreProblem` for a store that is not trusted.
        """
        self._library.require_trust()
        every = [self._table.get(id) for id in ids] if ids else self._table.all()
        chosen = [one for one in every if ids or one.status != "deprecated"]
        safety.require_outgoing(chosen)
        changed = {one.id: as_entry(one) for one in chosen}
        whole = {one.id: {**entry_in(one), **changed[one.id]} for one in chosen}
        return written_back(changed, whole, original)

    def _pattern(self, memory: Memory) -> Pattern:
        pattern = claimed(entered(as_pattern(memory), self._context.now(), self._gate, lambda: memory.id))
        return replace(pattern, last_updated=pattern.created_at)

    def _put(self, tx: Tx, pattern: Pattern) -> bool:
        """Put what nobody else put meanwhile."""
        if self._table.find(pattern.id) is not None:
            return False
        tx.put(pattern)
        return True


def _group() -> str:
    """Return the group of what comes from a file: no person stands by its text."""
    return f"{IMPORT}{uuid.uuid4().hex[:12]}"
