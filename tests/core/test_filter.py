"""The filter language: what is read, what it matches, what it refuses, and how fast."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.core.record import InvalidQuery
from workbench.core.stream.filter import HELP, Filter, matches, parse_filter
from workbench.core.stream.memory import Memory, Source

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
BASE = Memory(
    id="mem-20261120-0000007",
    content="Tests failed:\n  AUTH_SECRET   missing in CI",
    created_at=NOW - timedelta(days=1),
    last_accessed_at=NOW,
    summary="Auth needs its env",
    session_id="S-2026-11",
    source=Source(speaker="Ann Lee"),
    observation_type="error",
    section="Strategies & Hard Rules",
    tags=("auth", "Two Words"),
    aliases=("shr-00001",),
)


def hit(text: str, memory: Memory = BASE) -> bool:
    return matches(memory, parse_filter(text, NOW))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "type:error",
        "Type:ERROR",
        "type:failure,error",
        "type:failure,,error,",
        "memory:episodic",
        "status:signal",
        "status:any",
        "tag:AUTH",
        'tag:"two words"',
        'tag:nope,"two words"',
        "tag:au*",
        "section:strateg*",
        'section:"strategies & hard rules"',
        "session:s-2026-11",
        'speaker:"ann lee"',
        "Speaker:ANN*",
        "speaker:*",
        'speaker:user,"Ann  Lee"',
        "-speaker:user",
        "id:mem-20261120-0000007",
        "id:shr-00001",
        "pinned:no",
        "pinned:yes,no",
        "-pinned:yes",
        "-tag:wip",
        '"auth_secret missing"',
        '"AUTH_SECRET  missing in"',
        '"needs its"',
        '"two words"',
        '"missing in',
        '-"missing out"',
        "-deploy",
        "any free words do not matter here",
        "type:error tag:auth since:2d until:today",
    ],
)
def test_a_filter_that_holds(text: str) -> None:
    assert hit(text)


@pytest.mark.parametrize(
    "text",
    [
        "type:failure",
        "speaker:ann",
        "speaker:user",
        '-speaker:"ann lee"',
        "-type:error,failure",
        "memory:semantic",
        "status:confirmed",
        "-status:signal",
        "tag:aut",
        "tag:wip",
        "-tag:auth",
        "tag:auth tag:wip",
        "section:strategies",
        "session:s-2026",
        "id:mem-20261120-0000008",
        "pinned:yes",
        "is:reflection",
        "is:voted",
        "is:harmful",
        '"missing AUTH_SECRET"',
        '"in ci auth"',
        '-"missing in ci"',
        "-auth",
        "since:23h",
        "until:2d",
        "type:error tag:auth since:1h",
    ],
)
def test_a_filter_that_does_not_hold(text: str) -> None:
    assert not hit(text)


def test_flags_look_at_votes_marks_and_origin() -> None:
    assert hit("is:reflection", replace(BASE, is_synthetic=True))
    assert hit("is:voted", replace(BASE, harmful_votes=1))
    assert not hit("is:voted", replace(BASE, helpful_imported=4))
    assert hit("is:harmful", replace(BASE, harmful_imported=1))
    assert hit("is:reflection,voted", replace(BASE, helpful_votes=1))


def test_archived_memories_show_only_when_a_status_asks_for_them() -> None:
    archived = replace(BASE, status="archived")
    assert not hit("", archived)
    assert not hit("tag:auth", archived)
    assert not hit("-status:signal", archived)
    assert hit("status:archived", archived)
    assert hit("status:any", archived)
    assert not parse_filter("-status:signal", NOW).shows_archived
    assert parse_filter("status:confirmed", NOW).shows_archived


def test_words_phrases_and_exclusions_are_told_apart() -> None:
    flt = parse_filter('Auth tokn "Exact  Phrase" -wip -"Old Text" -- --flag re-run - ""', NOW)
    assert flt.words == ("Auth", "tokn", "--", "--flag", "re-run")
    assert flt.phrases == ("exact phrase",)
    assert flt.excluded == ("wip", "old text")
    assert flt.clauses == ()


@pytest.mark.parametrize(
    "text",
    [
        "http://x",
        "foo:bar",
        "TODO:",
        "std::vector",
        r"C:\x",
        "09:15",
        "typ://x",
        "Error:",
        "a:b:c",
        ":",
        "tag",
    ],
)
def test_what_only_looks_like_a_clause_is_a_word(text: str) -> None:
    assert parse_filter(text, NOW) == Filter(words=(text,))


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("typ:error", "type:"),
        ("-tags:x", "tag:"),
        ("stat:signal", "status:"),
        ("sinse:7d", "since:"),
        ("pin:yes", "pinned:"),
    ],
)
def test_a_mistyped_key_is_named_with_the_nearest(text: str, near: str) -> None:
    with pytest.raises(InvalidQuery) as caught:
        parse_filter(text, NOW)
    assert f"Did you mean “{near}”?" in caught.value.hint
    assert parse_filter(f'"{text}"', NOW).clauses == ()


def test_a_forgiving_reader_searches_for_a_mistyped_clause_and_says_so() -> None:
    found = parse_filter("typ:error auth", NOW, forgiving=True)
    assert (found.words, found.unknown, found.clauses) == (
        ("typ:error", "auth"),
        (("typ", "type"),),
        (),
    )
    for text in ("localhost:8000", "std::map", "foo:bar"):
        assert parse_filter(text, NOW, forgiving=True) == Filter(words=(text,))
    with pytest.raises(InvalidQuery):
        parse_filter("importance:much", NOW, forgiving=True)


def test_category_source_importance_and_confidence() -> None:
    source = Source("SessionEnd", 3, "notes/today/Log.md")
    memory = replace(BASE, category="Decision", source=source, importance_score=7.5, confidence=2)
    for text in (
        "category:decision", "category:dec*", "source:sessionend", "source:log.md", "source:notes/*",
        "importance:>7", "importance:>=7.5", "importance:7.5", "importance:<8,>9", "-importance:>8",
        "confidence:>1", "confidence:2", "confidence:<=2",
    ):  # fmt: skip
        assert matches(memory, parse_filter(text, NOW)), text
    for text in (
        "category:error",
        "source:other.md",
        "importance:>7.5",
        "importance:<7",
        "confidence:>2",
    ):
        assert not matches(memory, parse_filter(text, NOW)), text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("importance:much", "For example: importance:>7"),
        ("confidence:>", "For example: confidence:>2"),
        ("importance:=>7", "For example: importance:>7"),
        ("status:confirmd", "Did you mean “confirmed”?"),
        ("memory:xyzzy", "working, episodic, semantic, procedural"),
        ("type:eror", "Did you mean “error”?"),
        ("pinned:maybe", "yes, no"),
        ("is:unread", "reflection"),
        ("status:", "For example: status:confirmed"),
        ("tag:,", "For example: tag:auth"),
        ('tag:""', "For example: tag:auth"),
        ("since:1d,2d", "For example: since:7d"),
        ("since:soon", "7d"),
        ("since:30m", "7d"),
        ("until:2026-02-30", "2026-11-21"),
        ("since:999999w", "7d"),
        ("since:99999y", "7d"),
        ("until:0001-01-01T00:00+14:00", "7d"),
    ],
)
def test_a_bad_value_is_refused_with_an_example(text: str, hint: str) -> None:
    with pytest.raises(InvalidQuery) as caught:
        parse_filter(text, NOW)
    assert hint in caught.value.hint


def test_an_observation_type_of_ones_own_is_not_refused() -> None:
    assert hit("type:weather", replace(BASE, observation_type="Weather"))


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("since:90min", datetime(2026, 11, 21, 8, 0, tzinfo=UTC)),
        ("since:36h", datetime(2026, 11, 19, 21, 30, tzinfo=UTC)),
        ("since:7d", datetime(2026, 11, 14, 9, 30, tzinfo=UTC)),
        ("since:2w", datetime(2026, 11, 7, 9, 30, tzinfo=UTC)),
        ("since:9mo", datetime(2026, 2, 21, 9, 30, tzinfo=UTC)),
        ("since:11mo", datetime(2025, 12, 21, 9, 30, tzinfo=UTC)),
        ("since:1y", datetime(2025, 11, 21, 9, 30, tzinfo=UTC)),
        ("since:today", datetime(2026, 11, 21, tzinfo=UTC)),
        ("since:yesterday", datetime(2026, 11, 20, tzinfo=UTC)),
        ("since:2026-11-03", datetime(2026, 11, 3, tzinfo=UTC)),
        ("since:2026-11-03T08:15", datetime(2026, 11, 3, 8, 15, tzinfo=UTC)),
        ('since:"2026-11-03 08:15"', datetime(2026, 11, 3, 8, 15, tzinfo=UTC)),
        ("since:2026-11-03t08:15z", datetime(2026, 11, 3, 8, 15, tzinfo=UTC)),
        ("since:2026-11-03T08:15+02:00", datetime(2026, 11, 3, 6, 15, tzinfo=UTC)),
        ("until:yesterday", datetime(2026, 11, 20, 23, 59, 59, 999999, tzinfo=UTC)),
        ("until:2026-11-03T08:15", datetime(2026, 11, 3, 8, 15, tzinfo=UTC)),
    ],
)
def test_times(text: str, at: datetime) -> None:
    assert parse_filter(text, NOW).clauses[0].at == at


def test_a_month_back_from_the_31st_is_the_last_of_the_month() -> None:
    now = datetime(2026, 3, 31, 12, tzinfo=UTC)
    assert parse_filter("since:1mo", now).clauses[0].at == datetime(2026, 2, 28, 12, tzinfo=UTC)


def test_days_begin_where_the_person_is() -> None:
    zone = timezone(timedelta(hours=-10))  # still 20 November there
    midnight = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
    assert parse_filter("since:today", NOW, zone=zone).clauses[0].at == midnight
    assert parse_filter("since:2026-11-20", NOW, zone=zone).clauses[0].at == midnight


def test_both_ends_of_a_period_are_included() -> None:
    made = BASE.created_at
    text = made.strftime("%Y-%m-%dT%H:%M")
    assert hit(f"since:{text} until:{text}")
    assert hit("until:2026-11-20 since:2026-11-20")
    assert not hit("-since:2026-11-20")


def test_is_with_a_status_works_like_the_status() -> None:
    archived, pinned = (
        replace(BASE, status="archived", archived_reason="done"),
        replace(BASE, pinned=True),
    )
    for text, found in (
        ("is:archived", True),
        ("-is:archived", False),
        ("is:voted,archived", True),
        ("is:signal", False),
    ):
        assert matches(archived, parse_filter(text, NOW)) is found, text
    assert not hit("is:archived")
    assert hit(f"is:{BASE.status}")
    assert (hit("is:pinned", pinned), hit("is:pinned", replace(BASE, pinned=False))) == (
        True,
        False,
    )


def test_until_now_and_whole_months_are_times() -> None:
    assert hit("until:now since:2026-11")
    assert not hit("until:2026-10")
    assert not hit("since:now")


def test_what_nobody_is_known_to_have_said_has_no_speaker() -> None:
    nobody = replace(BASE, source=Source("hook"))
    assert not hit("speaker:*", nobody)
    assert not hit("speaker:user", nobody)
    assert hit("-speaker:*", nobody)
    with pytest.raises(InvalidQuery, match=r"“speker:”.*“speaker:”"):
        parse_filter("speker:user", NOW)


def test_every_help_row_that_shows_a_filter_can_be_read() -> None:
    for shown, about in HELP:
        parse_filter(shown, NOW)
        assert about


@pytest.mark.slow
@settings(max_examples=80)
@given(
    st.text(
        alphabet=st.one_of(st.characters(), st.sampled_from('-:",* \ttypesinc7dag')), max_size=40
    )
)
def test_any_text_is_read_or_refused_and_then_matched(text: str) -> None:
    try:
        flt = parse_filter(text, NOW)
    except InvalidQuery:
        return
    assert matches(BASE, flt) in (True, False)


@pytest.mark.slow
@given(
    st.lists(
        st.sampled_from(["type:error", "tag:auth", "pinned:yes", '"missing in"', "is:voted"]),
        max_size=4,
    )
)
def test_a_minus_turns_one_clause_around(texts: list[str]) -> None:
    for text in texts:
        assert hit(text) is not hit(f"-{text}")
    assert hit(" ".join(texts)) is all(hit(text) for text in texts)
