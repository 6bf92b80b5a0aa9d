"""When two texts say the same (source 000, algorithm 4; source 001, section 3.3), without vector
maths.

Static embeddings ignore word order and negation, so a high cosine alone never merges anything:
a text is absorbed only if what it negates, its numbers, its identifiers, its symbols and its words
in their order agree as well. Whatever is near but not safe becomes a proposal.
"""

import math
import re
import unicodedata
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from enum import StrEnum
from functools import cache, cached_property, lru_cache
from itertools import groupby, pairwise, product
from operator import attrgetter, itemgetter
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from workbench.core.limits import DEFAULT_THRESHOLDS
from workbench.core.playbook.book import Bullet
from workbench.core.record import as_object, without
from workbench.core.stream.memory import FILE_KEY, Memory
from workbench.core.text import begun_alike
from workbench.core.words import CJK, HANGUL, THAI, folded, words

# Function words of many languages, as the rules for duplicates know them: what negates, is opposed,
# or only fills.
#
# Where words are not parted by spaces these are looked for as they stand, and what is between them
# is taken in pairs.


_NEGATING_WORDS = (
    # English, then German, French, Spanish, Italian, Portuguese, Dutch, Russian, Swedish: those
    # that are not English.
    "not no never none nor neither nothing nobody nowhere without cannot cant dont doesnt didnt isnt arent wasnt "
    "shouldnt mustnt wouldnt couldnt avoid avoids avoided avoiding forbid forbids forbidden prohibit prohibited "
    "refuse except unless lack lacks lacking non hardly rarely seldom instead "
    "nicht nichts nie niemals niemand kein keine keinen keinem keiner keines ohne weder vermeide vermeiden verboten "
    "ne pas jamais sans aucun aucune rien ni nunca jamás ningún ninguna ninguno nada nadie sin tampoco "
    "senza nessun nessuno nessuna mai niente né não nem sem nenhum nenhuma ninguém niet niets nooit geen zonder "
    "не нет ни никогда никто ничего без нельзя запрещено inte aldrig ingen inget inga utan ej "
    # Arabic, Hindi, Korean.
    "لا لم لن ليس ليست بدون ولا بلا ممنوع يمنع नहीं मत न ना बिना बगैर 안 못"
)
_NEGATING_PHRASES = (
    "不要 不能 不可以 不可 不得 不许 不許 不准 不应该 不應該 不应 不應 不该 不該 不会 不會 不是 不用 不必 不需要 "
    "不再 不 没有 沒有 没 沒 未 无需 無需 无须 無須 无法 無法 切勿 请勿 請勿 勿 禁止 严禁 嚴禁 避免 "
    "从不 從不 从未 從未 绝不 絕不 永不 别再 別再 别用 別用 決して "
    "しないでください しないで しません しない ないでください ないで なかった ない ません せず "
    "ไม่ควร ไม่ต้อง ไม่ได้ ไม่มี ไม่ อย่า ห้าม ปราศจาก"
)
_BEGINNINGS = ("않", "없", "말고", "말아", "말것", "마세요", "마십시오", "금지")
"""How Korean words begin that negate, whatever comes behind."""

_HARMLESS = (
    "不同 不仅 不僅 不断 不斷 不过 不過 不但 不久 不如 不管 不论 不論 不少 未来 未來 少ない 危ない"
)
"""Words with a negation in them that negate nothing."""

_MEANINGS = {
    "must": "必须先 必須先 必须 必須 务必 務必 一定要 应该 應該 应当 應當 必ず ต้อง 반드시 يجب ينبغي ज़रूरी",
    "may": "可以 可选 可選 てもよい يمكن",
    "always": "总是 總是 始终 始終 一直 常に เสมอ 항상 دائما हमेशा",
    "never": "从不 從不 从未 從未 绝不 絕不 永不 決して 절대 절대로 أبدا",
    "before": "之前 以前 前に ก่อน 전에 قبل पहले",
    "after": "之后 之後 以后 以後 後に あとに หลัง 후에 بعد बाद",
    "enable": "启用 啟用 开启 開啟 有効 활성화 تفعيل",
    "disable": "禁用 停用 关闭 關閉 無効 비활성화 تعطيل",
    "allow": "允许 允許 許可 อนุญาต 허용 السماح",
    "forbid": "禁止 严禁 嚴禁 ห้าม 금지 ممنوع",
    "success": "成功 สำเร็จ 성공 نجاح",
    "failure": "失败 失敗 ล้มเหลว 실패 فشل",
    "add": "添加 新增 追加 เพิ่ม 추가 إضافة",
    "remove": "删除 刪除 移除 削除 ลบ 삭제 حذف",
    "increase": "增加 提高 増加 증가 زيادة",
    "decrease": "减少 減少 降低 감소",
    "maximum": "最大 最多 최대",
    "minimum": "最小 最少 최소",
    "public": "公开 公開 공개",
    "private": "私有 私密 非公開 비공개",
    "sync": "同步 同期 동기",
    "async": "异步 異步 非同步 非同期 비동기",
    "read": "读取 讀取 읽기",
    "write": "写入 寫入 쓰기",
    "upload": "上传 上傳 업로드",
    "download": "下载 下載 다운로드",
}
"""English words that the rules know, and what means the same."""

_FILLING = "请 請 先 してください ください します する した して です ます こと"


NEGATIONS = frozenset((*_NEGATING_WORDS.split(), *_NEGATING_PHRASES.split()))
FILLERS = frozenset(_FILLING.split())


def said_words(text: str) -> list[str]:
    """Return the words of a text in order; of scripts without spaces the function words whole, the
    rest in pairs.
    """
    if text.isascii() or not re.search(_UNSPACED, text):
        return words(text)
    text = re.sub(_PARTICLES, "", text)
    found, at = list[str](), 0
    for phrase in _phrases().finditer(text):
        found += words(text[at : phrase.start()])
        found.append(phrase[0])
        at = phrase.end()
    return found + words(text[at:])


def is_negation(word: str) -> bool:
    """Tell whether a lower-case word negates what stands beside it."""
    return (
        word in NEGATIONS
        or word.endswith("n't")
        or (not word.isascii() and word.startswith(_BEGINNINGS))
    )


def negates_before(word: str) -> bool:
    """Tell whether a negation negates what stands before it, as in Japanese and Korean."""
    return not word.isascii() and re.match(_BEHIND, word) is not None


def english(word: str) -> str:
    """Return the English word that the rules know for one of another language, or the word without
    Korean endings.
    """
    return word if word.isascii() else _means().get(word) or re.sub(_KOREAN_ENDINGS, "", word)


# Nothing of this is made before a text needs it: a hook begins a hundred times a day, most often
# for English.


@cache
def _means() -> dict[str, str]:
    own = {word: meaning for meaning, some in _MEANINGS.items() for word in some.split()}
    return own | {folded(word): meaning for word, meaning in own.items()}


_UNSPACED = f"[{CJK}{THAI}]"
_PARTICLES = f"[的了着呢吧啊嘛呀](?<=[{CJK}].)(?=[{CJK}])"
"""Chinese particles: with and without them a text says the same."""

_KOREAN_ENDINGS = (
    "(?<=[가-힣]{2})(?:하지|합니다|한다|하세요|하십시오|해야|하기|하는|하고|하여|해서|했다|해|에서|으로|까지|부터"
    "|은|는|이|가|을|를|에|로|와|과|도|의|만)$"
)
_BEHIND = "[ぁ-ゖ]*(?:しない|せん|せず|ない|なかった)|" + "|".join(_BEGINNINGS)
"""A negation behind what it negates."""


@cache
def _phrases() -> re.Pattern[str]:
    """Function words of scripts without spaces, by their first characters: most characters begin
    none.
    """
    known = (*_NEGATING_PHRASES.split(), *_HARMLESS.split(), *FILLERS, *_means())
    unspaced = (word for word in known if re.match(_UNSPACED, word))
    longest = sorted(unspaced, key=lambda word: (word[0], -len(word)))
    rests = {
        first: "|".join(word[1:] for word in some)
        for first, some in groupby(longest, itemgetter(0))
    }
    return re.compile(
        f"(?=[{''.join(rests)}])(?:{'|'.join(f'{first}(?:{rest})' for first, rest in rests.items())})"
    )


# What a record is about beside its text: two people, services or files are never one, whatever is
# said of them.
#
# Every comparison for duplicates asks here. A reader of another tool's file keeps what names a
# record in it under `FILE_KEY`; a section names what it holds unless it is the one for all the
# rest; the file that a record was read from is its place, the file that an agent looked at while it
# noticed something is not.


# What lets two texts or records say different things, as the kinds that decisions are made by.


class Conflict(StrEnum):
    """One kind of difference in meaning; its value are the short words that flags and answers hold."""

    CONTRADICTION = "contradiction"
    OPPOSITES = "opposite words"
    NEGATION = "negation differs"
    NUMBERS = "numbers differ"
    IDENTIFIERS = "identifiers differ"
    SYMBOLS = "symbols differ"
    ORDER = "word order differs"
    FEW_WORDS = "few words in common"
    OWNERS = "owners differ"
    NAMES = "names differ"
    SECTIONS = "sections differ"
    FILES = "files differ"


R = TypeVar("R", Memory, Bullet)

NAMES = ("kind", "name", "from", "to", "key", "agent", "project")
"""Under which keys of `FILE_KEY` a reader keeps what names a record."""

_ANY_SECTION = frozenset({"", "others", "other", "general", "misc"})
"""Sections, in lower case, that only say that no other one fits."""

_ADDED_UP = ("helpful_", "harmful_")
"""How the counts begin that are added up where one of two equal records goes."""

_UNSAID = frozenset({"id", "version", "order", "raw", "lead", "metadata"})
"""What tells where a record stands or how it was written, not what it says."""


class Identity(NamedTuple):
    """Whose record it is, what names it, and where it belongs; each part is empty where nothing
    says so.
    """

    owner: str = ""
    names: tuple[tuple[str, str], ...] = ()
    section: str = ""
    path: str = ""

    def parted(self, other: "Identity") -> tuple[Conflict, ...]:
        """Name what tells two records apart; what only one of them says does not."""
        if self == other:
            return ()
        mine, theirs = dict(self.names), dict(other.names)
        named = any(mine[key] != theirs[key] for key in mine.keys() & theirs.keys())
        strangers = bool(mine and theirs) and not mine.keys() & theirs.keys()
        found = (
            (Conflict.OWNERS, bool(self.owner and other.owner) and self.owner != other.owner),
            (Conflict.NAMES, named or strangers),
            (
                Conflict.SECTIONS,
                bool(self.section and other.section) and self.section != other.section,
            ),
            (Conflict.FILES, bool(self.path and other.path) and self.path != other.path),
        )
        return tuple(conflict for conflict, differs in found if differs)


class Described(Generic[R]):
    """A record and what it is compared by, made once when it is asked for: many records may have
    one text.
    """

    def __init__(self, record: R) -> None:
        self.record: R = record

    @cached_property
    def identity(self) -> Identity:
        """What the record is about beside its text."""
        return identity_of(self.record)

    @cached_property
    def said(self) -> tuple[object, ...]:
        return all_said(self.record)

    def may_be_one(self, other: "Described[R]") -> bool:
        """Tell whether nothing parts two records but maybe their texts."""
        return not self.identity.parted(other.identity)


def identity_of(record: Memory | Bullet) -> Identity:
    """Return what a record is about beside its text."""
    section = record.section.strip()
    place = "" if section.casefold() in _ANY_SECTION else section
    if isinstance(record, Bullet):
        return Identity(record.book, (), place)
    source = record.source
    path = source.file if source.hook is None and source.turn is None else None
    return Identity(record.user_id, _names(record.metadata), place, path or "")


def parted(one: Memory | Bullet, other: Memory | Bullet) -> tuple[Conflict, ...]:
    """Name what tells two records apart whatever their texts are; empty when nothing does."""
    return identity_of(one).parted(identity_of(other))


def text_key(text: str) -> str:
    """Return what two texts have in common that differ in case and white space at most."""
    return " ".join(text.casefold().split())


def says_all_the_same(one: Memory | Bullet, other: Memory | Bullet) -> bool:
    """Tell whether two records are equal in everything but their ids and places: one may go, its
    counts added up.

    What only the file's form tells (the order of keys, a value written in another way) counts as
    well.
    """
    return type(one) is type(other) and all_said(one) == all_said(other)


def all_said(record: Memory | Bullet) -> tuple[object, ...]:
    """Return everything that a record says but for its id, its place and its counts, to be compared
    with another's.
    """
    told = _MEMORY if isinstance(record, Memory) else _BULLET
    return (*told(record), identity_of(record), _noted(record.metadata))


def _teller(kind: type[Any]) -> Callable[[object], tuple[object, ...]]:
    names = (
        f.name for f in fields(kind) if f.name not in _UNSAID and not f.name.startswith(_ADDED_UP)
    )
    return attrgetter(*names)


_MEMORY, _BULLET = _teller(Memory), _teller(Bullet)


def _names(metadata: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    kept = as_object(metadata.get(FILE_KEY))
    return tuple((key, value) for key in NAMES if isinstance(value := kept.get(key), str) and value)


def _noted(metadata: Mapping[str, object]) -> dict[str, object]:
    """Return the notes of a record with the values that its file wrote in another form, without
    ids.
    """
    forms = as_object(metadata.get(FILE_KEY))
    written = [without(as_object(forms.get(name)), "id") for name in ("raw", "values")]
    return {**without(metadata, FILE_KEY), FILE_KEY: written}


RECENT = 10
"""How many of the latest entries tier 1 looks at."""


class PairVerdict(NamedTuple):
    """What to do with a new text that resembles an old one, with reasons for and against absorbing
    it.

    `conflicts` names those reasons against it that let the two say different things, each a
    `Conflict` or, where words differ, those words; without any, they say what they say in other
    words.
    """

    action: Literal["absorb", "propose"]
    reasons_for: tuple[str, ...] = ()
    reasons_against: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()


def contained_in_recent(content: str, recent: Sequence[str]) -> bool:
    """Tell whether one of the last ten of `recent` (newest last) already says all of `content`.

    White space and case do not matter. The text must stand there as whole words and must not be
    negated there ("use npm" is not said by "do not use npm"). Empty content is never contained.
    """
    needle = text_key(content)
    return bool(needle) and any(_says(text_key(entry), needle) for entry in recent[-RECENT:])


def judge_pair(
    new_text: str, old_text: str, order: float, least: float = DEFAULT_THRESHOLDS.order
) -> PairVerdict:
    """Decide whether `new_text`, which resembles `old_text`, repeats it: absorb it, or propose a
    merge.

    `order` is their ordered text similarity (0…100), `least` that from which one may be absorbed.
    Unless they say the same in every respect, content words that only one of them holds speak
    against it as well.
    """
    new, old = _said(new_text), _said(old_text)
    checks = (*_checks(new, old), _compare_order(order, least))
    agree = tuple(check.text for check in checks if check.same and check.text)
    differ = tuple(check.text for check in checks if not check.same)
    if not differ:
        return PairVerdict("absorb", agree)
    words = word_conflicts(new_text, old_text)
    found = _kinds(checks)
    return PairVerdict("propose", agree, each_once(differ, words), each_once(found, words))


def each_once(*some: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for texts in some for text in texts))


def conflicts(new_text: str, old_text: str) -> tuple[str, ...]:
    """Name what lets two texts say different things, as `judge_pair` does, without a look at their
    letters.
    """
    return _kinds(_checks(_said(new_text), _said(old_text)))


def same_words(new_text: str, old_text: str) -> bool:
    """Tell whether two texts have the same content words in the same order."""
    return _said(new_text).content == _said(old_text).content


def negations(text: str) -> tuple[str, ...]:
    """Return what `text` negates: the stems of up to two words after each negation word, sorted."""
    return tuple(sorted(stems for stems, _ in _negated(text)))


def without_sql(text: str) -> str:
    """Return a text in which what names a constraint or a test of SQL ("NOT NULL") is one word, and
    negates nothing.
    """
    return _SQL.sub(r"not\1", text)


def opposites(new_text: str, old_text: str) -> tuple[tuple[str, str], ...]:
    """Return pairs of opposite words of which each text holds only its own, such as (passed,
    failed).
    """
    return _opposites(_stems(new_text), _stems(old_text))


def _opposites(new: Mapping[str, str], old: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    only_new, only_old = new.keys() - old.keys(), old.keys() - new.keys()
    pairs: set[tuple[str, str]] = set()
    for left, right in _OPPOSED_STEMS:
        pairs.update(
            product(only_new & left, only_old & right), product(only_new & right, only_old & left)
        )
    pairs.update(
        (a, p + a)
        for a in only_new
        for p in _PREFIXES
        if len(a) >= _ROOT_WORDS and p + a in only_old
    )
    pairs.update(
        (p + b, b)
        for b in only_old
        for p in _PREFIXES
        if len(b) >= _ROOT_WORDS and p + b in only_new
    )
    return tuple((new[a], old[b]) for a, b in sorted(pairs))


def numbers(text: str) -> tuple[str, ...]:
    """Return the numbers and versions of `text` in order: sign and percent kept, thousands commas
    dropped.
    """
    return tuple(
        re.sub(r",(?=\d{3}(?!\d))", "", n).replace("−", "-") for n in _NUMBER.findall(text)
    )


def identifiers(text: str) -> tuple[str, ...]:
    """Return names from code in order: back-ticked spans first, then ALL_CAPS, snake_case,
    camelCase, paths, dotted names, flags and the like.
    """
    quoted = [span.strip() for span in _TICKED.findall(text)]
    rest = _TICKED.sub(" ", text)
    tokens = (
        t.strip(":!?*").rstrip(".")
        for t in _BREAKS.split(rest if rest.isascii() else re.sub(_NO_CODE, " ", rest))
    )
    return (*quoted, *(t for t in tokens if _is_identifier(t)))


def symbols(text: str) -> tuple[str, ...]:
    """Return the characters that say something without being words: operators, currency, emoji, a
    prefixed `!`.
    """
    marks = {
        char for char in set(text) if char != "`" and unicodedata.category(char).startswith("S")
    }
    if not marks and "!" not in text:
        return ()
    return tuple(
        char
        for index, char in enumerate(text)
        if char in marks or (char == "!" and text[index + 1 : index + 2].isalnum())
    )


def content_words(text: str) -> tuple[str, ...]:
    """Return the stems of the words of `text` in order, without articles and other fillers or
    negations.
    """
    return tuple(_stem(w) for w in said_words(text) if w not in _FILLERS and not is_negation(w))


_NUMBER = re.compile(r"(?:(?<![\w)\]])[-−])?\d+(?:[.,:]\d+)*%?")
_TICKED = re.compile(r"`([^`\n]+)`")
_BREAKS = re.compile(r"[\s,;()\[\]{}<>\"'“”‘’`|=]+")
_NO_CODE = f"[{CJK}{THAI}{HANGUL}、。，；：！？「」『』（）【】《》·،؛؟।]+"
"""Letters and punctuation that part the names of code from each other; no name holds them."""

_INNER = re.compile(r"\w[_/\\]\w|[^\W\d]\.\w|\w\.[^\W\d]|::|[a-z\d][A-Z]|[^\W\d_]\d|\w\+\+|\w#")

_FILLERS = frozenset(
    words(
        "a an the is are was were be been being it its this that these those of for in at by as and we you i our your "
        "they their there has have had will would please also just really so then do does did"
    )
).union(FILLERS)

_SQL = re.compile(r"\bNOT\s+(NULL|EXISTS)\b")
"""In capitals, as it is written in SQL."""

_OPPOSED = (
    ("pass succeed success successful work", "fail failure unsuccessful break broken"),
    ("enable activate on", "disable deactivate off"),
    ("allow accept permit grant approve", "deny reject forbid refuse block revoke"),
    ("always", "never sometimes"),
    ("add create insert install include", "remove delete drop uninstall exclude"),
    ("before prior", "after"),
    (
        "increase raise more above over greater maximum max upper",
        "decrease lower less below under smaller minimum min",
    ),
    ("start open begin", "stop close end"),
    ("true yes", "false no"),
    ("first earliest oldest", "last latest newest"),
    ("with", "without"),
    ("in into to", "out from"),
    ("up push upload", "down pull download"),
    ("lock", "unlock"),
    ("new", "old"),
    ("public", "private"),
    ("required mandatory must", "optional may"),
    ("sync synchronous", "async asynchronous"),
    ("read", "write"),
    ("left", "right"),
)
_PREFIXES = ("un", "in", "im", "ir", "dis", "non", "de", "mis", "a")
_PLACES, _COMPARED = 50, 1 << 18
"""Places that are looked at of a text that is said already, and characters of it in all, if those
are more.
"""

_CLAUSES = re.compile(r"[.;:!?]\s|[。；：！？]")
_CLAUSE = 200  # characters before a match in which a negation is looked for
_ROOT_WORDS = 4  # a shorter word with a prefix is rarely the opposite of itself ("end", "mend")


@lru_cache(1 << 16)
def _stem(word: str) -> str:
    """Cut the commonest English endings, so that "passes" and "passed" are one word."""
    stem = word = english(word)
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and not word.endswith("ss") and len(word) - len(ending) >= 3:
            stem = word[: -len(ending)]
            break
    if stem.endswith("y"):
        return stem[:-1] + "i"
    return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] and stem.isalpha() else stem


_OPPOSED_STEMS = tuple(
    (frozenset(map(_stem, left.split())), frozenset(map(_stem, right.split())))
    for left, right in _OPPOSED
)


def _stems(text: str) -> dict[str, str]:
    """Return the stems of the words of a text, each with a word that it is of."""
    return {_stem(word): word for word in said_words(text)}


def _negated(text: str) -> list[tuple[str, str]]:
    """Return what each negation word negates, as stems and as written."""
    return [(" ".join(map(_stem, beside)), " ".join(beside)) for beside in negated(text, 2)]


def negated(text: str, most: int, passed: Collection[str] = ()) -> list[list[str]]:
    """Return up to so many words with a meaning beside each negation, last first: those that it
    negates.

    They stand behind it, or before it in Japanese and Korean. What is `passed` over counts for
    none.
    """
    tokens = said_words(without_sql(text))
    said = [
        at
        for at, token in enumerate(tokens)
        if token not in _FILLERS and token not in passed and not is_negation(token)
    ]
    found = []
    for at, token in reversed(list(enumerate(tokens))):
        if is_negation(token):
            place = bisect(said, at)
            before = negates_before(token)
            beside = said[max(0, place - most) : place] if before else said[place : place + most]
            found.append([tokens[other] for other in beside])
    return found


def _says(entry: str, needle: str) -> bool:
    """Tell whether `entry` holds `needle` as whole words, not negated by its own clause.

    Of a long needle few places are looked at: where there are more, it is one thing over and over.
    """
    start, left = entry.find(needle), max(_PLACES, _COMPARED // len(needle))
    while start >= 0 and left:
        left -= 1
        end = start + len(needle)
        whole = not _joined(entry[start - 1 : start], needle[0]) and not _joined(
            needle[-1], entry[end : end + 1]
        )
        clause = _CLAUSES.split(entry[max(0, start - _CLAUSE) : start])[-1]
        behind = "" if entry.isascii() else _CLAUSES.split(entry[end : end + _CLAUSE])[0]
        if whole and not any(map(is_negation, said_words(f"{clause} {behind}"))):
            return True
        start = entry.find(needle, start + 1)
    return False


def _joined(left: str, right: str) -> bool:
    """Tell whether two neighbouring characters belong to one word."""
    if re.match(_NO_CODE, left) or re.match(_NO_CODE, right):
        return False
    return (left.isalnum() or left == "_") and (right.isalnum() or right == "_")


def _is_identifier(token: str) -> bool:
    if len(token) < 2:
        return False
    shouted = token.isupper() and sum(c.isalpha() for c in token) > 1
    marked = token[0] in "-$@#/.~" and any(c.isalnum() for c in token)
    return shouted or marked or bool(_INNER.search(token))


class _Said(NamedTuple):
    """What one text says, as far as pairs are compared by it.

    What is `negated` stands there as stems and as written; `plain_identifiers` could be words in
    capitals.
    """

    words: frozenset[str]
    stems: Mapping[str, str]
    negated: tuple[tuple[str, str], ...]
    negations: tuple[str, ...]
    numbers: tuple[str, ...]
    identifiers: tuple[str, ...]
    plain_identifiers: frozenset[str]
    symbols: tuple[str, ...]
    content: tuple[str, ...]


@lru_cache(maxsize=256)
def _said(text: str) -> _Said:
    """Read a text; a text stands in many pairs, so the last ones are kept."""
    named = identifiers(text)
    return _Said(
        frozenset(said_words(text)),
        _stems(text),
        tuple(_negated(text)),
        negations(text),
        numbers(text),
        named,
        frozenset(filter(str.isalpha, named)),
        symbols(text),
        content_words(text),
    )


def _strict_identifiers(said: _Said, other: _Said) -> tuple[str, ...]:
    """Return a text's identifiers, without plain words that the other only writes otherwise (NEVER,
    never).
    """
    plain = {
        n for n in said.plain_identifiers.difference(other.identifiers) if n.lower() in other.words
    }
    return tuple(n for n in said.identifiers if n not in plain) if plain else said.identifiers


class _Check(NamedTuple):
    """Whether the texts agree in one respect, the sentence that says so (empty: nothing to
    compare), and what a difference lets them say; other words alone are no conflict.
    """

    same: bool
    text: str
    conflict: Conflict | None = None


def _kinds(checks: Iterable[_Check]) -> tuple[str, ...]:
    return tuple(check.conflict for check in checks if check.conflict and not check.same)


def _checks(new: _Said, old: _Said) -> Iterator[_Check]:
    yield _compare_negations(new, old)
    # What two texts must share exactly and in order.
    mine, theirs = _strict_identifiers(new, old), _strict_identifiers(old, new)
    yield _compare("numbers", new.numbers, old.numbers, Conflict.NUMBERS)
    yield _compare("identifiers", mine, theirs, Conflict.IDENTIFIERS)
    yield _compare("symbols", new.symbols, old.symbols, Conflict.SYMBOLS)
    yield _compare_words(new.content, old.content)


def _compare_negations(new: _Said, old: _Said) -> _Check:
    if opposed := _opposites(new.stems, old.stems):
        text = f"one says “{opposed[0][0]}”, the other “{opposed[0][1]}”"
        return _Check(False, text, Conflict.OPPOSITES)
    if new.negations != old.negations:
        spelled = dict((*old.negated, *new.negated))
        beyond = (*_beyond(new.negations, old.negations), *_beyond(old.negations, new.negations))
        told = [f"not “{spelled[n]}”" if n else "a bare “not”" for n in beyond]
        return _Check(False, f"negations differ: {_told(told)}", Conflict.NEGATION)
    return _Check(True, "both negate the same" if new.negations else "")


def _compare(what: str, new: Sequence[str], old: Sequence[str], conflict: Conflict) -> _Check:
    if new == old:
        return _Check(True, f"the {what} agree" if new else "")
    if _reordered(new, old):
        return _Check(False, f"the order of {what} differs", conflict)
    differ = f"{_told(_beyond(new, old))} against {_told(_beyond(old, new))}"
    return _Check(False, f"the {what} differ: {differ}", conflict)


def _compare_words(new: Sequence[str], old: Sequence[str]) -> _Check:
    if new == old:
        return _Check(True, "the same words in the same order")
    if _reordered(new, old):
        return _Check(False, "the same words in a different order", Conflict.ORDER)
    count = len(_beyond(new, old)) + len(_beyond(old, new))
    return _Check(False, "one word differs" if count == 1 else f"{count} words differ")


def _reordered(new: Sequence[str], old: Sequence[str]) -> bool:
    """Tell whether two sequences hold the same, each as often."""
    return len(new) == len(old) and Counter(new) == Counter(old)


def _compare_order(similarity: float, limit: float) -> _Check:
    same = similarity >= limit
    return _Check(
        same,
        f"ordered text similarity {_down(similarity, 1)} {'reaches' if same else 'is below'} {limit:g}",
    )


def _down(number: float, digits: int) -> str:
    """Write a number rounded down, so that what is below a limit also reads so."""
    shown = math.floor(number * 10**digits) / 10**digits if math.isfinite(number) else number
    return f"{shown:.{digits}f}"


def _beyond(some: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return what `some` holds more often than `others`, in order."""
    return list((Counter(some) - Counter(others)).elements())


def _told(items: Sequence[str]) -> str:
    """Name at most three items."""
    return ", ".join(items[:3]) + (", …" if len(items) > 3 else "") if items else "none"


# Content words that only one of two texts holds: what lets two much alike sentences be about
# different things.
#
# "Highest degree your mom completed" and "… your dad completed" share all but one word each, and no
# similarity tells them apart. Function words, the forms of one word (use, using), British and
# American spelling, and words written as one or as two (lock file, lockfile) make no difference
# here. A form that is missed keeps two texts apart, no more.


Differing = tuple[tuple[str, ...], tuple[str, ...]]
"""The content words that only the first, and that only the second text holds, in order."""

SHARED = 0.8
"""Which share of the longer text's content words the shorter one must hold to say the same."""

NAMED = 2
"""Words of each text that are named at most."""


def differing(one: str, other: str) -> Differing:
    """Return the content words of each text that stand in no form in the other; numbers and names
    of code are out.
    """
    left, right = _content(one), _content(other)
    mine = [word for word in left if word not in right]
    theirs = [word for word in right if word not in left]
    mine, theirs = _unjoined(mine, theirs, right), _unjoined(theirs, mine, left)
    return (
        tuple(word for word in mine if not any(same_word(word, each) for each in theirs)),
        tuple(word for word in theirs if not any(same_word(word, each) for each in mine)),
    )


def word_conflicts(one: str, other: str) -> tuple[str, ...]:
    """Name, in short words, what content words let two much alike texts say different things.

    Each has one of its own; or one says much more than the other; or what both say stands in
    another order.
    """
    mine, theirs = differing(one, other)
    if mine and theirs:
        return (f"words differ: {_named(mine)} / {_named(theirs)}",)
    left, right = _content(one), _content(other)
    more, held = mine or theirs, max(len(left), len(right))
    if more and (held - len(more)) / held < SHARED:
        return (f"only one says: {_named(more)}",)
    in_order = [word for word in left if word in right] == [word for word in right if word in left]
    return () if in_order else (Conflict.ORDER,)


def same_word(one: str, other: str) -> bool:
    """Tell whether two words are forms or spellings of one: "use" and "using", "colour" and
    "color".
    """
    a, b = (_BASE.get(word, word) for word in (_spelled(english(one)), _spelled(english(other))))
    if a == b:
        return True
    shared = begun_alike(a, b)
    # "planned" and "plan": the doubled letter belongs to the ending.
    return any(
        {a[cut:], b[cut:]} <= tails
        for cut in range(max(_ROOT, shared - 1), shared + 1)
        for tails in _endings(a, cut)
    )


_ROOT = 2  # characters that the forms of one word share at least

_TAILS = (
    frozenset(("", "s", "es", "ed", "ing")),
    frozenset(("e", "es", "ed", "ing")),
    frozenset(("y", "ies", "ied", "ying")),
)
"""What the forms of a word end in; a noun and a verb form of one stem ("care", "car") share no row."""

_BASE = {
    form: base
    for base, forms in (
        ("make", "made"), ("run", "ran"), ("write", "wrote written"), ("build", "built"), ("break", "broke broken"),
        ("tell", "told"), ("say", "said"), ("go", "went gone goes"), ("get", "got gotten"), ("see", "saw seen"),
        ("take", "took taken"), ("give", "gave given"), ("know", "knew known"), ("find", "found"),
        ("think", "thought"), ("keep", "kept"), ("send", "sent"), ("leave", "left"), ("choose", "chose chosen"),
        ("begin", "began begun"), ("buy", "bought"), ("sleep", "slept"), ("meet", "met"), ("mean", "meant"),
        ("feel", "felt"), ("hold", "held"), ("come", "came"), ("speak", "spoke spoken"), ("teach", "taught"),
    )
    for form in forms.split()
}  # fmt: skip

_FUNCTION = frozenset(
    words(
        "a an the is are was were am be been being it its this that these those there here of for in at by as on to "
        "with from into onto about over and or but so if then than when while because also just really very quite "
        "too only even still again do does did doing have has had having will would can could shall should may might "
        "must please i i'm i've i'd i'll me my mine we we're we've our us you you're you've your it's that's there's "
        "what's who's let's"
    )
)

_SPELLINGS = (
    ("isation", "ization"),
    ("ise", "ize"),
    ("ising", "izing"),
    ("yse", "yze"),
    ("our", "or"),
    ("ogue", "og"),
)


@lru_cache(maxsize=256)
def _content(text: str) -> Mapping[str, None]:
    """Return the content words of a text once each, in order; a text stands in many pairs, so the
    last are kept.
    """
    named = {word for name in set(identifiers(text)) if not name.isalpha() for word in words(name)}
    found = (word.removesuffix("'s") for word in said_words(text))
    return dict.fromkeys(
        word
        for word in found
        if english(word) not in _FUNCTION
        and word not in named
        and not word[0].isdigit()
        and not is_negation(word)
    )


def _unjoined(mine: list[str], theirs: list[str], other: Iterable[str]) -> list[str]:
    """Leave out words that the other text writes as one with a neighbour, or as two."""
    whole, parts = set(theirs), list(other)
    pairs = {first + second for first, second in pairwise(parts)}
    split = {word for two in pairwise(mine) if "".join(two) in whole for word in two}
    return [word for word in mine if word not in pairs and word not in split]


def _spelled(word: str) -> str:
    for ending in ("", "s", "d", "ed", "ing"):
        stem = word.removesuffix(ending) if ending else word
        for british, american in _SPELLINGS:
            if word.endswith(ending) and stem.endswith(british) and len(stem) > len(british) + 2:
                return stem.removesuffix(british) + american + ending
    return word


def _endings(word: str, cut: int) -> tuple[frozenset[str], ...]:
    """Return the rows of endings after so many characters; a doubled consonant may stand before
    "ed" and "ing".
    """
    last = word[cut - 1]
    return (*_TAILS, frozenset(("", "s", f"{last}ed", f"{last}ing")))


def _named(some: tuple[str, ...]) -> str:
    return ", ".join(some[:NAMED]) + (", …" if len(some) > NAMED else "")
