"""Which script a text is written in."""

import re
from typing import Literal

Script = Literal["latin", "cyrillic", "greek", "arabic", "hebrew", "indic", "thai", "hangul", "cjk", "none"]
"""`cjk` is ideographs and kana, `thai` all of south-east Asia that writes without spaces; `none` has no letters."""

CJK = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af"
)
THAI = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\uaa60-\uaa7f"
HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff\uffa1-\uffdc"
"""Characters of these scripts, for a class of a regular expression."""

_LETTERS: dict[Script, re.Pattern[str]] = {
    "cjk": re.compile(f"[{CJK}]"),
    "hangul": re.compile(f"[{HANGUL}]"),
    "thai": re.compile(f"[{THAI}]"),
    "cyrillic": re.compile("[\u0400-\u052f\u1c80-\u1c8f\u2de0-\u2dff\ua640-\ua69f]"),
    "greek": re.compile("[\u0370-\u03ff\u1f00-\u1fff]"),
    "arabic": re.compile("[\u0600-\u077f\u0870-\u08ff\ufb50-\ufdff\ufe70-\ufeff]"),
    "hebrew": re.compile("[\u0590-\u05ff\ufb1d-\ufb4f]"),
    "indic": re.compile("[\u0900-\u0dff]"),
    "latin": re.compile("[A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u1e00-\u1eff\uff21-\uff5a]"),
}
_LATIN_WORTH = 0.34
"""What a Latin letter counts beside one of another script, in whose texts names and code are Latin."""


def script_of(text: str) -> Script:
    """Return the script of most of a text's letters; a Latin letter counts a third, as names and code are Latin."""
    if text.isascii():
        return "latin" if _LETTERS["latin"].search(text) else "none"
    counts = {script: float(len(letters.findall(text))) for script, letters in _LETTERS.items()}
    counts["latin"] *= _LATIN_WORTH
    best: Script = max(counts, key=lambda script: counts[script])
    return best if counts[best] else "none"
