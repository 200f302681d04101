"""A causal LM of a few thousand parameters with a tokenizer of its own, for stage 2's tests."""

from hyperhop.evidence import Evidence, EvidencePath
from hyperhop.rsf.stage2 import ReaderExample

WINDOW = 256
WORDS = ["Context", "Question", "Answer", "Peru", "Chile", "Lima", "Santiago", "capital", "border"]


def save_tiny(folder, *, seed=0, chat=False, window=WINDOW):
    """A randomly initialised Llama and a byte-level BPE, saved as transformers saves them."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    torch.set_num_threads(1)
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    letters = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=["<s>", "</s>"],
        initial_alphabet=letters,
        show_progress=False,
    )
    inner.train_from_iterator(WORDS * 3, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token="<s>", eos_token="</s>", model_max_length=window
    )
    if chat:
        tokenizer.chat_template = (
            "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
            "{% if add_generation_prompt %}assistant: {% endif %}"
        )
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=window,
        bos_token_id=0,
        eos_token_id=1,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def evidence(*paths):
    """Paths as lists of names: entity, relation, entity, ..."""
    walks = [
        EvidencePath(list(path[::2]), list(path[1::2]), 1 / n) for n, path in enumerate(paths, 1)
    ]
    return Evidence(topic=paths[0][0] if paths else None, paths=walks)


CAPITALS = evidence(["Peru", "capital", "Lima"], ["Peru", "border", "Chile", "capital", "Santiago"])
EXAMPLES = [
    ReaderExample("What is the capital of Peru?", ["Lima"], CAPITALS),
    ReaderExample("What borders Peru?", ["Chile"], evidence(["Peru", "border", "Chile"])),
    ReaderExample("Which river?", ["Rimac"], evidence(["Lima", "river", "Rimac"])),
]
