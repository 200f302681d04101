"""A model's directory: what was saved is there, what is damaged is told."""

import json
import shutil

import numpy as np
import pytest

from hyperhop import KnowledgeGraph
from hyperhop.graph import DamagedStore
from hyperhop.rsf import RSFConfig
from hyperhop.rsf.network import weight_shapes
from hyperhop.rsf.retriever import RSF
from hyperhop.rsf.store import load, save
from hyperhop.rsf.text import TextTables
from hyperhop.text import HashingEncoder
from rsf_models import save_cosine_model, save_model, save_random_model

FACTS = [("Ann", "mother", "Bea"), ("Bea", "born_in", "Rome"), ("Rome", "part_of", "Italy")]


@pytest.fixture
def kg():
    return KnowledgeGraph.from_triples(FACTS)


def test_round_trip(kg, tmp_path):
    save_random_model(tmp_path / "m", kg, question="pooled", hops=3)
    stored = load(tmp_path / "m", verify=True)
    assert stored.kg == kg
    assert stored.config == RSFConfig(hidden=8, hops=3)
    assert stored.radius == 3
    assert stored.mention == "kept"
    shapes = weight_shapes(stored.config, 16)
    assert {name: array.shape for name, array in stored.weights.items()} == shapes
    rng = np.random.default_rng(0)
    for name, shape in shapes.items():
        assert np.array_equal(stored.weights[name], rng.standard_normal(shape).astype(np.float32))
    assert stored.num_parameters == sum(array.size for array in stored.weights.values())
    assert stored.settings["encoder"] == "hashing:16"
    expected = HashingEncoder(16).encode(["Rome"])[0]
    assert np.array_equal(stored.tables.entities[kg.entity_id("Rome")], expected)


def test_settings_are_kept_and_generations_replace(kg, tmp_path):
    model = tmp_path / "m"
    save_random_model(model, kg)
    stored = load(model)
    save(
        model,
        kg,
        stored.config,
        {name: array + 1 for name, array in stored.weights.items()},
        stored.tables,
        HashingEncoder(16),
        radius=1,
        mention="hidden",
        answer_share=0.1,
        settings={"training": {"seed": 7}},
    )
    again = load(model)
    assert (again.radius, again.mention, again.answer_share) == (1, "hidden", 0.1)
    assert stored.answer_share is None
    assert again.settings["training"] == {"seed": 7}
    assert np.array_equal(again.weights["gate.bias"], stored.weights["gate.bias"] + 1)
    assert json.loads((model / "meta.json").read_text())["generation"] == 2


def test_rows_of_entities_are_stored_only_where_they_are_read(kg, tmp_path):
    save_cosine_model(tmp_path / "m", kg)
    assert load(tmp_path / "m").tables.entities is None
    assert not list((tmp_path / "m").glob("text_entities*"))


def test_the_graph_opens_from_a_models_directory(kg, tmp_path):
    save_random_model(tmp_path / "m", kg)
    opened = KnowledgeGraph.open(tmp_path / "m", verify=True)
    assert opened == kg
    assert opened.settings["encoder"] == "hashing:16"
    opened.save(tmp_path / "g")
    kg.save(tmp_path / "plain")
    files = [{file.name for file in (tmp_path / name).glob("*.npy")} for name in ("g", "plain")]
    assert files[0] == files[1]  # nothing of the model goes along
    with pytest.raises(DamagedStore, match="kind 'rsf', expected 'graph'"):
        kg.save(tmp_path / "m")


def test_the_schema_travels_with_the_graph(kg, tmp_path):
    assert len(kg.schema.symbols)
    save_random_model(tmp_path / "m", kg)
    assert "schema_offsets" in KnowledgeGraph.open(tmp_path / "m")._arrays


def test_a_changed_graph_keeps_its_ids(kg, tmp_path):
    changed = kg.merge([("Aaa", "aunt", "Ann")]).without([("Rome", "part_of", "Italy")])
    save_random_model(tmp_path / "m", changed)
    stored = load(tmp_path / "m")
    assert stored.kg == changed
    assert stored.kg.entity_id("Aaa") == changed.entity_id("Aaa")


def test_a_graph_is_no_model(kg, tmp_path):
    kg.save(tmp_path / "g")
    with pytest.raises(DamagedStore, match="kind 'graph', expected 'rsf'"):
        load(tmp_path / "g")
    with pytest.raises(DamagedStore, match="kind 'graph', expected 'rsf'"):
        save_random_model(tmp_path / "g", kg)
    with pytest.raises(FileNotFoundError, match="no directory"):
        RSF.load(tmp_path / "nowhere")


def test_what_does_not_fit_is_refused(kg, tmp_path):
    encoder, config = HashingEncoder(16), RSFConfig(hidden=8)
    weights = {n: np.zeros(s, np.float32) for n, s in weight_shapes(config, 16).items()}
    entities, relations = np.zeros((4, 16), np.float32), np.zeros((7, 16), np.float32)
    for tables, message in (
        (TextTables(entities[:3], relations), r"tables.entities must have shape \(4, 16\)"),
        (TextTables(entities, relations[:5]), r"tables.relations must have shape \(7, 16\)"),
        (TextTables(None, relations), "must be given to a model that reads them"),
    ):
        with pytest.raises(ValueError, match=message):
            save(tmp_path / "m", kg, config, weights, tables, encoder)
    with pytest.raises(ValueError, match="mention must be kept or hidden, got 'gone'"):
        save_model(tmp_path / "m", kg, encoder, config, weights, mention="gone")
    with pytest.raises(ValueError, match="radius must be at least 0"):
        save_model(tmp_path / "m", kg, encoder, config, weights, radius=-1)
    with pytest.raises(ValueError, match=r"weight gate\.bias must have shape"):
        save_model(tmp_path / "m", kg, encoder, config, {**weights, "gate.bias": np.zeros(2)})
    assert not (tmp_path / "m").exists()


def test_every_changed_byte_is_found(kg, tmp_path):
    whole = save_random_model(tmp_path / "m", kg)
    for file in sorted(whole.glob("*.npy")):
        if file.name.startswith(("entity_order", "relation_order")):
            continue  # empty in a graph built at once
        broken = tmp_path / "broken"
        shutil.copytree(whole, broken)
        data = bytearray(file.read_bytes())
        data[-1] ^= 1
        (broken / file.name).write_bytes(bytes(data))
        with pytest.raises(DamagedStore, match="checksum does not match"):
            load(broken, verify=True)
        (broken / file.name).write_bytes(bytes(data[:-4]))
        with pytest.raises(DamagedStore, match="bytes, expected"):
            load(broken)
        (broken / file.name).unlink()
        with pytest.raises(DamagedStore, match="lacks the file"):
            load(broken)
        shutil.rmtree(broken)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.pop("model"), "cannot run: 'model'"),
        (lambda s: s["model"].update(colour="red"), "cannot run: RSFConfig: 'colour' is no switch"),
        (lambda s: s["model"].update(hops=0), "cannot run: RSFConfig: hops"),
        (lambda s: s["model"].update(hidden=9), "weights does not fit the model"),
        (lambda s: s.update(encoder_dim=8), "does not fit the model"),
        (lambda s: s.update(radius="far"), "cannot run: invalid literal"),
        (lambda s: s.update(mention="loud"), "cannot run: mention must be kept or hidden"),
        (lambda s: s.update(answer_share=2), "cannot run: answer_share must be above 0 and at"),
    ],
)
def test_settings_of_another_model_are_told(kg, tmp_path, change, message):
    from hyperhop.graph import store

    save_random_model(tmp_path / "m", kg)
    stored = store.load(tmp_path / "m", "rsf")
    settings = stored.settings
    change(settings)
    store.save(tmp_path / "m", "rsf", dict(stored.arrays), stored.counts, settings)
    with pytest.raises(DamagedStore, match=message):
        load(tmp_path / "m")


def test_a_flipped_byte_that_nobody_verified_never_crashes(kg, tmp_path):
    """It may mislead, or be told; it must not bring the process down."""
    whole = save_random_model(tmp_path / "m", kg, question="pooled")
    rng = np.random.default_rng(0)
    files = sorted(whole.glob("*.npy"))
    for _ in range(60):
        file = files[rng.integers(len(files))]
        kept = file.read_bytes()
        data = bytearray(kept)
        data[rng.integers(128, len(data)) if len(data) > 128 else -1] ^= 1 << rng.integers(8)
        file.write_bytes(bytes(data))
        try:
            RSF.load(whole).answer("Ann 's mother", topic=0)
        except (ValueError, RuntimeError, LookupError):  # DamagedStore is a ValueError
            pass
        finally:
            file.write_bytes(kept)
    assert RSF.load(whole, verify=True).answer("Ann 's mother", topic=0).entities
