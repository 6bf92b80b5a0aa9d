"""Full text: absolute BM25, prefixes, parts of words, and words with a typo."""
