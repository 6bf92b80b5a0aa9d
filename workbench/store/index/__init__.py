"""The read index: a cache from which single documents are read without reading all of the store."""
