"""Whether what memories and bullets name still is in the working tree."""
