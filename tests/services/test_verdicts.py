"""What texts hold is looked for once, and what is shown of them has no secret."""

import pytest

from tests.safety.fresh import fresh
from tests.services.conftest import memory, put
from workbench.core.safety import Finding
from workbench.safety import scanning
from workbench.services.open import Workbench
from workbench.services.safety.verdicts import Verdicts

KEY = fresh("verdict")["github"].secret
TEXT = f"All is well. The key is {KEY} here."


def test_a_text_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    scan = scanning.scan

    def noted(text: str) -> tuple[Finding, ...]:
        looked.append(text)
        return scan(text)

    monkeypatch.setattr(scanning, "scan", noted)
    verdicts = Verdicts()
    assert KEY not in verdicts.masked(TEXT)
    assert [finding.kind for finding in verdicts.find(TEXT)] == ["secret"]
    assert looked == [TEXT]
    assert "\0" not in verdicts.masked("before\0after")


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
