"""What was found of episodes, as it is printed: a line and what it says, and how each score came about."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench.cli.output import moment, say, warn
from workbench.cli.safety.flags import Shown, review_json, unreviewed
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from workbench.services.agents.episodes.finding import FoundEpisode, FoundEpisodes
    from workbench.services.open import Workbench

_LINE = 160

_WHY = {
    "held": "held back for what the text says",
    "unapproved": "left out: agents.serve gives this agent only what a person wrote or approved",
}


def found_json(bench: "Workbench", answer: "FoundEpisodes") -> dict[str, object]:
    """Return an answer as JSON values."""
    return {
        "query": answer.query,
        "strategy": answer.strategy,
        "fitting": answer.fitting,
        "episodes": [_json(one) | review_json(bench, one.episode) for one in answer.found],
    }


def _json(one: "FoundEpisode") -> dict[str, object]:
    head, digest = one.episode, one.digest
    row: dict[str, object] = {
        "id": head.id, "timestamp": head.at, "outcome": head.outcome, "phase": one.phase, "domain": head.domain,
        "task_type": head.type, "tags": head.tags, "task": digest.task, "result": digest.result,
        "lessons": digest.lessons, "failure": digest.failure, "session_id": digest.session,
    }  # fmt: skip
    if one.terms is not None:
        row["score"] = one.total
        row["score_parts"] = [part._asdict() for part in one.parts]
    return {**row, "shared": list(one.shared)}


def say_found(bench: "Workbench", answer: "FoundEpisodes", shown: Shown, *, explain: bool) -> None:
    """Print an answer for a person."""
    for one in answer.found:
        head, digest = one.episode, one.digest
        score = f"{one.total:.3f}  " if one.terms is not None else ""
        where = "/".join(name for name in (head.domain, head.type) if name)
        say(shown(f"{score}{head.id}  {moment(head.at)}  {head.outcome.lower()}  {one.phase}  {where}".rstrip()))
        for label, text in (("task", digest.task), ("lessons", digest.lessons), ("failure", digest.failure)):
            if text:
                say(f"  {label}: {unreviewed(bench, head)}{one_line(shown(text), _LINE)}")
        if one.shared:
            named = [feature for feature in one.shared if not feature.startswith("line:")]
            same = len(one.shared) - len(named)
            lines = [f"{same} of its lines"] if same else []
            say(shown(f"  alike in: {', '.join((*named, *lines))}"))
        if explain:
            for part in one.parts:
                note = _note(one, part.term)
                say(f"  {part.term:<11}{part.value:.3f} × {part.weight:g} = {part.weighted:.3f}{note}")


def _note(one: "FoundEpisode", term: str) -> str:
    if term == "recency":
        return f"  ({one.age_days:,.0f} days)"
    return f"  ({one.episode.outcome.lower()})" if term == "success" else ""


def say_given(answer: Mapping[str, object]) -> None:
    """Print what an agent is given."""
    rows = answer["episodes"]
    for row in rows if isinstance(rows, list) else ():
        score = f"  {row['score']}" if "score" in row else ""
        say(f"{row['id']}  {row['timestamp']}  {row['outcome']}{score}")
        say(str(row["text"]))
    left_out = answer["left_out"]
    for why, number in left_out.items() if isinstance(left_out, Mapping) else ():
        warn(f"{counted(number, 'episode was', 'episodes were')} {_WHY[why]}.")
