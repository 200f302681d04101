"""Contrastive decoding: what the model would say without evidence counts against a token."""

import pytest

from hyperhop.llm import CallableModel, LLMReader, TransformersModel, open_chat
from hyperhop.llm.template import FILE, ReaderTemplate
from tiny_reader import CAPITALS, save_tiny

pytestmark = pytest.mark.needs("transformers")

PROMPT = "Context: [Peru -capital-> Lima] Question: What is the capital of Peru?\n"
ALONE = "Question: What is the capital of Peru?\n"
TOKENS = 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = save_tiny(tmp_path_factory.mktemp("contrast") / "tiny", seed=3)
    ReaderTemplate().save(made / FILE)
    return made


def tokens_of(model, without):
    tokenizer = model._tokenizer
    prompt = tokenizer(PROMPT).input_ids
    return model._decode(prompt, None if without is None else tokenizer(without).input_ids, TOKENS)


def by_hand(folder, contrast, plausibility):
    """Greedy by the formula, whole sequences at every step, in float64."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder).double()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    prompt, alone = tokenizer(PROMPT).input_ids, tokenizer(ALONE).input_ids
    new = []
    for _ in range(TOKENS):
        with torch.no_grad():
            with_, without = (
                model(torch.tensor([ids + new])).logits[0, -1].log_softmax(-1)
                for ids in (prompt, alone)
            )
        scores = (1 + contrast) * with_ - contrast * without
        scores[with_ < with_.max() + torch.tensor(plausibility).log()] = -torch.inf
        new.append(int(scores.argmax()))
        if new[-1] == tokenizer.eos_token_id:
            break
    return new


@pytest.mark.parametrize(
    ("contrast", "plausibility"), [(0.5, 0.1), (2.0, 0.0), (2.0, 0.9), (8.0, 0.1), (8.0, 0.9)]
)
def test_tokens_are_those_of_the_formula(folder, contrast, plausibility):
    model = TransformersModel(folder, contrast=contrast, plausibility=plausibility, device="cpu")
    assert tokens_of(model, ALONE) == by_hand(folder, contrast, plausibility)


def test_contrast_changes_what_is_said(folder):
    said = {c: tuple(by_hand(folder, c, 0.1)) for c in (0.0, 8.0)}
    assert len(set(said.values())) == 2


def test_no_contrast_is_plain_decoding(folder):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    ids = torch.tensor([tokenizer(PROMPT).input_ids])
    plain = AutoModelForCausalLM.from_pretrained(folder).generate(
        ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=TOKENS,
        pad_token_id=1,
    )  # fmt: skip
    wanted = plain[0, ids.shape[1] :].tolist()
    assert tokens_of(TransformersModel(folder, device="cpu"), ALONE) == wanted
    assert tokens_of(TransformersModel(folder, device="cpu", contrast=0.0), None) == wanted
    # without a counterpart there is nothing to contrast with
    assert tokens_of(TransformersModel(folder, device="cpu", contrast=9.0), None) == wanted


def test_only_the_likeliest_is_plausible_at_1(folder):
    plain = TransformersModel(folder, device="cpu")
    strict = TransformersModel(folder, device="cpu", contrast=5.0, plausibility=1.0)
    assert tokens_of(strict, ALONE) == tokens_of(plain, None)


def test_the_reader_gives_the_question_alone(folder):
    asked = []

    class Watched(TransformersModel):
        def complete(self, prompt, *, without=None, max_tokens=None):
            asked.append((prompt, without))
            return super().complete(prompt, without=without, max_tokens=max_tokens)

    for contrast in (0.0, 1.5):
        reader = LLMReader(Watched(folder, contrast=contrast, max_tokens=8), fallback=True)
        assert reader.read("Which?", CAPITALS).llm_attempts == 1
    prompt = ReaderTemplate().ask(
        "Which?", ["Peru -capital-> Lima", "Peru -border-> Chile -capital-> Santiago"]
    )
    assert asked == [(prompt, None), (prompt, "Question: Which?\n")]


@pytest.mark.needs("llm")
def test_a_chat_model_is_contrasted_with_the_prompt_without_evidence(tmp_path):
    asked = []

    class Watched(TransformersModel):
        def chat(self, messages, *, without=None, **options):
            asked.append((messages, without))
            return super().chat(messages, without=without, **options)

    model = Watched(save_tiny(tmp_path / "c", chat=True, window=4096), contrast=1.0, max_tokens=3)
    LLMReader(model, fallback=True).read("Which?", CAPITALS)
    ((messages, without),) = asked
    assert messages[0] == without[0]
    assert without[1]["content"] == 'Question: "Which?"\n\nEvidence:'


def test_out_of_range_and_out_of_place(folder):
    for options, fault in (
        ({"contrast": -0.1}, "contrast must be 0 or more, got -0.1"),
        ({"contrast": float("nan")}, "contrast must be 0 or more, got nan"),
        ({"plausibility": 1.5}, "plausibility must be from 0 to 1, got 1.5"),
    ):
        with pytest.raises(ValueError, match=fault):
            TransformersModel(folder, **options)
    for place in ("http://127.0.0.1:9/v1", "model.gguf"):
        with pytest.raises(ValueError, match="contrast needs a folder of transformers"):
            open_chat(place, contrast=1.0)
    assert open_chat(str(folder), contrast=1.0).contrast == 1.0
    assert not hasattr(CallableModel(str), "contrast")
