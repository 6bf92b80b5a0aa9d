"""Why nothing is ranked, in words."""

from workbench.bench.tuning.session import TuningSession
from workbench.core.text import printable
from workbench.core.tuning.factors import counted
from workbench.tui.widgets.figures import number

NO_WEIGHTS = "All {count} weights are zero, so nothing would be ranked. Move one of them up."
NO_QUERY = "Press / and write what an agent might ask; the ranking follows while you type."
NO_QUERY_SAVED = "Press / and write what an agent might ask, or f for a saved query."
LOADING = "The embedding model is loading. Write on; the ranking comes by itself."
NO_MODEL = "The embedding model could not be loaded, so nothing can be ranked. Everything else works."
EMPTY_STORE = "No memories yet. `workbench import FILE` brings some in; agents add theirs with `workbench ingest`."
NONE_SERVED = (
    "None of the {count} memories would be served at this time: they are archived, wait for review, or are from later. "
    "The slider “now” moves the time."
)
NONE_CHOSEN = "The candidate filter “{filter}” lets none of the {count} memories take part. C changes it."


def obstacle(session: TuningSession) -> str:
    """Return why there is a question but no ranking, or an empty text."""
    if session.question is None or (session.ranking is not None and session.ranking.ids):
        return ""
    if session.ranking is None:
        return NO_WEIGHTS.format(count=counted(session.recipe))
    count = len(session.ranking.pool)
    if count and session.profile.candidates:
        return NONE_CHOSEN.format(filter=printable(session.profile.candidates), count=number(count))
    return NONE_SERVED.format(count=number(count)) if count else EMPTY_STORE
