"""The bundled model: its files, its vectors, and that nothing reaches a network."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.small_models import DIM, small_model
from workbench.core.limits import BUNDLED
from workbench.core.record import UnreadableFile
from workbench.retrieval.embedding.embedder import (
    BUNDLED_FOLDER,
    CONFIG,
    TOKENIZER,
    WEIGHTS,
    Embedder,
)

SHA256 = {
    WEIGHTS: "5ac8cbe464bea67f8f5b62978b8a2b3ddb41e6eb78efdea03c532e0f7fd45dab",
    TOKENIZER: "04ab7ab5e18edcd528323c7dafc8be07247560b6ca3d44302924a77597ca9a75",
}


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return Embedder()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(BUNDLED_FOLDER, tmp_path / "model"))


@pytest.mark.parametrize("name", SHA256)
def test_the_model_files_are_those_that_were_measured(name: str) -> None:
    assert hashlib.sha256((BUNDLED_FOLDER / name).read_bytes()).hexdigest() == SHA256[name]
    assert SHA256[name] in (BUNDLED_FOLDER / "README.md").read_text()


def test_vectors_are_float32_of_unit_length(embedder: Embedder) -> None:
    vectors = embedder.embed(["Tests run with pytest.", "Deploy on Friday, never."])
    assert (vectors.dtype.name, vectors.shape, embedder.dim) == ("float32", (2, 256), 256)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1], abs=1e-5)


def test_a_text_without_words_is_a_zero_vector(embedder: Embedder) -> None:
    assert not embedder.embed(["", "   "]).any()
    assert embedder.embed([]).shape == (0, 256)


def test_a_vector_does_not_depend_on_its_batch(embedder: Embedder) -> None:
    texts = [f"memory {n} " + "about tests " * (n % 7) for n in range(300)]
    together = embedder.embed(texts)
    for n in (0, 1, 150, 299):
        np.testing.assert_array_equal(embedder.embed([texts[n]])[0], together[n])


def test_lone_surrogates_and_long_texts_are_embedded(embedder: Embedder) -> None:
    vectors = embedder.embed(["a broken \ud800 letter", "word " * 10_000])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1], abs=1e-5)


def test_meaning_is_found_and_opposites_are_not_told_apart(embedder: Embedder) -> None:
    """What the model card promises, the limit included: word order and negation do not count."""
    query, match, other = embedder.embed(
        ["log in fails", "authentication error", "the cat sleeps on the sofa"]
    )
    assert query @ match > query @ other + 0.2
    for one, reverse in (
        ("Prefer composition over inheritance", "Prefer inheritance over composition"),
        ("always pnpm, never npm", "always npm, never pnpm"),
    ):
        a, b = embedder.embed([one, reverse])
        assert a @ b == pytest.approx(1, abs=1e-5)


@pytest.mark.slow
def test_the_fingerprint_follows_the_content(embedder: Embedder, copy: Path) -> None:
    same = Embedder(copy)
    assert same.fingerprint == embedder.fingerprint
    assert same.thresholds(np.zeros((0, 256), np.float32)) == BUNDLED
    (copy / CONFIG).write_text((copy / CONFIG).read_text() + "\n")
    other = Embedder(copy)
    assert other.fingerprint != embedder.fingerprint
    assert not other.is_bundled
    strict = other.thresholds(other.embed([f"the deploy of service {n} failed" for n in range(60)]))
    assert strict.flag > BUNDLED.flag


@pytest.mark.slow
@pytest.mark.parametrize("name", [WEIGHTS, TOKENIZER, CONFIG])
@pytest.mark.parametrize("content", [None, b"", b"{}", b"not a model", b"[1]"])
def test_a_missing_or_broken_file_is_an_error_that_says_so(
    copy: Path, name: str, content: bytes | None
) -> None:
    if content is None:
        (copy / name).unlink()
    else:
        (copy / name).write_bytes(content)
    if (name, content) == (CONFIG, b"{}"):
        Embedder(copy)
        return
    with pytest.raises(UnreadableFile) as caught:
        Embedder(copy)
    assert str(copy) in caught.value.message
    assert "bundled" in caught.value.hint


def test_a_vocabulary_of_another_size_is_an_error(copy: Path) -> None:
    from safetensors.numpy import save_file

    save_file({"embeddings": np.zeros((10, 4), np.float32)}, copy / WEIGHTS)
    with pytest.raises(UnreadableFile, match="tokens"):
        Embedder(copy)


TEXTS = (
    "Деплой по пятницам запрещён",
    "部署只在星期一进行",
    "배포는 월요일에만 한다",
    "Deploys run on Monday",
    "recipe of cuisine",
)


@pytest.mark.parametrize("quantized", [False, True])
def test_a_multilingual_model_of_other_tokens_is_used(
    tmp_path: Path, quantized: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    model = Embedder(small_model(tmp_path / "m", TEXTS, quantized=quantized, normalize=False))
    assert (model.dim, model.is_bundled) == (DIM, False)
    vectors = model.embed([*TEXTS, "部署只在星期二进行"])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(vectors)), abs=1e-5)
    assert int((vectors[:-1] @ vectors[-1]).argmax()) == 1
    assert model.thesaurus(tmp_path / "words") is model.thesaurus()
    assert capfd.readouterr() == ("", "")


def test_tokens_without_a_vector_are_an_error(tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    weights = small_model(tmp_path / "m", TEXTS, quantized=True) / WEIGHTS
    tensors = load_file(weights)
    save_file(tensors | {"mapping": tensors["mapping"] + 1}, weights)
    with pytest.raises(UnreadableFile, match="mapped"):
        Embedder(tmp_path / "m")


OFFLINE = """
import socket, sys

def refuse(*args, **kwargs):
    raise AssertionError("the network was asked")

socket.socket.connect = socket.getaddrinfo = refuse
import workbench.retrieval.embedding.embedder as module
assert not {"model2vec", "tokenizers", "safetensors"} & set(sys.modules), "importing the module must stay cheap"
assert module.Embedder().embed(["a query"]).any()
print(sorted(name for name in sys.modules if name.split(".")[0] in ("huggingface_hub", "requests", "httpx", "torch")))
"""


@pytest.mark.slow
def test_loading_and_embedding_touch_no_hub_and_no_network() -> None:
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE], capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr
