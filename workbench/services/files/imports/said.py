"""What an import would write, in words: the same at the command line and in the app."""

from collections.abc import Sequence

from workbench.core.playbook.book import Book, Bullet, Section
from workbench.core.playbook.usage_tally import UsageTally
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.core.tuning.judgment import Judgment, SavedQuery
from workbench.services.agents.documents.reading import Skipped
from workbench.services.files.imports.folders import passed_over
from workbench.services.files.imports.guard import Removal
from workbench.services.files.imports.importing import ImportPlan

ONE = {
    "memories": "memory", "bullets": "bullet", "queries": "query", "judgments": "judgment", "runs": "run",
    "suggestions": "suggestion",
}  # fmt: skip
"""The word for one record of each kind that a plan counts."""


SHOWN = 3
"""How many names are told of what is not read for one reason."""


def said(record: object) -> str:
    """Say what a record is that would be written; the text may be long, and is not made safe for a terminal."""
    match record:
        case Memory():
            return f"{record.id}  {record.status} {record.observation_type}  {record.line}"
        case Bullet():
            return f"[{record.id}] helpful={record.helpful_count} harmful={record.harmful_count} :: {record.content}"
        case Section():
            return f"section {record.title or record.key}"
        case Book():
            return f"playbook {record.id}"
        case SavedQuery():
            return f"query “{record.text}”"
        case Judgment():
            return f"judgment {record.memory} = {record.grade}"
        case Proposal():
            return f"suggestion {record.title}"
        case UsageTally():
            return f"{record.count} runs of the playbook {record.book}"
        case _:
            return str(getattr(record, "id", record))


def replacement_said(old: object, new: object) -> list[str]:
    """Say what a stored record is and becomes, as lines with signs; only its place in the file changes: `~`."""
    out = (isinstance(new, Bullet) and new.state == "deprecated") or (
        isinstance(new, Memory) and new.status == "archived"
    )
    if out or isinstance(new, Removal):
        return [f"- {said(old)}"]
    before, after = said(old), said(new)
    return [f"- {before}", f"+ {after}"] if before != after else [f"~ {after}"]


def counts_said(plan: ImportPlan) -> list[str]:
    """Return "3 memories", "1 bullet" for each kind of which anything is new."""
    return [f"{n:,} {ONE[kind] if n == 1 else kind}" for kind, n in plan.counts.items() if n]


def filling_said(memory: Memory) -> str:
    """Say that a stored memory gains who said it."""
    return f"{memory.id} said by {memory.source.speaker}"


def skipped(plan: ImportPlan) -> int:
    """Return how many records of the file are not read; why is said for each place of the file."""
    return sum(issue.records for issue in plan.parsed.issues)


def passed_said(passed: Sequence[Skipped], most: int | None = SHOWN) -> list[str]:
    """Return a line for each reason why something in a folder is not read: how many, and the first names."""
    lines = []
    for why, names in passed_over(passed).items():
        more = ", …" if len(names) > len(names[:most]) else ""
        lines.append(f"passed over, {why}: {len(names):,} ({', '.join(names[:most])}{more})")
    return lines


def counts_steps(plan: ImportPlan) -> bool:
    """Tell whether the file counts steps instead of naming times, so that somebody has to say when they were."""
    return plan.parsed.in_steps
