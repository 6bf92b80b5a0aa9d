"""Text to vectors with a model2vec model from local files; nothing is ever downloaded."""

import contextlib
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workbench.core.duplicates.thresholds import BUNDLED, Thresholds
from workbench.core.errors import UnreadableFile
from workbench.core.files.atomic import write_file
from workbench.retrieval.arrays import Vectors
from workbench.retrieval.embedding.reading import EDITION, reading_model
from workbench.retrieval.embedding.thresholds import calibrate
from workbench.retrieval.fulltext import thesaurus
from workbench.retrieval.fulltext.thesaurus import Thesaurus

if TYPE_CHECKING:
    from model2vec import StaticModel

BUNDLED_FOLDER = Path(__file__).parents[1] / "model"
WEIGHTS, TOKENIZER, CONFIG = "model.safetensors", "tokenizer.json", "config.json"
THESAURUS = "thesaurus.npz"


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The content of a model folder; the three files and how a text is read decide every vector."""

    weights: bytes
    tokenizer: bytes
    config: bytes

    @property
    def fingerprint(self) -> str:
        """Name the vectors by what decides them: 32 hexadecimal digits."""
        digest = hashlib.blake2b(EDITION, digest_size=16)
        for part in (self.weights, self.tokenizer, self.config):
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
        return digest.hexdigest()


class Embedder:
    """A static embedding model, loaded when it is constructed; the bundled one once in a process.

    `folder` holds `model.safetensors`, `tokenizer.json` and `config.json`; `None` means the
    bundled model. Raises `UnreadableFile` when the folder is no model. The vectors have unit
    length, so a dot product is a cosine. The model averages word vectors: it ignores word order
    and negation, so a cosine of 1.0 is no proof that two texts say the same.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or BUNDLED_FOLDER
        self._bundled = folder is None
        self._thesaurus: Thesaurus | None = None
        self.fingerprint, self._model = _bundled() if folder is None else _load(folder)
        self.dim, self.tokens = int(self._model.dim), len(self._model.tokens)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32 unit vectors of shape (n, dim); a text that the model does not know gives zeros.

        A text's vector does not depend on the other texts of the call. Only the first
        512 tokens of a text are read (full text covers the rest).
        """
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        clean = [_encodable(text) for text in texts]
        return np.asarray(self._model.encode(clean, use_multiprocessing=False), np.float32)

    @cached_property
    def is_bundled(self) -> bool:
        """Tell whether this is the bundled model, wherever its files lie."""
        return self._bundled or self.fingerprint == _read(BUNDLED_FOLDER).fingerprint

    def thesaurus(self, folder: Path | None = None) -> Thesaurus:
        """Return the words of like meaning: the bundled model's as shipped, another's from `folder` or built into it.

        Building takes some seconds; what cannot be written is built again next time.
        """
        if self._thesaurus is None:
            kept = None if folder is None else folder / f"{self.fingerprint}.npz"
            path = BUNDLED_FOLDER / THESAURUS if self.is_bundled else kept
            found = None if path is None else thesaurus.read(path)
            self._thesaurus = found or self._built_thesaurus(kept)
        return self._thesaurus

    def _built_thesaurus(self, path: Path | None) -> Thesaurus:
        vectors = np.asarray(self._model.embedding, np.float32)
        rows = self._model.token_mapping
        found = thesaurus.built(self._model.tokenizer.get_vocab(), vectors if rows is None else vectors[rows])
        if path is not None and not self.is_bundled:
            with contextlib.suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
                write_file(path, found.to_bytes(), ".thesaurus-", durable=False)
        return found

    def thresholds(self, vectors: Vectors) -> Thresholds:
        """Return where similarity is worth a flag: fixed for the bundled model, else calibrated on `vectors`."""
        return BUNDLED if self.is_bundled else calibrate(vectors)


def _read(folder: Path) -> ModelFiles:
    try:
        return ModelFiles(*((folder / name).read_bytes() for name in (WEIGHTS, TOKENIZER, CONFIG)))
    except OSError as error:
        raise _unreadable(folder, f"{Path(error.filename or folder).name}: {error.strerror}") from error


@cache
def _bundled() -> tuple[str, "StaticModel"]:
    """Load the package's own model, once for all stores that are opened: its files stay as they are installed."""
    return _load(BUNDLED_FOLDER)


def _load(folder: Path) -> tuple[str, "StaticModel"]:
    """Return the fingerprint of a model's folder, and the model."""
    files = _read(folder)
    return files.fingerprint, _build(files, folder)


def _build(files: ModelFiles, folder: Path) -> "StaticModel":
    """Build the model from bytes: `from_pretrained` would import a hub client and download by default."""
    import json

    from safetensors import SafetensorError
    from safetensors.numpy import load
    from tokenizers import Tokenizer

    try:
        config = json.loads(files.config)
        tensors = load(files.weights)
        tokenizer = Tokenizer.from_str(files.tokenizer.decode())
        vectors, mapping = tensors["embeddings"], tensors.get("mapping")
        if mapping is not None and (len(mapping) < tokenizer.get_vocab_size() or mapping.max() >= len(vectors)):
            raise ValueError("its tokens are not all mapped to vectors")
        # A reduced vocabulary comes with a token mapping, a weighted one with token weights.
        return reading_model()(
            vectors=vectors if vectors.dtype == np.int8 else vectors.astype(np.float32),
            tokenizer=tokenizer,
            config=config | {"normalize": True},  # another value would be remarked upon on stderr
            normalize=True,
            weights=tensors.get("weights"),
            token_mapping=mapping,
            max_length=config.get("max_length", 512),
        )
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _unreadable(folder, str(error)) from error
    except BaseException as error:
        # The tokenizers library raises a bare Exception for a file it cannot read.
        if type(error) is Exception:
            raise _unreadable(folder, str(error)) from error
        raise


def _unreadable(folder: Path, reason: str) -> UnreadableFile:
    return UnreadableFile(
        f"The embedding model in {folder} cannot be loaded ({reason}).",
        "No memory is affected; name a folder with model.safetensors, tokenizer.json and config.json, "
        "or use the bundled one: `workbench model use bundled`.",
    )


def _encodable(text: str) -> str:
    """Replace lone surrogates, which the tokenizer refuses."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="replace").decode()
    return text
