"""Small models without training: what tests of storing, decoding and asking run."""

import numpy as np

from hyperhop.rsf import RSFConfig
from hyperhop.rsf.graphs import FlowRelations
from hyperhop.rsf.network import weight_shapes
from hyperhop.rsf.store import save
from hyperhop.rsf.text import text_tables
from hyperhop.text import get_encoder


def save_cosine_model(directory, kg, encoder="hashing:128", scale=30.0, threshold=0.2, **switches):
    """A model whose attention is the likeness of question and relation: it knows what to follow."""
    made = get_encoder(encoder) if isinstance(encoder, str) else encoder
    config = RSFConfig(
        **{
            "hidden": made.dim,
            "attention": "cosine",
            "query_update": False,
            "content_bias": False,
            **switches,
        }
    )
    weights = {}
    for name, shape in weight_shapes(config, made.dim).items():
        weights[name] = np.eye(*shape, dtype=np.float32) if len(shape) == 2 else np.zeros(shape)
    weights["relations.scale"] = np.asarray(scale, np.float32)
    weights["relations.bias"] = np.asarray(-scale * threshold, np.float32)
    return save_model(directory, kg, made, config, weights)


def save_random_model(directory, kg, encoder="hashing:16", seed=0, **switches):
    """A model of random weights."""
    made = get_encoder(encoder) if isinstance(encoder, str) else encoder
    config = RSFConfig(**{"hidden": 8, **switches})
    rng = np.random.default_rng(seed)
    weights = {
        name: np.asarray(rng.standard_normal(shape), np.float32)
        for name, shape in weight_shapes(config, made.dim).items()
    }
    return save_model(directory, kg, made, config, weights)


def save_model(directory, kg, encoder, config, weights, **more):
    relations = FlowRelations(kg, config.inverse, config.stay)
    tables = text_tables(kg, relations, encoder, entities=config.reads_texts)
    save(directory, kg, config, weights, tables, encoder, **more)
    return directory
