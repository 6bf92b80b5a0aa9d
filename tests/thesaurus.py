"""Makes the file of related words that is shipped with the bundled model: `python -m tests.thesaurus`."""

import numpy as np

from workbench.retrieval.embedding.embedder import BUNDLED_FOLDER, THESAURUS, Embedder
from workbench.retrieval.fulltext.thesaurus import built


def main() -> None:
    """Write the file, and say what is in it."""
    model = Embedder()._model
    found = built(model.tokenizer.get_vocab(), np.asarray(model.embedding, np.float32))
    (BUNDLED_FOLDER / THESAURUS).write_bytes(found.to_bytes())
    print(f"{len(found.names):,} stems, {len(found):,} pairs")


if __name__ == "__main__":
    main()
