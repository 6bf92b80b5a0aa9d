"""A typed query as the terms that full text looks for."""

import re
from dataclasses import dataclass

from workbench.retrieval.fulltext.vocabulary import Vocabulary

_PHRASE = re.compile(r'["“”]([^"“”]+)["“”]')


@dataclass(frozen=True, slots=True)
class LexicalQuery:
    """Distinct single terms and distinct phrases (two words or more), in the order of the query."""

    terms: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...]


def parse(query: str, vocabulary: Vocabulary) -> LexicalQuery:
    """Read a query: words without stop words, compounds, and `"exact phrases"` with their stop words."""
    terms: list[int] = []
    phrases: list[tuple[int, ...]] = []
    for quoted in _PHRASE.findall(query):
        words = vocabulary.encode([quoted]).words.tolist()
        if len(words) > 1:
            phrases.append(tuple(words))
        else:
            terms += words
    rest = vocabulary.encode([_PHRASE.sub(" ", query)])
    terms += [term for term in rest.words.tolist() if term not in vocabulary.stop]
    terms += rest.wholes.tolist()
    return LexicalQuery(
        tuple(vocabulary.names(dict.fromkeys(terms))),
        tuple(tuple(vocabulary.names(phrase)) for phrase in dict.fromkeys(phrases)),
    )
