"""Episodes as values: what makes one, what the store holds of it, how old it is, what tells its
failure again.
"""

import json
from datetime import UTC, datetime, timedelta

import pytest

from workbench.core.agents.episodes.criteria import (
    RETENTION,
    Digest,
    digest_from,
    digest_of,
    features_of,
    is_over,
    likeness,
    phase_dates,
    phase_of,
    shared,
)
from workbench.core.agents.episodes.episode import (
    DEEPEST,
    Episode,
    InvalidEpisode,
    head,
    read_episode,
    tagged,
)
from workbench.core.document import from_doc, to_doc
from workbench.core.record import InvalidRecord

AT = datetime(2026, 11, 21, 12, tzinfo=UTC)
LEAST = {"task": {"original_input": "Fix it"}, "outcome": {"status": "SUCCESS"}}

WRONG: list[tuple[object, str, str]] = [
    ([], "episode", "not an object"),
    ({}, "task", "is missing"),
    ({"task": {}, "outcome": {"status": "SUCCESS"}}, "task.original_input", "is missing"),
    ({**LEAST, "task": {"original_input": " "}}, "task.original_input", "empty"),
    ({**LEAST, "outcome": {"status": "OK"}}, "outcome.status", "SUCCESS, PARTIAL, FAILURE"),
    ({**LEAST, "outcome": {}}, "outcome.status", "is missing"),
    ({**LEAST, "timestamp": "yesterday"}, "timestamp", "ISO 8601"),
    ({**LEAST, "timestamp": 7}, "timestamp", "expected a text, found a whole number"),
    ({**LEAST, "execution": {"trace": {}}}, "execution.trace", "expected a list"),
    ({**LEAST, "execution": {"duration": -1}}, "execution.duration", "at least 0"),
    ({**LEAST, "metadata": {"tags": ["a", 3]}}, "metadata.tags[1]", "expected a text"),
    (
        {**LEAST, "embeddings": {"task_embedding": [0.1, True]}},
        "embeddings.task_embedding[1]",
        "expected a number",
    ),
    (
        {**LEAST, "embeddings": {"task_embedding": [float("nan")]}},
        "embeddings.task_embedding",
        "not a number",
    ),
    (
        {**LEAST, "lifecycle": {"access_count": 1.5}},
        "lifecycle.access_count",
        "expected a whole number",
    ),
    (
        {**LEAST, "lifecycle": {"archival_status": "gone"}},
        "lifecycle.archival_status",
        "active, archived, deleted",
    ),
    ({**LEAST, "reflection": "none"}, "reflection", "expected an object"),
]


@pytest.mark.parametrize(("doc", "path", "problem"), WRONG, ids=[path for _, path, _ in WRONG])
def test_what_is_no_episode_is_named_by_its_path(doc: object, path: str, problem: str) -> None:
    with pytest.raises(InvalidEpisode) as refused:
        read_episode(doc)
    assert problem in dict(refused.value.faults)[path]
    assert path in str(refused.value)


def test_every_fault_is_there_and_the_first_are_said() -> None:
    with pytest.raises(InvalidEpisode) as refused:
        read_episode({"task": 3, "outcome": [], "session_id": 1, "metadata": "x", "timestamp": ""})
    assert len(refused.value.faults) == 5
    assert "And 2 more." in refused.value.message


def test_what_nests_too_deep_is_refused() -> None:
    deep: object = "x"
    for _ in range(DEEPEST + 2):
        deep = [deep]
    with pytest.raises(InvalidEpisode, match="levels"):
        read_episode({**LEAST, "task": {"original_input": "x", "context": deep}})


@pytest.mark.parametrize("id", ["a\nb", " a", "x" * 65, "ä" * 33, "\x1b[1m"])
def test_an_id_that_cannot_be_a_name_is_refused(id: str) -> None:
    with pytest.raises(InvalidRecord, match="episode_id"):
        read_episode({**LEAST, "episode_id": id})


def test_what_is_unknown_and_null_is_no_fault_and_what_is_counted_is_not_kept() -> None:
    body = read_episode(
        {
            **LEAST,
            "episode_id": "e",
            "extra": [1],
            "execution": None,
            "lifecycle": {"access_count": 2},
        }
    )
    assert body.kept == {**LEAST, "extra": [1], "execution": None}
    assert read_episode({**LEAST, "lifecycle": {"access_count": 2, "x": 1}}).kept["lifecycle"] == {
        "x": 1
    }
    assert (body.id, body.outcome, body.at, body.get("execution.trace"), body.status) == (
        "e",
        "SUCCESS",
        None,
        None,
        "active",
    )


def test_a_head_is_stored_and_read_and_holds_the_usual() -> None:
    made = head(
        "ep-20261121-0000001",
        AT.replace(microsecond=7),
        "FAILURE",
        "f" * 40,
        "bugfix",
        "python",
        ("a", "a", "b"),
    )
    assert (made.at, made.tags, made.type, made.domain) == (AT, ("a", "b"), "bugfix", "python")
    assert from_doc(Episode, to_doc(made)) == made


def test_tags_are_added_once_and_only_where_there_is_room() -> None:
    made = head("e", AT, "SUCCESS", "f" * 40, "", "", ("a",))
    assert tagged(made, ("b", "a"), ()).tags == ("a", "b")
    assert tagged(made, (), ("a",)).tags == ()
    for bad in ("", "x" * 41, "a\nb"):
        with pytest.raises(InvalidRecord, match="A tag has"):
            tagged(made, (bad,))
    with pytest.raises(InvalidRecord, match="no room"):
        tagged(made, tuple(f"a long tag of number {n}" for n in range(25)))


@pytest.mark.parametrize(
    ("days", "phase"),
    [
        (-3, "active"),
        (0, "active"),
        (29.9, "active"),
        (30, "mature"),
        (180, "aged"),
        (364, "aged"),
        (365, "archived"),
    ],
)
def test_the_phase_goes_by_the_date(days: float, phase: str) -> None:
    episode = Episode("e", AT, "SUCCESS", "0")
    assert phase_of(episode, AT + timedelta(days=days)) == phase
    assert phase_dates(episode)["aged"] == AT + timedelta(days=180)


def test_a_person_s_word_comes_before_the_age_and_a_deletion_ends() -> None:
    gone = Episode("e", AT, "SUCCESS", "0", status="deleted", deleted_at=AT)
    assert phase_of(gone, AT + timedelta(days=400)) == "deleted"
    assert phase_of(Episode("e", AT, "SUCCESS", "0", status="archived"), AT) == "archived"
    assert not is_over(gone, AT + RETENTION - timedelta(seconds=1))
    assert is_over(gone, AT + RETENTION)


def test_a_failure_is_told_again_by_its_names_codes_and_lines() -> None:
    one = features_of(["ModuleNotFoundError: No module named 'jwt'\n  at /a/b/c.py:17"], ["bash"])
    again = features_of(["No module named 'jwt'"])
    other = features_of(["ECONNREFUSED 127.0.0.1:5432, exit code 3"])
    assert {"error:modulenotfounderror", "tool:bash"} <= set(one)
    assert {"code:econnrefused", "code:exit 3"} <= set(other)
    assert len(shared(one, again)) == 1
    assert (
        likeness(one, one)
        == 1
        > likeness(one, again)
        > likeness(one, other)
        == likeness((), ())
        == 0
    )
    assert features_of(["line 3 of /x/y.py failed"]) == features_of(
        ["line 44 of /other/y.py failed"]
    )


def test_what_is_searched_of_an_episode_is_what_it_says() -> None:
    body = read_episode(
        {
            "session_id": "s", "task": {"original_input": "Build it", "parsed_goals": [{"goal": "green"}]},
            "execution": {
                "duration": 3,
                "trace": [{"tool": "make", "status": "failed", "stderr": "no rule"}, {"tool": "ls"}],
            },
            "outcome": {"status": "FAILURE", "primary_output": {"why": "the rule is gone"}},
            "reflection": {"insights": ["Look for the rule first"], "failures_analyzed": [{"cause": "renamed"}]},
            "metadata": {"domain": "c", "task_type": "build", "tools_used": ["make"], "tags": ["x"]},
        }
    )  # fmt: skip
    found = digest_of(body)
    assert (found.task, found.lessons, found.session, found.domain, found.type, found.tools, found.duration) == (
        "Build it\ngreen", "Look for the rule first", "s", "c", "build", ("make",), 3.0,
    )  # fmt: skip
    assert found.failure == "renamed\nno rule\nthe rule is gone"
    assert "tool:make" in found.signature
    assert digest_from(json.loads(json.dumps(found))) == found
    assert digest_of(read_episode(LEAST)).signature == ()
    for bad in (None, [], ["x"] * len(Digest._fields), [1] * len(Digest._fields)):
        with pytest.raises(ValueError):  # noqa: PT011 - whatever is wrong
            digest_from(bad)
