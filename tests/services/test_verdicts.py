"""What texts hold is looked for once, and what is shown of them has no secret."""

from tests.safety.fresh import fresh
from tests.services.conftest import memory, put
from workbench.services.open import Workbench

KEY = fresh("verdict")["github"].secret
TEXT = f"All is well. The key is {KEY} here."


def test_a_record_is_shown_without_its_secrets_and_anew_when_it_changes(bench: Workbench) -> None:
    put(bench, memory("m1", TEXT), memory("m2", "Nothing in it."))
    first, plain = bench.library.memories.get("m1"), bench.library.memories.get("m2")
    assert KEY not in bench.safety.shown(first).content
    assert bench.safety.shown(plain) is plain
    bench.stream.edit("m1", "The key went.")
    assert bench.safety.shown(bench.library.memories.get("m1")).content == "The key went."


def test_a_list_that_grows_is_shown_with_what_is_in_it(bench: Workbench) -> None:
    texts = ["Nothing in it."]
    assert bench.safety.shown(texts) == texts
    texts.append(TEXT)
    assert KEY not in "".join(bench.safety.shown(texts))
