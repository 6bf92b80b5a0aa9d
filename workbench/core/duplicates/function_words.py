"""Function words of many languages, as the rules for duplicates know them: what negates, is opposed, or only fills.

Where words are not parted by spaces these are looked for as they stand, and what is between them is taken in pairs.
"""

import re
from functools import cache
from itertools import groupby
from operator import itemgetter

from workbench.core.words import CJK, THAI, folded, words

_NEGATING_WORDS = (
    # English, then German, French, Spanish, Italian, Portuguese, Dutch, Russian, Swedish: those that are not English.
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

_HARMLESS = "不同 不仅 不僅 不断 不斷 不过 不過 不但 不久 不如 不管 不论 不論 不少 未来 未來 少ない 危ない"
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
    """Return the words of a text in order; of scripts without spaces the function words whole, the rest in pairs."""
    if text.isascii() or not _unspaced().search(text):
        return words(text)
    text = _particles().sub("", text)
    found, at = list[str](), 0
    for phrase in _phrases().finditer(text):
        found += words(text[at : phrase.start()])
        found.append(phrase[0])
        at = phrase.end()
    return found + words(text[at:])


def is_negation(word: str) -> bool:
    """Tell whether a lower-case word negates what stands beside it."""
    return word in NEGATIONS or word.endswith("n't") or (not word.isascii() and word.startswith(_BEGINNINGS))


def negates_before(word: str) -> bool:
    """Tell whether a negation negates what stands before it, as in Japanese and Korean."""
    return not word.isascii() and _behind().match(word) is not None


def english(word: str) -> str:
    """Return the English word that the rules know for one of another language, or the word without Korean endings."""
    return word if word.isascii() else _means().get(word) or _endings().sub("", word)


# Nothing of this is made before a text needs it: a hook begins a hundred times a day, most often for English.


@cache
def _means() -> dict[str, str]:
    own = {word: meaning for meaning, some in _MEANINGS.items() for word in some.split()}
    return own | {folded(word): meaning for word, meaning in own.items()}


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile(f"[{CJK}{THAI}]")


@cache
def _particles() -> re.Pattern[str]:
    """Chinese particles: with and without them a text says the same."""
    return re.compile(f"[的了着呢吧啊嘛呀](?<=[{CJK}].)(?=[{CJK}])")


@cache
def _endings() -> re.Pattern[str]:
    """Particles and endings of Korean words."""
    return re.compile(
        "(?<=[가-힣]{2})(?:하지|합니다|한다|하세요|하십시오|해야|하기|하는|하고|하여|해서|했다|해|에서|으로|까지|부터"
        "|은|는|이|가|을|를|에|로|와|과|도|의|만)$"
    )


@cache
def _behind() -> re.Pattern[str]:
    """A negation behind what it negates."""
    return re.compile("[ぁ-ゖ]*(?:しない|せん|せず|ない|なかった)|" + "|".join(_BEGINNINGS))


@cache
def _phrases() -> re.Pattern[str]:
    """Function words of scripts without spaces, by their first characters: most characters begin none."""
    known = (*_NEGATING_PHRASES.split(), *_HARMLESS.split(), *FILLERS, *_means())
    longest = sorted(filter(_unspaced().match, known), key=lambda word: (word[0], -len(word)))
    rests = {first: "|".join(word[1:] for word in some) for first, some in groupby(longest, itemgetter(0))}
    return re.compile(f"(?=[{''.join(rests)}])(?:{'|'.join(f'{first}(?:{rest})' for first, rest in rests.items())})")
