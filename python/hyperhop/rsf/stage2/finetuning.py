"""Supervised fine-tuning of any causal LM on exported examples (RSF-GLLM, section 2.6.2)."""

import csv
import json
import math
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from time import perf_counter
from typing import Any

from hyperhop._extras import optional
from hyperhop.llm.template import FILE, ReaderTemplate
from hyperhop.llm.tokens import best_device, best_dtype, quiet_bars, window_of
from hyperhop.rsf.stage2.examples import read_records
from hyperhop.rsf.stage2.settings import PRESETS, FineTuning
from hyperhop.rsf.stage2.tokenized import Tokenized, collate, labels_of, tokenize

CHECKPOINTS = "checkpoints"
_WHAT, _EXTRA = "fine-tuning a language model", "finetune"
Progress = Callable[[int, int, float | None], object]


@dataclass(frozen=True)
class FineTuned:
    """What a fine-tuning did.

    Attributes:
        output: the folder: model (or adapter), tokenizer and template, `training.json`, `loss.csv`.
        examples: trained on. `shortened`, `paths_dropped`, `too_long`: see `Tokenized`.
        steps: of the optimiser; `seconds` it took since it was last begun.
        losses: mean loss of an answer token, a step each.
        trained, parameters: numbers trained, and numbers in all.
        device, dtype: where it ran, and what activations were computed in.
    """

    output: str
    examples: int
    shortened: int
    paths_dropped: int
    too_long: int
    steps: int
    seconds: float
    trained: int
    parameters: int
    device: str
    dtype: str
    losses: list[float] = field(repr=False)


def finetune(
    base: str | os.PathLike[str],
    files: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    settings: FineTuning = PRESETS["paper"],
    *,
    device: str | None = None,
    bf16_weights: bool = False,
    progress: Progress | None = None,
) -> FineTuned:
    """Train a causal LM to complete the prompts of `files`; the loss counts completions alone.

    Runs on the first accelerator that torch sees, else on the CPU; activations are bfloat16 on a
    GPU that computes with it. Killed, it goes on from its last checkpoint when it is called again
    with the same arguments, and ends with the same weights (on a CPU, bit for bit).

    Args:
        base: a folder of transformers, or a name that transformers knows.
        files: what `write_examples` wrote, all with one template: several sets make one reader.
        output: a new folder; `hyperhop.llm.LLMReader(output)` reads with it.
        device: None chooses.
        bf16_weights: keep weights and moments in bfloat16 on a GPU: half the memory, and updates
            below 1/256 of a weight are lost.
        progress: told (steps done, of, loss).

    ImportError without the extra; FileExistsError where `output` is finished already; ValueError
    where files differ in their template, where nothing is left to train on, and where `output`
    holds checkpoints of another run.
    """
    engine = optional("transformers", _WHAT, _EXTRA)
    optional("accelerate", _WHAT, _EXTRA)
    torch = optional("torch", _WHAT, _EXTRA)
    start = perf_counter()
    folder = Path(output)
    if (folder / FILE).exists():
        raise FileExistsError(17, "holds a fine-tuned reader already", str(folder))
    device = device or best_device(torch)
    name = str(Path(base).absolute()) if Path(base).is_dir() else os.fspath(base)
    computed = best_dtype(torch, device)
    frozen = settings.lora_rank > 0 or bf16_weights
    with quiet_bars(engine):
        tokenizer = engine.AutoTokenizer.from_pretrained(name)
        model = engine.AutoModelForCausalLM.from_pretrained(
            name, dtype=computed if frozen else torch.float32
        )
    settings = replace(settings, max_tokens=min(settings.max_tokens, window_of(model, tokenizer)))
    template, found = _examples(files, tokenizer, settings.max_tokens)
    engine.set_seed(settings.seed)
    if settings.lora_rank:
        model = _with_adapters(model, settings)
    steps = math.ceil(len(found.examples) / settings.batch) * settings.epochs
    _same_run(folder, name, settings, found)
    trainer = engine.Trainer(
        model=model,
        args=_arguments(engine, folder, settings, steps, device, computed == torch.bfloat16),
        train_dataset=[
            {"input_ids": tokens, "labels": labels_of(tokens, prompt)}
            for tokens, prompt in found.examples
        ],
        data_collator=lambda rows: collate(rows, tokenizer.eos_token_id),
        callbacks=[_told(engine, progress)] if progress is not None else None,
    )
    trainer.remove_callback(engine.PrinterCallback)  # it prints to stdout
    with quiet_bars(engine):
        trainer.train(resume_from_checkpoint=_last_checkpoint(folder))
    numbers = [(p.numel(), p.requires_grad) for p in model.parameters()]
    done = FineTuned(
        str(folder),
        len(found.examples),
        found.shortened,
        found.paths_dropped,
        found.too_long,
        trainer.state.global_step,
        perf_counter() - start,
        sum(count for count, trained in numbers if trained),
        sum(count for count, _ in numbers),
        device,
        str(computed).removeprefix("torch."),
        [row["loss"] for row in trainer.state.log_history if "loss" in row],
    )
    with quiet_bars(engine):
        _save(folder, model, tokenizer, settings, template, done, trainer.state.log_history)
    return done


def _examples(
    files: Sequence[str | os.PathLike[str]], tokenizer: Any, max_tokens: int
) -> tuple[ReaderTemplate, Tokenized]:
    """All files in one, and the template they share."""
    if not files:
        raise ValueError("finetune: needs a file of examples")
    parts: list[Tokenized] = []
    template: ReaderTemplate | None = None
    for path in files:
        own, records = read_records(path)
        if template not in (None, own):
            raise ValueError(
                f"finetune: {os.fspath(path)} has another template than {os.fspath(files[0])}: "
                "export all files with the same one"
            )
        template = own
        parts.append(tokenize(records, own, tokenizer, max_tokens))
    assert template is not None
    found = Tokenized(
        [one for part in parts for one in part.examples],
        sum(part.shortened for part in parts),
        sum(part.paths_dropped for part in parts),
        sum(part.too_long for part in parts),
    )
    if not found.examples:
        raise ValueError(
            f"finetune: no example is left to train on; {found.too_long} are longer than "
            f"{max_tokens} tokens without any path"
        )
    return template, found


def _with_adapters(model: Any, settings: FineTuning) -> Any:
    peft = optional("peft", "training LoRA adapters", _EXTRA)
    return peft.get_peft_model(
        model,
        peft.LoraConfig(
            r=settings.lora_rank,
            lora_alpha=settings.lora_alpha,
            lora_dropout=settings.lora_dropout,
            target_modules="all-linear",
            task_type="CAUSAL_LM",
        ),
    )


def _arguments(
    engine: Any, folder: Path, settings: FineTuning, steps: int, device: str, bf16: bool
) -> Any:
    micro = settings.micro_batch or settings.batch
    return engine.TrainingArguments(
        output_dir=str(folder / CHECKPOINTS),
        per_device_train_batch_size=micro,
        gradient_accumulation_steps=settings.batch // micro,
        num_train_epochs=settings.epochs,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=math.ceil(settings.warmup * steps),
        optim="adamw_torch",
        weight_decay=settings.weight_decay,
        max_grad_norm=settings.clip,
        bf16=bf16,
        activation_checkpointing=settings.checkpointing,
        seed=settings.seed,
        data_seed=settings.seed,
        save_strategy="epoch" if settings.save_steps is None else "steps",
        save_steps=settings.save_steps or 1,
        save_total_limit=1,
        logging_steps=1,
        report_to="none",
        disable_tqdm=True,
        remove_unused_columns=False,
        dataloader_pin_memory=device.startswith("cuda"),
        use_cpu=device == "cpu",
    )


def _told(engine: Any, progress: Progress) -> Any:
    """A callback of transformers that tells how far it is."""

    class Told(engine.TrainerCallback):
        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            if logs and "loss" in logs:
                progress(state.global_step, state.max_steps, logs["loss"])

    return Told()


def _same_run(folder: Path, base: str, settings: FineTuning, found: Tokenized) -> None:
    """Note what this run is, or check that checkpoints are of the same; ValueError if not."""
    digest = blake2b(json.dumps(found.examples).encode(), digest_size=16).hexdigest()
    run = {"base": base, "examples": digest, **asdict(settings)}
    note = folder / CHECKPOINTS / "run.json"
    if _last_checkpoint(folder) is None:
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(json.dumps(run, indent=1), encoding="utf-8")
        return
    was = json.loads(note.read_text(encoding="utf-8"))
    differing = [name for name in run if was.get(name) != run[name]]
    if differing:
        raise ValueError(
            f"finetune: {note.parent} holds checkpoints of a run with other "
            f"{', '.join(differing)}: go on with the same arguments, or choose another folder"
        )


def _last_checkpoint(folder: Path) -> str | None:
    """The newest complete checkpoint: its trainer_state.json is written last."""
    states = (folder / CHECKPOINTS).glob("checkpoint-*/trainer_state.json")
    found = sorted(states, key=lambda state: int(state.parent.name.rpartition("-")[2]))
    return str(found[-1].parent) if found else None


def _save(
    folder: Path,
    model: Any,
    tokenizer: Any,
    settings: FineTuning,
    template: ReaderTemplate,
    done: FineTuned,
    history: list[dict[str, Any]],
) -> None:
    """All files of the folder; the template comes last: with it the reader is complete."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    told = {"settings": asdict(settings), **asdict(done)}
    del told["losses"]
    text = json.dumps(told, indent=1, ensure_ascii=False)
    (folder / "training.json").write_text(f"{text}\n", encoding="utf-8")
    with (folder / "loss.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["step", "loss", "learning_rate"])
        for row in history:
            if "loss" in row:
                rows.writerow([row["step"], row["loss"], row["learning_rate"]])
    replace(template, max_tokens=settings.max_tokens).save(folder / FILE)
    shutil.rmtree(folder / CHECKPOINTS)
