"""Which rules a sentence is judged by: those of its language, told by its function words."""

from collections.abc import Mapping

from workbench.reflect.extractive.english import ENGLISH
from workbench.reflect.extractive.german import GERMAN
from workbench.reflect.extractive.rules import Rules
from workbench.reflect.extractive.spanish import SPANISH

_RULES: Mapping[str, Rules] = {"English": ENGLISH, "German": GERMAN, "Spanish": SPANISH}


def rules_for(language: str) -> Rules | None:
    """Return the rules of a language (`everyday.language_of`), or `None` where there are none."""
    return _RULES.get(language)
