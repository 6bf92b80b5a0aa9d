"""Small embedding models made on the spot: every piece of a word has a direction of its own."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from workbench.core.words import script_of
from workbench.retrieval.embedding.embedder import CONFIG, TOKENIZER, WEIGHTS

DIM = 48


def small_model(
    folder: Path, texts: Collection[str], *, quantized: bool = False, **config: object
) -> Path:
    """Make a model2vec folder whose pieces are the words and letters of texts; `quantized` has
    fewer vectors.
    """
    letters = {letter for text in texts for letter in text} | {"▁"}
    words = {f"▁{word}" for text in texts for word in text.split() if script_of(word) != "cjk"}
    pieces = [
        ("<unk>", -99.0),
        *((piece, -9.0) for piece in sorted(letters)),
        *((word, -1.0) for word in sorted(words)),
    ]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    size, random = tokenizer.get_vocab_size(), np.random.default_rng(1)
    tensors: dict[str, NDArray[Any]] = {
        "embeddings": random.standard_normal((size, DIM)).astype(np.float32)
    }
    if quantized:
        tensors = {
            "embeddings": tensors["embeddings"][: size // 2],
            "mapping": np.arange(size, dtype=np.int64) % (size // 2),
        }
    folder.mkdir(parents=True)
    save_file(tensors, folder / WEIGHTS)
    tokenizer.save(str(folder / TOKENIZER))
    (folder / CONFIG).write_text(json.dumps({"model_type": "model2vec", **config}))
    return folder
