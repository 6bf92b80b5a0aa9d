"""Everyday words that carry no subject: those of any sentence, and the openings of small talk.

English is known best. Of five more languages the function words are known, so that articles and prepositions make no
two sentences alike; of any other language the words that stand in too many sentences are left out.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from workbench.core.duplicates.dedup import conflicts, contained_in_recent, content_words, negations, opposites
from workbench.core.words import words

_WORDS = """
about above after again all am any because before below between both but can could did each few from further
had has have he her here him his how if into just let like lot made make many may me might mine more most
much must my now off on once one only or other out over own per same shall she should since so some still
such than them then thing things through time to too under until up upon us use very want was way well what
when where which while who whom whose why with yes yet your always never got get go going gone come really
good great nice able even ever every first last new next today yesterday tomorrow sure know think back day
monday tuesday wednesday thursday friday saturday sunday january february march april june july august
september october november december utc week weeks month months year years hour hours minutes ago
"""

EMPTY: frozenset[str] = frozenset(stem for word in words(_WORDS) for stem in content_words(word))
"""Stems that say nothing about what a sentence is about."""

ENGLISH = "English"

_FUNCTION_WORDS: Mapping[str, str] = {
    "German": """aber alle als also am an auch auf aus bei bin bis bist da dann das dass dem den denn der des die dies
        diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines er es etwas euch für
        gegen habe haben hat hatte hatten hier ich ihm ihn ihr ihre im immer in ins ist ja jede jeden jeder kann kein
        keine können man mehr mein mit muss müssen nach nicht noch nun nur ob oder ohne schon sehr sein seine sich sie
        sind so soll sonst über um und uns unser unter vom von vor war waren was weil wenn wer werden wie wieder wir
        wird wo wurde wurden zu zum zur zwischen jetzt heute gestern morgen bitte nie niemals stets statt
        darf dürfen""",
    "French": """alors au aussi aux avec avant après ce cela ces cet cette chez comme dans de depuis des donc dont du
        elle elles en encore est et était été être eux fait faire il ils je la le les leur leurs lors lui mais même mes
        moi mon ne nos notre nous on ont ou où par parce pas peut plus pour pourquoi quand que quel quelle qui sa sans
        se ses si son sont sous sur ta tes toi ton toujours tous tout toute très tu un une vers vos votre vous""",
    "Spanish": """al algo antes aquí así aunque cada como con contra cual cuando de del desde después donde dos el ella
        ellos en entre era es esa ese eso esta está estaba este esto fue ha hace han hasta hay la las le les lo los más
        me mi mientras muy nada ni no nos nuestro o otra otro para pero por porque puede que quien se sea ser si siempre
        sin sobre son su sus también tan tiene todo todos un una uno y ya""",
    "Italian": """ai al alla alle anche ancora che chi ci col come con contro cui da dal dalla degli dei del della delle
        di dopo dove e ed era essere fa fino fra gli ha hanno ho i il in io la le lei li lo loro ma mai mi mio molto ne
        nei nel nella no noi non nostro o ogni per perché più poi prima quando quello questa questo se sempre senza si
        sono su sua sul sulla suo tra tutti tutto un una uno voi""",
    "Portuguese": """ao aos antes até cada com como da das de dela dele depois do dos e é ela ele em entre era essa esse
        esta está este eu foi há isso isto já lhe mais mas me mesmo meu muito na nas não nem no nos nós o os ou para
        pela pelo por porque quando que quem se sem sempre ser seu sua são também tem todo todos um uma você""",
}


def language_of(text: str) -> str:
    """Return the language most of whose function words a text holds, by its English name; English where none does."""
    said = words(text)
    known = _function_words()
    best = max(known, key=lambda name: sum(word in known[name] for word in said))
    holds = sum(word in known[best] for word in said)
    return best if holds > sum(word in _english() for word in said) else ENGLISH


@cache
def empty_for(language: str) -> frozenset[str]:
    """Return the stems that say nothing in a language."""
    known = _function_words().get(language, frozenset())
    return EMPTY | frozenset(stem for word in known for stem in content_words(word)) if known else EMPTY


@cache
def _function_words() -> Mapping[str, frozenset[str]]:
    return {name: frozenset(some.split()) for name, some in _FUNCTION_WORDS.items()}


@cache
def _english() -> frozenset[str]:
    common = "a an the is are was were be been it its this that of for in at by as and we i you our to on with not"
    return frozenset((*words(_WORDS), *common.split()))


PHATIC = re.compile(
    r"\s*(?:hi|hey|hello|howdy|yo|wow|aww+|haha\w*|oh|congrat\w*|thanks|thank you|thx|bye|goodbye|see you|take care|"
    r"(?:good|nice|great|glad|happy|lovely) to (?:see|hear|meet|know|be)|good (?:morning|evening|night|luck)|"
    r"(?:i'm|i am) (?:so |really |very )?(?:glad|happy|sorry|excited) (?:to hear|for you|you)|you're welcome|"
    r"(?:that|it) (?:sounds?|looks?|must)|that(?:'s| is|’s) (?:\w+ ){0,2}(?:great|good|awesome|amazing|cool|nice|"
    r"wonderful|fantastic|interesting|so|a)\b|sounds|sure|yeah|yep|yes|nope?|so far,?|yup|no, |"
    r"no problem|of course|absolutely|definitely|"
    r"no worries|let me know|keep (?:it )?up|appreciate|i (?:really )?appreciate your|what an?|how|"
    r"danke\w*|vielen dank|hallo|guten (?:morgen|tag|abend)|gern geschehen|tschüss|merci|bonjour|bonsoir|salut|"
    r"de rien|gracias|hola|buen[oa]s (?:días|tardes|noches)|de nada|grazie|ciao|buongiorno|obrigad[oa]|olá|bom dia)\b|"
    r"\s*(?:ありがとう|おはよう|こんにちは|こんばんは|お疲れ|すみません|すごい|はい、|いいえ|谢谢|謝謝|你好|早上好|감사합니다|안녕하세요)",
    re.I,
)
"""How greetings, thanks, congratulations and bare answers begin."""


# Scripts that put no space between words: what stands for words there, and how much of a text is how long.
#
# Chinese, Japanese and the scripts of South-East Asia are written without spaces. What carries meaning is taken in
# pieces: a run of katakana is a word, and of Han characters or Thai letters every two neighbours are one. Hiragana
# are
# mostly endings and particles and are left out. No dictionary is needed, and no text is changed.


_HAN = "\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KATAKANA = "\u30a1-\u30fa\u30fc\u31f0-\u31ff"
_HIRAGANA = "\u3041-\u309f"
_SOUTH = "\u0e01-\u0e5b\u0e81-\u0edf\u1000-\u109f\u1780-\u17ff"
"""Thai, Lao, Burmese, Khmer."""

UNSPACED = f"{_HAN}{_KATAKANA}{_HIRAGANA}{_SOUTH}"
"""All of them, for a class of characters in a regular expression."""

_RUN = re.compile(f"([{_KATAKANA}]{{2,}})|([{_HAN}]+)|([{_SOUTH}]+)")
_ANY = re.compile(f"[{UNSPACED}]")


def terms(text: str) -> tuple[str, ...]:
    """Return the stems of the words of a text, as `content_words`, and the pieces of what has no spaces."""
    if text.isascii() or not _ANY.search(text):
        return content_words(text)
    return (*content_words(_ANY.sub(" ", text)), *_pieces(text))


def length(text: str) -> int:
    """Return how many Latin letters it takes to say about as much: two for a character of these scripts' words."""
    return len(text) if text.isascii() else len(text) + len(_ANY.findall(text))


def is_latin(text: str) -> bool:
    """Tell whether at least half of the letters of a text are Latin."""
    letters = [char for char in text if char.isalpha()] if not text.isascii() else []
    return 2 * sum(char < "\u0250" for char in letters) >= len(letters)


def _pieces(text: str) -> list[str]:
    found: list[str] = []
    for word, *runs in _RUN.findall(text):
        run = next((run for run in runs if run), "")
        found += [word] if word else [run[at : at + 2] for at in range(max(1, len(run) - 1))]
    return found


# Whether a sentence is known: something that a person has confirmed, is asked about, or rejected says it already.


COVERED = 0.8
"""Share of a sentence's words that a known text must hold to say it."""

NEARLY = 0.85
"""Share of the words of either text that the other must hold for both to be nearly equal."""


@dataclass(frozen=True, slots=True)
class _Known:
    text: str
    stems: frozenset[str]
    negations: frozenset[str]


class KnownTexts:
    """Texts that need not be proposed again."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._known = [_read(text) for text in dict.fromkeys(texts)]

    def says(self, sentence: str, covered: float = COVERED) -> bool:
        """Tell whether a known text holds the sentence, or nearly all of its words without turning it round."""
        asked = _read(sentence)
        return any(_holds(known, asked, covered) for known in self._known)

    def same(self, text: str) -> list[str]:
        """Return the known texts that are equal to a text or nearly so, without contradicting it."""
        asked = _read(text)
        near = (known for known in self._known if _holds(known, asked, NEARLY) and _holds(asked, known, NEARLY))
        return [known.text for known in near if not conflicts(known.text, text)]


def _read(text: str) -> _Known:
    return _Known(text, frozenset(terms(text)), frozenset(negations(text)))


def _holds(known: _Known, asked: _Known, covered: float) -> bool:
    if not asked.stems or len(asked.stems & known.stems) < covered * len(asked.stems):
        return False
    if contained_in_recent(asked.text, [known.text]):
        return True
    # What the known text negates elsewhere says nothing about this sentence.
    negated = {stems for stems in known.negations if not stems or stems.split()[0] in asked.stems}
    return asked.negations == negated and not opposites(asked.text, known.text)
