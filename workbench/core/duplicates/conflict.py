"""What lets two texts or records say different things, as the kinds that decisions are made by."""

from enum import StrEnum


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
