"""Judgments and rankings as files for other tools: query sets, qrels and runs."""

from workbench.bench.context import Context
from workbench.bench.evaluation import ProfileResult
from workbench.bench.importing import query_id
from workbench.bench.querysets import judged_queries
from workbench.formats import queryset, trec
from workbench.formats.model import Parsed


def queries_jsonl(context: Context) -> str:
    """Return the store's saved queries with their judgments, one JSON object a line."""
    return queryset.write(Parsed(queryset.NAME, queries=tuple(judged_queries(context))))


def qrels(context: Context) -> str:
    """Return the store's judgments as TREC qrels; the topics are the ids of the saved queries."""
    return trec.qrels_text({query_id(q.text, q.now): q.relevant for q in judged_queries(context)})


def run_file(result: ProfileResult) -> str:
    """Return one profile's rankings as a TREC run, tagged with its name; topics as in `qrels`."""
    found = {query_id(q.query, q.now): zip(q.ids, q.scores, strict=True) for q in result.queries}
    return trec.write_run(trec.ranked(result.profile.name, found))
