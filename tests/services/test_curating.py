"""What a Curator or a Reflector suggests: as cards, as one action, and one by one in the queue."""

import json
from pathlib import Path

import pytest

from tests.services.conftest import Open
from workbench.core.playbook.operations import Add, BulletTag, Delete, Update
from workbench.core.record import InvalidRecord, UnknownRecord, UnreadableFile
from workbench.core.review.describe import describe
from workbench.formats import ace
from workbench.services.open import Workbench
from workbench.services.playbook.curation import SAID, Card, edited

TEXT = """## RULES
[r-00001] helpful=2 harmful=0 :: Look before you leap.
[r-00002] helpful=1 harmful=0 :: Look first, then leap.
[r-00003] helpful=0 harmful=0 :: Wait.
## OTHERS
"""
OPERATIONS = [
    {"type": "CREATE_META", "section_name": "Paging", "content": "Pages start at 0."},
    {
        "type": "ADD",
        "section": "Paging",
        "content": "Stop at an empty page.",
        "reason": "It was missed.",
    },
    {"type": "UPDATE", "bullet_id": "r-00003", "content": "Wait a second."},
    {"type": "MERGE", "source_ids": ["r-00001", "r-00002"], "content": "Look, then leap."},
    {"type": "DELETE", "bullet_id": "r-00009"},
    {"type": "ADD", "section": "NOWHERE", "content": "Lost."},
    {"type": "SING"},
]
REPLY = json.dumps({"reasoning": "Paging was missing.", "operations": OPERATIONS})
TAGS = json.dumps(
    {"key_insight": "Look.", "bullet_tags": [
        {"id": "r-00001", "tag": "helpful"}, {"id": "r-00002", "tag": "harmful"}, {"id": "r-00003", "tag": "neutral"},
    ]}
)  # fmt: skip


@pytest.fixture
def bench(open_bench: Open, tmp_path: Path) -> Workbench:
    bench = open_bench()
    bring(bench, tmp_path / "book.txt", TEXT)
    return bench


def bring(bench: Workbench, path: Path, text: str) -> int:
    path.write_text(text)
    return bench.importer.carry_out(bench.importer.plan(path)).written


def cards(bench: Workbench, text: str = REPLY, skipped: tuple[int, ...] = ()) -> tuple[Card, ...]:
    return bench.curating.cards("book", bench.curating.read(text), skipped)


def texts(bench: Workbench) -> str:
    return ace.write_playbook(bench.playbooks.open("book"))


def test_every_part_is_a_card_and_what_is_unknown_says_so(bench: Workbench) -> None:
    found = cards(bench)
    assert [bool(card.problem) for card in found] == [False, False, False, False, True, True, True]
    assert "no bullet r-00009" in found[4].problem
    assert "no section “NOWHERE”" in found[5].problem
    assert "operation “SING”" in found[6].problem
    assert found[1].reason == "It was missed."
    assert found[2].before == "Wait."
    assert found[2].after == "Wait a second."
    assert [b.id for b in found[3].touches] == ["r-00001", "r-00002"]
    assert cards(bench, skipped=(0,))[1].problem == "There is no section “Paging” in the playbook."


def test_what_is_accepted_is_one_action_that_is_undone(bench: Workbench) -> None:
    before, reply = texts(bench), bench.curating.read(REPLY)
    chosen = [suggested for suggested, _ in reply.parts[:4]]
    assert bench.curating.apply("book", reply, chosen) == 4
    after = {b.id: b for b in bench.playbooks.open("book").bullets}
    assert after["r-00001"].content == "Look, then leap."
    assert after["r-00001"].helpful_count == 3
    assert after["r-00001"].aliases == ("r-00002",)
    assert {b.section for b in after.values()} == {"rules", "paging"}
    assert next(bench.history.events()).actor == "human:curator"
    assert bench.history.undo() == "4 suggestions of the curator"
    assert texts(bench) == before


def test_one_that_is_impossible_lets_none_through(bench: Workbench) -> None:
    before, reply = texts(bench), bench.curating.read(REPLY)
    with pytest.raises(UnknownRecord, match="r-00009"):
        bench.curating.apply("book", reply, [suggested for suggested, _ in reply.parts[:5]])
    assert texts(bench) == before


def test_tags_are_votes_that_count_once_for_each_reply(bench: Workbench) -> None:
    reply = bench.curating.read(TAGS)
    tags = [suggested for suggested, _ in reply.parts]
    bench.curating.apply("book", reply, tags)
    one, two, three = (bench.playbooks.bullet("book", f"r-0000{n}") for n in (1, 2, 3))
    assert one.helpful_count == 3
    assert two.harmful_count == 1
    assert three.neutral_count == 1
    assert "already counted" in cards(bench, TAGS)[0].problem
    other = bench.curating.read(TAGS.replace("Look.", "Look again."))
    bench.curating.apply("book", other, tags[:1])
    bench.playbooks.vote("book", ["r-00001"], "helpful")
    assert bench.playbooks.bullet("book", "r-00001").helpful_count == 5
    for _ in range(3):
        bench.history.undo()
    assert texts(bench) == TEXT
    assert bench.library.votes.all() == []


def test_a_new_bullet_has_no_vote_of_a_deleted_one_with_its_number(bench: Workbench) -> None:
    name = bench.playbooks.add("book", "rules", "Wait once.")
    for voted in ("r-00001", name):
        bench.playbooks.vote("book", [voted], "harmful")
    bench.curating.apply("book", bench.curating.read(REPLY), [Delete(name)])
    assert bench.playbooks.add("book", "rules", "Wait twice.") == name
    assert bench.playbooks.view("book").votes == {"r-00001": "harmful"}


def test_a_bullet_that_one_reply_marks_twice_is_said(bench: Workbench) -> None:
    twice = TAGS.replace("r-00003", "r-00001")
    assert [card.problem for card in cards(bench, twice)] == [
        "",
        "",
        "The reply marks r-00001 twice.",
    ]
    assert cards(bench, twice, skipped=(0,))[2].problem == ""


def test_a_text_can_be_edited_before_it_is_accepted() -> None:
    assert edited(Add("RULES", "x"), " y\n") == Add("RULES", "y")
    assert edited(Update("a", "x"), "z") == Update("a", "z")
    for none in (Delete("a"), BulletTag("a", "helpful")):
        with pytest.raises(InvalidRecord):
            edited(none, "text")


def test_an_imported_reply_waits_in_the_queue_and_is_decided_there(
    bench: Workbench, tmp_path: Path
) -> None:
    assert bring(bench, tmp_path / "reply.json", REPLY) == 6
    assert bring(bench, tmp_path / "again.json", f"Here:\n{REPLY}") == 0
    queue = {p.operation["type"]: p for p in bench.review.queue() if p.kind == "curator"}
    assert "Wait a second." in queue["UPDATE"].title
    assert queue["UPDATE"].operation["said_then"] == {"r-00003": "Wait."}
    assert describe(queue["UPDATE"]).pro == ("r-00003 says: Wait.",)
    bench.review.approve([queue["UPDATE"].id])
    assert bench.playbooks.bullet("book", "r-00003").content == "Wait a second."
    assert bench.library.proposals.get(queue["UPDATE"].id).state == "accepted"
    with pytest.raises(UnknownRecord, match="r-00009"):
        bench.review.approve([queue["DELETE"].id])
    bench.review.reject([queue["DELETE"].id])
    bench.review.approve([queue["CREATE_META"].id])
    bench.review.approve(
        [p.id for p in bench.review.queue() if p.operation.get("section") == "Paging"]
    )
    assert "Stop at an empty page." in texts(bench)
    for _ in range(4):
        bench.history.undo()
    assert texts(bench) == TEXT


def test_what_is_put_off_waits_once(bench: Workbench) -> None:
    reply = bench.curating.read(REPLY)
    assert bench.curating.put_off("book", reply, [2, 3]) == 2
    assert bench.curating.put_off("book", reply, [2, 3]) == 0
    assert bench.review.waiting() == 2


def test_a_reply_that_fits_two_playbooks_is_not_guessed(bench: Workbench, tmp_path: Path) -> None:
    bring(bench, tmp_path / "other.txt", TEXT)
    with pytest.raises(UnreadableFile, match="name its playbook"):
        bring(bench, tmp_path / "reply.json", REPLY)


def test_a_log_of_operations_gives_only_what_was_not_carried_out(
    bench: Workbench, tmp_path: Path
) -> None:
    log = [
        {
            "operation_type": "ADD",
            "call_id": "t_1",
            "section": "RULES",
            "content": " Look before you leap.\n",
        },
        {"operation_type": "ADD", "call_id": "t_2", "section": "RULES", "content": "Ask first."},
        {"operation_type": "DELETE", "call_id": "t_3", "bullet_id": "r-00003"},
    ]
    text = "".join(json.dumps(line) + "\n" for line in log)
    assert [card.problem for card in cards(bench, text)] == [SAID, "", ""]
    assert bring(bench, tmp_path / "curator_operations_diff.jsonl", text) == 2
    waiting = [p for p in bench.review.queue() if p.kind == "curator"]
    assert sorted(p.title for p in waiting) == ["ADD to RULES: Ask first.", "DELETE r-00003"]
    bench.review.approve([p.id for p in waiting])
    assert "Ask first." in texts(bench)
    assert "r-00003" not in texts(bench)
    assert bring(bench, tmp_path / "curator_operations_diff.jsonl", text) == 0


def test_what_the_playbook_says_already_is_a_field_of_its_card_and_not_brought_in(
    bench: Workbench,
) -> None:
    text = json.dumps({"operations": [
        {"type": "ADD", "section": "RULES", "content": "Look before you leap."},
        {"type": "ADD", "section": "RULES", "content": "Rest."},
        {"type": "ADD", "section": "RULES", "content": "Rest."},
    ]})  # fmt: skip
    reply = bench.curating.read(text)
    assert [card.repeats for card in bench.curating.cards("book", reply)] == [True, False, True]
    assert [p.title for p in bench.curating.proposals("book", reply, repeats=False)] == [
        "ADD to RULES: Rest."
    ]
