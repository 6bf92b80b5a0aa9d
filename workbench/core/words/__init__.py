"""Words and scripts of texts in any language."""
