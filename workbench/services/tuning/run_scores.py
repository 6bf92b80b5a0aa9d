"""How good the rankings of another system are: a TREC run against the store's own judgments. Reads only."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from workbench.core.files.formats import detect
from workbench.core.record import InvalidQuery
from workbench.core.tuning.measure import RELEVANT_FROM, STANDARD
from workbench.formats import opening
from workbench.formats.queries import RUN, read_run
from workbench.services.context import Context
from workbench.services.tuning.queries.sets import graded


@dataclass(frozen=True, slots=True)
class RunScores:
    """The means of a run, tagged `tag`, over the judged queries; one that it leaves out counts 0.

    `missing` counts judged queries without results, `unknown` its topics that are no saved query's.
    """

    tag: str
    mean: Mapping[str, float]
    queries: int
    missing: int
    unknown: int

    @property
    def sentence(self) -> str:
        """The figures on one line."""
        means = " · ".join(f"{name} {value:.3f}" for name, value in self.mean.items())
        gaps = f" · {self.missing:,} without results" if self.missing else ""
        return f"{means} over {self.queries:,} judged {'query' if self.queries == 1 else 'queries'}{gaps}"


def is_run(path: Path) -> bool:
    """Tell whether a file looks like a TREC run. Raises `UnreadableFile` when it cannot be read."""
    found = detect(path, opening.read_text(path))
    return bool(found) and found[0].format == RUN


def score_run(context: Context, path: Path) -> RunScores:
    """Measure a run by the store's judgments. Raises `UnreadableFile`, or `InvalidQuery` when nothing fits."""
    run = read_run(opening.read_text(path), path.name)
    rankings = run.rankings
    saved = list(graded(context))
    # A run made here before a query got its topic calls it by its id.
    judged = {(q.name if q.name in rankings else q.id): grades for q, grades in saved if _usable(grades)}
    if not rankings.keys() & judged.keys():
        raise InvalidQuery(
            f"The run “{run.tag}” ranks no judged query of this store.",
            "Its topics have to be those of the qrels that were imported, or the ids of saved queries.",
        )
    mean = {m.name: fmean(m.of(rankings.get(topic, ()), grades) for topic, grades in judged.items()) for m in STANDARD}
    missing = sum(topic not in rankings for topic in judged)
    known = {name for query, _ in saved for name in (query.id, query.topic)}
    unknown = sum(topic not in known for topic in rankings)
    return RunScores(run.tag, mean, len(judged), missing, unknown)


def _usable(grades: Mapping[str, int]) -> bool:
    return any(grade >= RELEVANT_FROM for grade in grades.values())
