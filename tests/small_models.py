"""Small embedding models made on the spot: every piece of a word has a direction of its own."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from workbench.retrieval.embedding.embedder import CONFIG, TOKENIZER, WEIGHTS

DIM = 48


def small_model(folder: Path, texts: Iterable[str], *, quantized: bool = False, **config: object) -> Path:
    """Make a model2vec folder whose pieces are learned from texts of any language; `quantized` has fewer vectors."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=2_000, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    size, random = tokenizer.get_vocab_size(), np.random.default_rng(1)
    tensors: dict[str, NDArray[Any]] = {"embeddings": random.standard_normal((size, DIM)).astype(np.float32)}
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
