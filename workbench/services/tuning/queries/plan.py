"""What importing a file of judged queries would bring: counted before anything is written."""

from dataclasses import dataclass
from pathlib import Path

from workbench.core.record import UnreadableFile
from workbench.core.tuning.judgment import judgment_id
from workbench.services.files.imports.importing import ImportPlan, query_id
from workbench.services.open import Workbench
from workbench.services.tuning.queries.sets import saved_as


@dataclass(frozen=True, slots=True)
class QueryLine:
    """One query of the file, whether it would be new, and how many grades it brings."""

    text: str
    new: bool
    grades: int


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """An import plan of queries, in numbers.

    `queries` and `judgments` are new, `present` queries are saved already, `skipped` lines cannot be read,
    `unknown` graded ids are not in the store, and `differing` grades are others than the stored ones, which stay.
    """

    plan: ImportPlan
    lines: tuple[QueryLine, ...]
    queries: int
    judgments: int
    present: int
    skipped: int
    unknown: int
    differing: int


def plan_queries(bench: Workbench, path: Path) -> QueryPlan:
    """Read a query set or qrels and compare it with the store; writes nothing. Raises `UnreadableFile`."""
    plan = bench.importer.plan(path)
    parsed, library = plan.parsed, bench.library
    if not parsed.queries:
        hint = "`workbench import` takes files of other kinds." if parsed.records_read else "Nothing was read."
        raise UnreadableFile(f"{path} holds no queries.", hint)
    aliases = {old for memory in library.memories.all() for old in memory.aliases}
    lines: list[QueryLine] = []
    unknown: set[str] = set()
    differing = 0
    for query in parsed.queries:
        saved = saved_as(library, query) or library.queries.find(query_id(query.text, query.now))
        lines.append(QueryLine(saved.text if saved else query.text, saved is None, len(query.relevant)))
        name = saved.id if saved else query_id(query.text, query.now)
        for memory, grade in query.relevant.items():
            if memory not in library.memories and memory not in aliases:
                unknown.add(memory)
            before = library.judgments.find(judgment_id(name, memory))
            differing += before is not None and before.grade != grade
    counts, new = plan.counts, sum(line.new for line in lines)
    skipped = sum(issue.records for issue in parsed.issues)
    return QueryPlan(plan, tuple(lines), new, counts["judgments"], len(lines) - new, skipped, len(unknown), differing)
