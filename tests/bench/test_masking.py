"""Records as they may be shown: texts masked at every depth, names left alone, nothing copied for nothing."""

from dataclasses import replace

from tests.bench.conftest import memory
from tests.safety.samples import keys
from workbench.bench.masking import masked
from workbench.core.change import diff
from workbench.core.proposal import Proposal
from workbench.safety.scanning import mask

RULE, KEY = keys()["github"]
MARK = f"[secret: {RULE}]"


def test_texts_are_masked_at_every_depth_and_names_are_not() -> None:
    record = memory(KEY, f"the key {KEY}", tags=("ok", KEY), metadata={"notes": [{KEY: f"again {KEY}"}], "id": KEY})
    shown = masked(record, mask)
    assert (shown.id, shown.content, shown.tags) == (KEY, f"the key {MARK}", ("ok", MARK))
    assert shown.metadata == {"notes": [{MARK: f"again {MARK}"}], "id": KEY}
    change = diff("memories", KEY, None, {"content": KEY})
    proposal = Proposal("p", "merge", KEY, KEY, record.created_at, evidence=(KEY,), changes=(change,))
    seen = masked(proposal, mask)
    assert (seen.actor, seen.evidence, seen.title) == (KEY, (KEY,), MARK)
    assert seen.changes[0].fields["content"].after == MARK
    assert seen.changes[0].id == KEY


def test_what_holds_no_secret_stays_the_very_same_value() -> None:
    record = memory("a", "nothing to hide", metadata={"n": [1, None, {"x": "y"}]})
    assert masked(record, mask) is record
    assert masked(replace(record, content=KEY), mask).metadata is record.metadata
