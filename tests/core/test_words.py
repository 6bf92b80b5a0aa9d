"""Scripts of texts."""

import pytest

from workbench.core.words.scripts import script_of


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("plain words", "latin"),
        ("Müller's café", "latin"),
        ("12:30 %", "none"),
        ("", "none"),
        ("缓存用 watchdog 清理", "cjk"),
        ("キャッシュを消す", "cjk"),
        ("캐시를 비운다 Redis", "hangul"),
        ("ล้างแคช", "thai"),
        ("очистить кэш nginx", "cyrillic"),
        ("امسح الذاكرة", "arabic"),
        ("לנקות מטמון", "hebrew"),
        ("कैश हटाओ", "indic"),
        ("the word キー in an English sentence", "latin"),
    ],
)
def test_a_text_has_the_script_of_most_of_its_letters(text: str, script: str) -> None:
    assert script_of(text) == script
