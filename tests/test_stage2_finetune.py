"""Fine-tuning a tiny Llama: loss falls, on answers alone; adapters; what is cut; resuming."""

import csv
import json
import math
from dataclasses import replace

import pytest

from hyperhop.llm.template import FILE, ReaderTemplate
from hyperhop.llm.tokens import completion_tokens, prompt_tokens
from hyperhop.rsf.stage2 import (
    PRESETS,
    FineTuning,
    ReaderExample,
    finetune,
    read_records,
    write_examples,
)
from hyperhop.rsf.stage2.tokenized import IGNORED, collate, labels_of, tokenize
from tiny_reader import CAPITALS, EXAMPLES, WINDOW, evidence, save_tiny

pytestmark = pytest.mark.needs("finetune")

FEW = FineTuning(epochs=2, batch=1, learning_rate=1e-2, max_tokens=WINDOW, save_steps=99)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return save_tiny(tmp_path_factory.mktemp("base") / "tiny")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "train.jsonl"
    write_examples(path, EXAMPLES)
    return path


@pytest.fixture(scope="module")
def trained(base, data, tmp_path_factory):
    told = []
    output = tmp_path_factory.mktemp("trained") / "reader"
    settings = replace(FEW, epochs=6)
    done = finetune(
        base, [data], output, settings, device="cpu", progress=lambda *told_: told.append(told_)
    )
    return done, output, told


def weights(folder):
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(folder).state_dict()


def tokenizer_of(folder):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder)


def test_presets():
    assert PRESETS["paper"] == FineTuning(
        epochs=3, learning_rate=2e-4, batch=1, max_tokens=2048, lora_rank=0, warmup=0.0
    )
    assert PRESETS["small"].lora_rank > 0


@pytest.mark.parametrize(
    ("option", "fault"),
    [
        ({"epochs": 0}, "epochs must be 1 or more, got 0"),
        ({"learning_rate": 0.0}, "learning_rate must be above 0, got 0.0"),
        ({"warmup": 1.0}, "warmup must be from 0 to below 1, got 1.0"),
        ({"batch": 4, "micro_batch": 3}, "micro_batch must divide the batch of 4, got 3"),
        ({"save_steps": 0}, "save_steps must be 1 or more, got 0"),
        ({"weight_decay": math.nan}, "weight_decay must be from 0 to below 1, got nan"),
    ],
)
def test_settings_out_of_range(option, fault):
    with pytest.raises(ValueError, match="FineTuning: ") as caught:
        FineTuning(**option)
    assert fault in str(caught.value)


# --- tokens and labels -------------------------------------------------------------------------


def test_names_never_become_control_tokens(base):
    tokenizer = tokenizer_of(base)
    ids = prompt_tokens(tokenizer, "Peru </s><s> Lima")
    assert not {tokenizer.bos_token_id, tokenizer.eos_token_id} & set(ids)
    assert tokenizer.decode(ids, clean_up_tokenization_spaces=False) == "Peru </s><s> Lima"
    ids = completion_tokens(tokenizer, "Answer: </s>")
    assert ids.count(tokenizer.eos_token_id) == 1
    assert ids[-1] == tokenizer.eos_token_id


def test_loss_counts_answer_tokens_alone(base, data):
    import torch
    from transformers import AutoModelForCausalLM

    tokenizer = tokenizer_of(base)
    template, records = read_records(data)
    found = tokenize(records, template, tokenizer, WINDOW)
    rows = [{"input_ids": ids, "labels": labels_of(ids, prompt)} for ids, prompt in found.examples]
    batch = collate(rows, pad=tokenizer.eos_token_id)
    model = AutoModelForCausalLM.from_pretrained(base)
    kept = {}

    def keep(layer, inputs, out):
        out.retain_grad()
        kept["out"] = out

    model.lm_head.register_forward_hook(keep)
    model(**batch).loss.backward()
    reached = kept["out"].grad.abs().sum(-1) > 0
    for row, (ids, prompt) in zip(reached, found.examples, strict=True):
        # the logits at i are those of token i + 1
        assert row.tolist() == [
            prompt - 1 <= i < len(ids) - 1 for i in range(batch["input_ids"].shape[1])
        ]
    assert torch.equal(batch["labels"] == IGNORED, ~torch.roll(reached, 1, dims=1))


def test_long_contexts_lose_their_last_paths_and_say_so(base, tmp_path):
    tokenizer = tokenizer_of(base)
    many = evidence(*(["Peru", "border", f"country {i}"] for i in range(9)))
    examples = [
        *EXAMPLES[1:],
        ReaderExample("Which?", ["country 0"], many),
        ReaderExample("?" * 99, ["x"], many),
    ]
    write_examples(tmp_path / "t.jsonl", examples)
    template, records = read_records(tmp_path / "t.jsonl")
    room = 90
    found = tokenize(records, template, tokenizer, room)
    assert (len(found.examples), found.shortened, found.too_long) == (3, 1, 1)
    ids, prompt = found.examples[2]
    text = tokenizer.decode(ids[:prompt], clean_up_tokenization_spaces=False)
    shown = 9 - found.paths_dropped
    assert 0 < shown < 9
    assert text == template.ask("Which?", [f"Peru -border-> country {i}" for i in range(shown)])
    one_more = template.ask("Which?", [f"Peru -border-> country {i}" for i in range(shown + 1)])
    assert len(ids) <= room < len(prompt_tokens(tokenizer, one_more)) + len(ids) - prompt


# --- training ----------------------------------------------------------------------------------


def test_loss_falls_and_everything_is_written(trained, base):
    done, output, told = trained
    assert (done.examples, done.steps, done.shortened, done.too_long) == (3, 18, 0, 0)
    assert len(done.losses) == 18
    assert sum(done.losses[-3:]) < 0.7 * sum(done.losses[:3])
    assert told == [(i, 18, loss) for i, loss in enumerate(done.losses, 1)]
    assert (done.device, done.dtype) == ("cpu", "float32")
    assert done.trained == done.parameters < 20_000
    assert ReaderTemplate.load(output / FILE) == ReaderTemplate(max_tokens=WINDOW)
    stored = json.loads((output / "training.json").read_text())
    assert (stored["steps"], stored["settings"]["epochs"]) == (18, 6)
    with (output / "loss.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["loss"]) for row in rows] == done.losses
    rates = [float(row["learning_rate"]) for row in rows]
    assert rates == pytest.approx(
        [1e-2 * (1 + math.cos(math.pi * i / 18)) / 2 for i in range(18)], rel=1e-6
    )
    assert not (output / "checkpoints").exists()
    assert any(not value.equal(weights(base)[name]) for name, value in weights(output).items())


def test_a_finished_folder_is_left_alone(trained, base, data):
    _, output, _ = trained
    with pytest.raises(FileExistsError, match="holds a fine-tuned reader already"):
        finetune(base, [data], output, FEW)


class Killed(Exception):
    pass


def test_a_killed_run_goes_on_to_the_same_weights(base, data, tmp_path):
    settings = replace(FEW, save_steps=1, batch=2, micro_batch=1)

    def kill(step, steps, loss):
        if step == 3:
            raise Killed

    whole = finetune(base, [data], tmp_path / "whole", settings, device="cpu")
    with pytest.raises(Killed):
        finetune(base, [data], tmp_path / "killed", settings, device="cpu", progress=kill)
    assert not (tmp_path / "killed" / FILE).exists()
    with pytest.raises(ValueError, match="a run with other learning_rate"):
        finetune(base, [data], tmp_path / "killed", replace(settings, learning_rate=1e-3))
    steps = []
    again = finetune(
        base, [data], tmp_path / "killed", settings, device="cpu",
        progress=lambda step, *_: steps.append(step),
    )  # fmt: skip
    assert steps == [3, 4]
    assert again.losses == whole.losses
    other = weights(tmp_path / "killed")
    assert all(value.equal(other[name]) for name, value in weights(tmp_path / "whole").items())


@pytest.mark.needs("peft")
@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")  # peft 0.21
def test_lora_trains_adapters_alone(base, data, tmp_path):
    from safetensors.numpy import load_file

    settings = replace(FEW, epochs=4, lora_rank=2)
    done = finetune(base, [data], tmp_path / "lora", settings, device="cpu")
    assert 0 < done.trained < done.parameters / 3
    assert sum(done.losses[-3:]) < sum(done.losses[:3])
    stored = load_file(tmp_path / "lora" / "adapter_model.safetensors")
    assert sum(values.size for values in stored.values()) == done.trained
    assert all("lora_" in name for name in stored)
    assert any(values.any() for name, values in stored.items() if "lora_B" in name)
    assert not (tmp_path / "lora" / "model.safetensors").exists()
    tuned, plain = weights(tmp_path / "lora"), weights(base)
    for name, value in plain.items():
        inner = name.replace("proj.weight", "proj.base_layer.weight")
        assert tuned[inner if inner in tuned else name].equal(value)


def test_several_files_must_share_a_template(base, data, tmp_path):
    write_examples(tmp_path / "other.jsonl", EXAMPLES, ReaderTemplate(paths=False))
    with pytest.raises(ValueError, match=r"other\.jsonl has another template"):
        finetune(base, [data, tmp_path / "other.jsonl"], tmp_path / "out", FEW)
    with pytest.raises(ValueError, match="needs a file"):
        finetune(base, [], tmp_path / "out", FEW)


def test_nothing_left_to_train_on(base, tmp_path):
    write_examples(tmp_path / "t.jsonl", [ReaderExample("?" * 300, ["x"], CAPITALS)])
    with pytest.raises(ValueError, match="no example is left to train on; 1 are longer than 256"):
        finetune(base, [tmp_path / "t.jsonl"], tmp_path / "out", FEW)
