"""Scripts, words and languages of texts."""

import pytest

from workbench.core.words import (
    ENGLISH,
    LATIN,
    bare,
    folded,
    humps,
    language_of_word,
    latin_language,
    letters,
    only_stop_words,
    script_of,
    split,
    stop_words,
    words,
)


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


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("हिन्दी में खोज", ["हिन्दी", "में", "खोज"]),
        ("தமிழ் சொல்", ["தமிழ்", "சொல்"]),
        ("שָׁלוֹם", ["שָׁלוֹם"]),
        ("مُحَمَّد جديـــد", ["مُحَمَّد", "جديد"]),
        ("cafe\u0301 caf\u00e9", ["caf\u00e9", "caf\u00e9"]),
        ("İstanbul STRASSE Straße", ["istanbul", "strasse", "strasse"]),
        ("ﬁle ＡＢＣ１２", ["file", "abc12"]),
        ("me\u00addium می\u200cخواهم wide\u200bspace", ["medium", "میخواهم", "widespace"]),
        ("进程watchdog单层", ["进程", "watchdog", "单层"]),
        ("删除数据库", ["删除", "除数", "数据", "据库"]),
        ("猫が", ["猫が"]),
        ("猫", ["猫"]),
        ("ﾊﾞｯｸ", ["バッ", "ック"]),
        ("ที่นี่", ["ที่นี่"]),
        ("เขียนหนังสือ", ["เขีย", "ยน", "นห", "หนั", "นัง", "งสื", "สือ"]),
        ("서버를 API서버", ["서버를", "api", "서버"]),
        ("it’s 3½ m²", ["it", "s", "3½", "m2"]),
        ("a_b c-d", ["a", "b", "c", "d"]),
        ("\ud800 \u0378\u202e\u0301", []),
    ],
)
def test_a_text_is_split_into_words_of_any_script(text: str, found: list[str]) -> None:
    assert split(text) == found


def test_words_keep_apostrophes_and_underscores_inside() -> None:
    assert words("_Don’t_ set AUTH_KEY für Größe 数据库") == [
        "don't",
        "set",
        "auth_key",
        "für",
        "grösse",
        "数据",
        "据库",
    ]


def test_a_word_is_bare_without_accents_and_marks_that_some_leave_out() -> None:
    pairs = (
        ("café", "cafe"),
        ("ёлка", "елка"),
        ("שָׁלוֹם", "שלום"),
        ("مُحَمَّد", "محمد"),
        ("œuvre", "oeuvre"),
        ("हिन्दी", "हिन्दी"),
    )
    assert [bare(word) for word, _ in pairs] == [plain for _, plain in pairs]


def test_a_letter_has_its_marks() -> None:
    assert letters("e\u0301ที่") == ["e\u0301", "ที่"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The cache is cleared after each release", "en"),
        ("Der Zwischenspeicher wird nach jeder Auslieferung geleert", "de"),
        ("La clé du coffre est dans le tiroir", "fr"),
        ("La clave de la caja está en el cajón", "es"),
        ("La chiave della cassaforte è nel cassetto", "it"),
        ("A chave do cofre não está na gaveta", "pt"),
        ("De sleutel van de kluis ligt niet in de lade", "nl"),
        ("Nyckeln till skåpet ligger inte i lådan", "sv"),
        ("pnpm test --watch", ""),
        ("The die is cast and the war is over", "en"),
        ("Oh no, me too: a de facto standard", "en"),
    ],
)
def test_function_words_tell_a_language(text: str, language: str) -> None:
    assert latin_language(text, split(text)) == language


def test_the_script_tells_the_language_of_a_word() -> None:
    assert [language_of_word(word) for word in ("word", "Größe", "слово", "数据", "서버", "42")] == [
        "", "", "ru", "zh", "ko", ""
    ]  # fmt: skip


@pytest.mark.parametrize(
    "language", [ENGLISH, *LATIN, "ru", "ar", "he", "hi", "el", "ko", "zh", "th"]
)
def test_stop_words_are_as_words_are_split(language: str) -> None:
    assert all(split(word) == [word] for word in stop_words(language))


@pytest.mark.parametrize(
    ("query", "only"),
    [
        ("", True),
        ("what is it, and why don't we", True),
        ("what is the port", False),
        ("wie ist das bei uns", True),
        ("wie ist das Wetter bei uns", False),
        ("что это и как", True),
        ("что с портом", False),
    ],
)
def test_a_query_may_have_only_words_that_say_nothing_in_its_language(
    query: str, only: bool
) -> None:
    assert only_stop_words(query) is only


@pytest.mark.parametrize("some", [
    "\ud800", "\u0378", "\u202e", "中", "ก็", "가", "\u0301\u0323", "x\u200d", "\ufdfa", "\u1100\u1161", "İ", "'", "क्",
    "\U000e0100", "\u00ad", "½", "a'",
], ids=ascii)  # fmt: skip
def test_no_text_takes_long(some: str) -> None:
    text = f"a{some * (65_536 // len(some))}"
    found = split(text)
    assert all(folded(word) == word for word in found[:8] if "½" not in word)
    assert bool(words(text)) == bool(found)
    assert latin_language(text, found) in ("", "en")
    list(map(bare, found))


def test_a_name_is_put_together_from_words() -> None:
    names = [
        "camelCase",
        "HTTPServer",
        "API12",
        "utf8",
        "word",
        "v2",
        "iPhone",
        "3rd",
        "a1b2c3d4",
        "ALLCAPS",
    ]
    assert [humps(name) for name in names] == [
        ("camel", "case"), ("http", "server"), ("api", "12"), ("utf", "8"), (), (), (), (), (), ()
    ]  # fmt: skip
