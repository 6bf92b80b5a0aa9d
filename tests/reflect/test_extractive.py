"""The offline reflector: what it proposes, on what grounds, and that it invents nothing."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.core.reflection.reflector import Reflection, Request, Step
from workbench.core.stream.memory import Memory, Source
from workbench.reflect.extractive import MOST, ExtractiveReflector, Vectors
from workbench.retrieval.embedding.close_pairs import with_words
from workbench.retrieval.embedding.embedder import Embedder

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)

PNPM = (
    "I ran npm install in the web folder again and it wrote a package-lock.json.",
    "Always install web packages with pnpm, because npm install writes a package-lock.json.",
    "The web build failed because npm install had left a package-lock.json behind.",
    "Ines removed another package-lock.json from the web folder; install packages with pnpm.",
)
OTHERS = (
    "The clock of the nightly run stands at ten past midnight in UTC.",
    "Ruth called the swim school about two bookings on lane four.",
    "Rate limits count each visitor by address and by venue.",
    "The audit table is partitioned by month and never updated.",
    "Receipts are rendered as PDF before the mail is sent out.",
    "Access tokens live fifteen minutes and stay in memory only.",
    "The colour of the buttons follows the season of the venue.",
    "Exports of payments are streamed in parts of eight megabytes.",
)


@cache
def embedder() -> Embedder:
    return Embedder()


def embed(texts: Sequence[str]) -> Vectors:
    return with_words(embedder().embed(list(texts)), texts)


def memories(*contents: str, hours: float = 24.0, **fields: Any) -> tuple[Memory, ...]:
    """Return memories so many hours apart, each of a session of its own; without any, all in one
    session.
    """
    shared = {"observation_type": "correction", "importance_score": 8.0, **fields}
    made = []
    for i, text in enumerate(contents):
        at = AT + timedelta(hours=hours * i)
        made.append(Memory(f"m{i}", text, at, at, session_id=f"s{i if hours else 0}", **shared))
    return tuple(made)


def reflect(found: Sequence[Memory], focus: str = "", known: Sequence[str] = ()) -> Reflection:
    reflector = ExtractiveReflector(embed, known)
    return reflector.reflect(Request(tuple(found), focus), lambda step: None, lambda: False)


MIXED = memories(
    OTHERS[0], PNPM[0], *OTHERS[1:3], PNPM[1], *OTHERS[3:5], PNPM[2], *OTHERS[5:], PNPM[3]
)


def test_the_rule_behind_what_recurs_is_proposed_with_all_that_supports_it() -> None:
    (insight,) = reflect(MIXED).insights
    assert insight.text == PNPM[1]
    assert insight.label == "extractive"
    assert insight.citations[0] == MIXED[4].id, "the memory that says it comes first"
    assert set(insight.citations) == {m.id for m in MIXED if m.content in PNPM}
    assert insight.unresolved == () == insight.rounds


def test_it_is_deterministic() -> None:
    assert reflect(MIXED) == reflect(MIXED)


def test_what_happens_on_one_occasion_only_does_not_recur() -> None:
    assert reflect(memories(*PNPM, *OTHERS, hours=0)).insights == ()
    apart = reflect(memories(*PNPM, *OTHERS, hours=1.5))
    assert [i.text for i in apart.insights] == [PNPM[1]], (
        "hours apart are other times, in the same session too"
    )


def test_two_memories_are_no_theme_unless_they_say_what_to_do() -> None:
    told = (
        "The nightly export fills the disk of the worker.",
        "The disk of the worker fills when the export is nightly.",
    )
    assert reflect(memories(*told, *OTHERS, observation_type="general")).insights == ()
    (insight,) = reflect(memories(*PNPM[:2], *OTHERS)).insights
    assert (insight.text, len(insight.citations)) == (PNPM[1], 2)


def test_what_is_known_is_not_proposed_again() -> None:
    texts = [insight.text for insight in reflect(MIXED, known=[PNPM[1]]).insights]
    assert PNPM[1] not in texts
    assert reflect(MIXED, known=PNPM).insights == ()


def test_what_was_confirmed_or_is_a_reflection_is_evidence_but_not_proposed() -> None:
    kept = [m for m in MIXED if m.content != PNPM[1]]
    confirmed, thought = (
        memories(PNPM[1], status="confirmed")[0],
        memories(PNPM[1], is_synthetic=True)[0],
    )
    for other in (confirmed, thought):
        for insight in reflect([other, *kept]).insights:
            assert insight.text != PNPM[1]
            assert other.id in insight.citations


def test_the_focus_decides_what_is_looked_at() -> None:
    tokens = (
        "Every refresh of the session rotates the token at once.",
        "A used refresh token revokes the whole token family.",
        "The refresh token is kept in a cookie of the browser.",
    )
    everything = memories(OTHERS[0], *PNPM, *OTHERS[1:4], *tokens)
    assert [i.text for i in reflect(everything, "package manager npm").insights] == [PNPM[1]]
    about_tokens = reflect(everything, "refresh tokens").insights
    assert about_tokens
    assert {i.text for i in about_tokens} <= set(tokens)
    assert reflect(everything, "seasons of the opera").insights == ()


@pytest.mark.parametrize("found", [(), memories("One memory says very little about it.")])
def test_little_to_read_is_no_problem(found: tuple[Memory, ...]) -> None:
    assert reflect(found) == Reflection("extractive", ())


def test_every_proposal_is_a_part_of_a_memory_it_cites() -> None:
    for insight in reflect(MIXED).insights:
        source = next(m for m in MIXED if m.id == insight.citations[0])
        assert insight.text in source.content


def test_it_tells_how_far_it_is_and_stops_when_asked() -> None:
    steps: list[Step] = []
    reflector = ExtractiveReflector(embed)
    done = reflector.reflect(Request(MIXED), steps.append, lambda: False)
    assert [step.text for step in steps] == ["", f"{PNPM[1]}\n"]
    assert (steps[-1].stage, steps[-1].done, steps[-1].total) == ("cluster", 1, MOST)
    assert done.complete
    stopped = reflector.reflect(Request(MIXED), lambda step: None, lambda: True)
    assert (stopped.complete, stopped.by_person, stopped.insights, stopped.stopped) == (
        False,
        True,
        (),
        "You stopped it.",
    )


def test_nothing_leaves_the_machine() -> None:
    preview = ExtractiveReflector(embed).preview(Request(MIXED))
    assert (preview.texts, preview.estimate.total) == ((), 0)
    assert "Nothing leaves" in preview.remark


def test_at_most_ten_are_proposed() -> None:
    def fake(texts: Sequence[str]) -> Vectors:
        """Put the texts of one subject at one place."""
        names = sorted({text.split()[1] for text in texts})
        return np.array(
            [np.eye(len(names), dtype=np.float32)[names.index(t.split()[1])] for t in texts]
        )

    subjects = [f"subject{chr(97 + i)}" for i in range(14)]
    texts = [
        f"The {s} must never be restarted without asking {who}." for s in subjects for who in "abc"
    ]
    found = ExtractiveReflector(fake).reflect(
        Request(memories(*texts)), lambda step: None, lambda: False
    )
    assert len(found.insights) == MOST
    assert all(len(insight.citations) == 3 for insight in found.insights)


def _letters(texts: Sequence[str]) -> Vectors:
    """Embed by letters, which is quick and defined for any text."""
    counted = (
        np.array(
            [[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts], np.float32
        )
        + 0.01
    )
    vectors: Vectors = counted / np.linalg.norm(counted, axis=1, keepdims=True)
    return vectors


@pytest.mark.slow
@settings(max_examples=60)
@given(
    st.lists(
        st.lists(
            st.sampled_from(
                (
                    "Ines: ",
                    "the cache ",
                    "deploy ",
                    "must ",
                    "never. ",
                    "Wait\n",
                    "[x](",
                    "\ud7ff",
                    "é ",
                )
            )
        ).map("".join),
        min_size=1,
        max_size=25,
    ),
    st.sampled_from(("", "cache", "\n")),
)
def test_whatever_the_memories_hold_nothing_is_invented(contents: list[str], focus: str) -> None:
    found = memories(*(text or "empty" for text in contents))
    reflection = ExtractiveReflector(_letters).reflect(
        Request(found, focus), lambda step: None, lambda: False
    )
    ids = {memory.id: memory for memory in found}
    for insight in reflection.insights:
        assert set(insight.citations) <= ids.keys()
        assert insight.text.removeprefix("Ines: ") in ids[insight.citations[0]].content


GERMAN = (
    "Vor jedem Deployment müssen die Datenbankmigrationen auf Staging laufen.",
    "Das Deployment schlug fehl, weil die Datenbankmigrationen auf Staging nicht gelaufen waren.",
    "Wir haben vereinbart, dass vor dem Deployment die Datenbankmigrationen auf Staging geprüft werden.",
    "Der Cache für Rechnungen darf erst nach dem Commit geleert werden.",
    "Ein alter Wert im Cache der Rechnungen führte zu einer falschen Summe.",
    "Nach dem Commit muss der Cache der Rechnungen geleert werden, sonst bleibt die alte Summe stehen.",
    "Guten Morgen zusammen, heute ist es sehr kalt draußen.",
    "Kannst du mir sagen, wo die Konfiguration liegt?",
    "Die Farbe der Knöpfe folgt der Jahreszeit am Hafen.",
    "Ruth telefoniert am Freitag mit der Schwimmschule über zwei Buchungen.",
    "Quittungen werden als PDF gezeichnet, bevor die Post hinausgeht.",
    "Zugangstoken leben fünfzehn Minuten und bleiben im Speicher.",
    "Exporte von Zahlungen fließen in Teilen von acht Megabyte.",
    "Die Nachtläufe beginnen zehn Minuten nach Mitternacht.",
)
JAPANESE = (
    "デプロイの前に必ずステージング環境でデータベースのマイグレーションを実行する。",
    "ステージング環境でマイグレーションを実行していなかったため、デプロイが失敗した。",
    "マイグレーションはステージング環境で実行し、その後でデプロイする。会議は明日です。",
    "請求書のキャッシュはコミットの後に削除する必要がある。",
    "請求書のキャッシュが古い値を返したので、合計が間違っていた。",
    "コミットの後に請求書のキャッシュを削除しないと、古い合計が残る。",
    "ありがとうございます。とても助かりました！",
    "設定ファイルはどこにありますか？",
)


@pytest.mark.parametrize(
    ("texts", "focus"), [(GERMAN, "Datenbank"), (JAPANESE, "マイグレーション")]
)
def test_other_languages_give_their_themes_verbatim(texts: Sequence[str], focus: str) -> None:
    found = reflect(memories(*texts)).insights
    assert [sorted(insight.citations) for insight in found] in (
        [["m0", "m1", "m2"], ["m3", "m4", "m5"]],
        [["m3", "m4", "m5"], ["m0", "m1", "m2"]],
    )
    assert all(any(insight.text in text for text in texts) for insight in found)
    (asked,) = reflect(memories(*texts), focus).insights
    assert sorted(asked.citations) == ["m0", "m1", "m2"]
    again = reflect(memories(*texts), known=[insight.text for insight in found])
    assert not {insight.text for insight in again.insights} & {insight.text for insight in found}


@pytest.mark.slow
@given(st.lists(st.text(max_size=80), max_size=6))
@settings(max_examples=40, deadline=None)
def test_no_script_stops_it_and_nothing_is_invented(texts: list[str]) -> None:
    every = [text for text in texts if text.strip()] * 3
    for insight in reflect(memories(*every)).insights:
        assert any(insight.text in text for text in every)


VERBS = (
    "confirm",
    "check",
    "write",
    "name",
    "test",
    "archive",
    "sign",
    "encrypt",
    "review",
    "measure",
)
SUBJECTS = ("travel dates", "release branches", "invoice totals", "backup keys")
STATED = tuple(
    f"{('Always', 'Never')[(v + s) % 2]} {verb} the {subject} {('before', 'without')[(v + s) % 2]} asking {who}."
    for v, verb in enumerate(VERBS)
    for (s, subject), who in zip(
        enumerate(SUBJECTS), ("Ines", "Ruth", "Dele", "the client"), strict=True
    )
)
PROSE = tuple(
    text.replace("Always ", "Always remember to ").replace("Never ", "You should never ")
    for text in STATED
)


def said_by(speaker: str, texts: Sequence[str]) -> tuple[Memory, ...]:
    source = Source(speaker=speaker)
    return memories(*texts, observation_type="general", source=source)


def test_what_users_state_for_every_time_is_proposed_and_an_assistants_prose_is_not() -> None:
    assert len(STATED) == 40
    found = reflect(said_by("user", STATED)).insights
    assert len({one.text for one in found if one.standing} & set(STATED)) >= 36
    assert all(one.citations for one in found)
    assert reflect(said_by("assistant", PROSE * 2)).insights == ()
    turns = [
        f"User: {asked}\nAssistant: {told}"
        for asked, told in zip(STATED, reversed(PROSE), strict=True)
    ]
    found = reflect(memories(*turns, observation_type="general")).insights
    assert len({one.text for one in found if one.standing} & set(STATED)) >= 36
    assert not any(prose in one.text or "Assistant" in one.text for one in found for prose in PROSE)


def test_what_a_user_states_twice_is_proposed_once_and_what_is_known_not_at_all() -> None:
    turns = said_by(
        "user",
        ("Always use pnpm.", "I prefer short answers.", "Please always use pnpm!", "Never mind."),
    )
    found = reflect(turns, known=["I prefer short answers"]).insights
    assert [(one.text, one.citations) for one in found] == [("Always use pnpm.", ("m0", "m2"))]


def test_what_an_agent_noted_of_its_work_is_no_prose() -> None:
    found = reflect(
        memories(
            *PNPM,
            *OTHERS,
            source=Source(hook="mcp", speaker="assistant"),
            observation_type="general",
        )
    )
    assert [one.text for one in found.insights] == [PNPM[1]]
