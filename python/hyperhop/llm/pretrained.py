"""A language model in this process: any causal LM in a folder of transformers."""

import asyncio
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hyperhop._extras import optional
from hyperhop.llm.chat import LLMError, Message, Reply, SchemaRefused
from hyperhop.llm.template import FILE, ReaderTemplate
from hyperhop.llm.tokens import best_device, best_dtype, prompt_tokens, quiet_bars, window_of
from hyperhop.llm.usage import Meter, Usage

_WHAT = "a language model in a folder"
_EXTRA = "transformers"
_MOST_TOKENS = 512  # of a reply, if its window allows that


class TransformersModel:
    """A folder with config.json, weights and tokenizer as a ChatModel (extra `transformers`).

    A LoRA adapter is one too: its adapter_config.json names the model it belongs to (extra
    `finetune`). It runs on the first accelerator that torch sees, in bfloat16 where a GPU computes
    with that, else in float32 on the CPU. Decoding is greedy, one call at a time, from any thread.
    A pickle holds path and settings, and loads the folder again. No code out of the folder is run,
    and nothing is downloaded.

    A folder that `hyperhop.rsf.stage2` has trained holds a `template`; LLMReader then asks by
    `complete` what it was trained on.

    Contrastive decoding: with `contrast` = a > 0 the score of a next token is
    (1 + a) log p(token | prompt) - a log p(token | the prompt without its evidence), so what the
    model would say without evidence counts against a token. Only tokens with
    p(token | prompt) >= `plausibility` * that of the likeliest are candidates. Each token then
    takes the model twice. RSF-GLLM names this as future work (section 4); the cut is that of
    contrastive decoding as Li et al. (2023) define it.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        max_tokens: int | None = None,
        contrast: float = 0.0,
        plausibility: float = 0.1,
        device: str | None = None,
    ) -> None:
        """Loads the folder. `max_tokens` of a reply: None for 512, or a quarter of a small window.

        ImportError without the extra, FileNotFoundError, and ValueError for a folder that holds no
        causal LM and for numbers out of range.
        """
        if not contrast >= 0:
            raise ValueError(f"TransformersModel: contrast must be 0 or more, got {contrast}")
        if not 0 <= plausibility <= 1:
            raise ValueError(
                f"TransformersModel: plausibility must be from 0 to 1, got {plausibility}"
            )
        self._engine = optional("transformers", _WHAT, _EXTRA)
        self._torch = optional("torch", _WHAT, _EXTRA)
        self._path = folder_of_model(path)
        self._settings: Mapping[str, Any] = {
            "max_tokens": max_tokens,
            "contrast": contrast,
            "plausibility": plausibility,
            "device": device,
        }
        self._contrast, self._plausibility = contrast, plausibility
        device = device or best_device(self._torch)
        self._model, self._tokenizer = self._load(device)
        written = self._path / FILE
        self._template = ReaderTemplate.load(written) if written.exists() else None
        window = window_of(self._model, self._tokenizer)
        if self._template is not None:
            window = min(window, self._template.max_tokens or window)
        self._window = window
        self._max_tokens = min(_MOST_TOKENS, window // 4) if max_tokens is None else max_tokens
        if not 1 <= self._max_tokens < window:
            raise ValueError(
                f"TransformersModel: max_tokens must be from 1 to below the {window} tokens of the "
                f"model, got {self._max_tokens}"
            )
        self._ends = self._end_tokens()
        self._lock = threading.Lock()
        self._meter = Meter()

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self._path.name

    @property
    def takes_schema(self) -> bool:
        """False."""
        return False

    @property
    def concurrency(self) -> int:
        """1."""
        return 1

    @property
    def template(self) -> ReaderTemplate | None:
        """What it was fine-tuned on; None for any other model."""
        return self._template

    @property
    def contrast(self) -> float:
        """Weight of the prompt without evidence, see above."""
        return self._contrast

    @property
    def usage(self) -> Usage:
        """Calls and tokens of this object in this process."""
        return self._meter.total

    def fits(self, prompt: str, max_tokens: int | None = None) -> bool:
        """Whether prompt and reply together stay in the model's window, as it was trained."""
        return len(prompt_tokens(self._tokenizer, prompt)) <= self._room(max_tokens)

    def complete(
        self, prompt: str, *, without: str | None = None, max_tokens: int | None = None
    ) -> Reply:
        """What follows a prompt of plain text.

        `without` is the same prompt without its evidence, for `contrast`; None decodes plainly.
        LLMError for a prompt that does not fit and for an empty reply.
        """
        return self._reply(
            prompt_tokens(self._tokenizer, prompt),
            None if without is None else prompt_tokens(self._tokenizer, without),
            max_tokens,
        )

    async def acomplete(
        self, prompt: str, *, without: str | None = None, max_tokens: int | None = None
    ) -> Reply:
        """`complete` for callers inside an event loop."""
        return await asyncio.to_thread(
            self.complete, prompt, without=without, max_tokens=max_tokens
        )

    def chat(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        grammar: str | None = None,
        max_tokens: int | None = None,
        without: Sequence[Message] | None = None,
    ) -> Reply:
        """One reply, in the chat form of the folder's tokenizer; see `complete` for the others.

        SchemaRefused for a schema or grammar; LLMError for a model that has no chat form.
        """
        if schema is not None or grammar is not None:
            raise SchemaRefused(f"{self.name} takes no JSON schema and no grammar")
        return self._reply(
            self._chat_tokens(messages),
            None if without is None else self._chat_tokens(without),
            max_tokens,
        )

    async def achat(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        grammar: str | None = None,
        max_tokens: int | None = None,
        without: Sequence[Message] | None = None,
    ) -> Reply:
        """`chat` for callers inside an event loop."""
        return await asyncio.to_thread(
            self.chat,
            messages,
            schema=schema,
            grammar=grammar,
            max_tokens=max_tokens,
            without=without,
        )

    def __repr__(self) -> str:
        return f"TransformersModel({str(self._path)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _open, (self._path, self._settings)

    def _load(self, device: str) -> tuple[Any, Any]:
        dtype = best_dtype(self._torch, device)
        if (self._path / "adapter_config.json").exists():
            optional("peft", "a LoRA adapter", "finetune")
        try:
            with quiet_bars(self._engine):
                tokenizer = self._engine.AutoTokenizer.from_pretrained(
                    self._path, local_files_only=True
                )
                model = self._engine.AutoModelForCausalLM.from_pretrained(
                    self._path, dtype=dtype, local_files_only=True
                )
        except (OSError, ValueError, KeyError) as error:
            reason = " ".join(str(error).split())
            raise ValueError(
                f"TransformersModel: {self._path} cannot be loaded ({reason})"
            ) from error
        return model.to(device).eval(), tokenizer

    def _room(self, max_tokens: int | None) -> int:
        return self._window - (self._max_tokens if max_tokens is None else max_tokens)

    def _chat_tokens(self, messages: Sequence[Message]) -> list[int]:
        if not self._tokenizer.chat_template:
            raise LLMError(f"{self.name}: its tokenizer has no chat template", 0)
        found: list[int] = self._tokenizer.apply_chat_template(
            [dict(message) for message in messages],
            add_generation_prompt=True,
            return_dict=True,
        )["input_ids"]
        return found

    def _reply(self, prompt: list[int], without: list[int] | None, max_tokens: int | None) -> Reply:
        """Decode, and count the call; LLMError where nothing can be or is said."""
        if len(prompt) > self._room(max_tokens):
            raise LLMError(
                f"{self.name}: the prompt has {len(prompt)} tokens, there is room for "
                f"{self._room(max_tokens)}"
            )
        with self._lock:
            ids = self._decode(prompt, without, max_tokens or self._max_tokens)
        cut = not ids or ids[-1] not in self._ends
        text = self._tokenizer.decode(
            ids, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        tokens = len(prompt), len(ids)
        if not text.strip():
            self._meter.add(Usage(0, 1, 1, *tokens))
            raise LLMError(f"{self.name}: the reply is empty", 1)
        self._meter.add(Usage(1, 0, 1, *tokens))
        return Reply(text, 1, *tokens, cut)

    def _decode(self, prompt: list[int], without: list[int] | None, limit: int) -> list[int]:
        """The new tokens, the end token among them."""
        torch, engine = self._torch, self._engine
        ids = torch.tensor([prompt], device=self._model.device)
        processors = engine.LogitsProcessorList()
        if self._contrast and without is not None:
            alone = torch.tensor([without], device=self._model.device)
            # first the cut, by the probabilities with evidence; a constant that it adds to the
            # log-probabilities of what is left changes no maximum
            processors.append(engine.MinPLogitsWarper(self._plausibility))
            processors.append(
                engine.UnbatchedClassifierFreeGuidanceLogitsProcessor(
                    1 + self._contrast, self._model, unconditional_ids=alone
                )
            )
        out = self._model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            logits_processor=processors,
            do_sample=False,
            num_beams=1,
            max_new_tokens=limit,
            eos_token_id=self._ends,
            pad_token_id=self._ends[0],
        )
        new: list[int] = out[0, len(prompt) :].tolist()
        return new

    def _end_tokens(self) -> list[int]:
        """Tokens that end a reply: the tokenizer's, then those that the model names."""
        named = self._model.generation_config.eos_token_id
        named = named if isinstance(named, list) else [named]
        ends = [self._tokenizer.eos_token_id, *named]
        found = list(dict.fromkeys(end for end in ends if end is not None))
        if not found:
            raise ValueError(f"TransformersModel: {self._path} has no token that ends a reply")
        return found


def _open(path: Path, settings: Mapping[str, Any]) -> TransformersModel:
    return TransformersModel(path, **settings)


def is_folder_of_model(path: str | os.PathLike[str]) -> bool:
    """Whether a causal LM, or an adapter of one, may be there."""
    folder = Path(path).expanduser()
    return any((folder / name).is_file() for name in ("config.json", "adapter_config.json"))


def folder_of_model(path: str | os.PathLike[str]) -> Path:
    """The absolute path; FileNotFoundError without a folder, ValueError for one of another kind."""
    folder = Path(path).expanduser().absolute()
    if not folder.is_dir():
        raise FileNotFoundError(2, "there is no such folder", str(folder))
    if not is_folder_of_model(folder):
        raise ValueError(f"{folder} holds no language model: it has no config.json")
    return folder
