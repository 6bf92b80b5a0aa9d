"""External memory: raw messages, and the notes written over them."""
