"""``hyperhop train reader``: a language model that reads answers out of paths."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from hyperhop.cli.report import busy, say
from hyperhop.cli.show import counted
from hyperhop.rsf.stage2 import PRESETS, FineTuned, finetune


def reader(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="What hyperhop train examples wrote."),
    ],
    base: Annotated[
        str,
        typer.Option(
            metavar="MODEL", help="Causal language model: a folder, or a name on the hub."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Where the reader is saved.")
    ] = Path("hyperhop-reader"),
    preset: Annotated[
        str,
        typer.Option(
            metavar="P",
            help="Settings to start from: paper (all weights, appendix 10.3) or small (LoRA).",
        ),
    ] = "paper",
    lora_rank: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Train adapters of this rank alone; 0: all weights."),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Passes over all examples.")
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option(metavar="X", help="The highest; it falls along a cosine.")
    ] = None,
    batch: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Examples of a step.")
    ] = None,
    micro_batch: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Of them computed at once; all if not given."),
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(metavar="N", min=2, help="Of an example; longer ones lose paths.")
    ] = None,
    checkpointing: Annotated[
        bool,
        typer.Option("--checkpointing", help="Compute activations twice: less memory, slower."),
    ] = False,
    bf16_weights: Annotated[
        bool,
        typer.Option("--bf16-weights", help="Weights in bfloat16 on a GPU: half the memory."),
    ] = False,
    save_steps: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Steps between checkpoints; else one an epoch."),
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", min=0, help="Of all randomness.")] = None,
    device: Annotated[
        str | None,
        typer.Option(metavar="D", help="cuda, mps or cpu; the first that is there if not given."),
    ] = None,
) -> None:
    """Fine-tune a language model to answer from the paths of a prompt (extra 'finetune').

    The loss counts the answer alone. All FILEs must have one template; it is saved with the model,
    and hyperhop asks with it. A prompt that is too long loses its last paths, which is counted; a
    question that is too long even so is left out. Killed, the same command goes on from the last
    checkpoint.

    On a machine with a GPU nothing else need be said: it is used, in bfloat16 where it computes
    with that. Training all weights takes 16 bytes of memory for each (112 GB for 7 billion), 8 with
    --bf16-weights; adapters (--preset small) take little more than the 2 that a weight has. What
    activations need comes on top; --checkpointing makes it small.

    \b
    Examples:
      hyperhop train reader train.jsonl --base Qwen/Qwen3-0.6B --preset small -o myreader
      hyperhop train reader webqsp.jsonl cwq.jsonl --base meta-llama/Llama-2-7b-hf -o myreader
      hyperhop ask mymodel "Who is the mother of Ada?" --llm myreader
    """
    if preset not in PRESETS:
        raise typer.BadParameter(f"--preset must be {' or '.join(PRESETS)}, got {preset!r}")
    given: dict[str, Any] = {
        "lora_rank": lora_rank,
        "epochs": epochs,
        "learning_rate": learning_rate,
        "batch": batch,
        "micro_batch": micro_batch,
        "max_tokens": max_tokens,
        "save_steps": save_steps,
        "seed": seed,
        "checkpointing": checkpointing or None,
    }
    settings = replace(
        PRESETS[preset], **{name: value for name, value in given.items() if value is not None}
    )
    with busy(f"training {output}", "steps") as told:
        done = finetune(
            base,
            files,
            output,
            settings,
            device=device,
            bf16_weights=bf16_weights,
            progress=lambda step, of, loss: told(step, of),
        )
    _report(done)
    print(f'Read with it: hyperhop ask DIR "your question" --llm {shlex.quote(str(output))}')


def _report(done: FineTuned) -> None:
    if done.shortened:
        lost = counted(done.paths_dropped, "path")
        say(f"{counted(done.shortened, 'example')} too long as written, {lost} left out of them")
    if done.too_long:
        say(f"{counted(done.too_long, 'question')} left out: too long without any path")
    print(
        f"{done.output}: {done.examples:,} examples, {done.steps:,} steps in {done.seconds:,.0f} s "
        f"on {done.device} ({done.dtype}), {done.trained:,} of {done.parameters:,} numbers trained"
    )
    print(f"loss {done.losses[0]:.3f} at first, {done.losses[-1]:.3f} at last")
