import subprocess
import sys
import tomllib

import pytest

from hyperhop.rsf import RSFConfig


def test_values_survive_toml():
    config = RSFConfig(hops=4, question="tokens", lambda_1=0.02, gate=False)
    lines = [
        f"{name} = {str(value).lower() if isinstance(value, bool) else repr(value)}"
        for name, value in config.to_dict().items()
    ]
    assert RSFConfig.from_dict(tomllib.loads("\n".join(lines))) == config


def test_whole_numbers_of_toml_are_taken_for_floats():
    assert RSFConfig.from_dict({"lambda_1": 1}).lambda_1 == 1.0


def test_missing_values_are_the_defaults():
    assert RSFConfig.from_dict({}) == RSFConfig()


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"hops": 0}, ValueError, "RSFConfig: hops must be at least 1, got 0"),
        ({"hops": 2.0}, TypeError, "RSFConfig: hops must be of type int, got 2.0"),
        ({"gate": 1}, TypeError, "RSFConfig: gate must be of type bool, got 1"),
        ({"eps": 0.0}, ValueError, "RSFConfig: eps must be between 0 and 1, got 0.0"),
        ({"dropout": 1.0}, ValueError, "dropout must be at least 0 and below 1"),
        ({"question": "words"}, ValueError, "question must be one of pooled, tokens, got 'words'"),
        ({"question": "tokens", "hidden": 5}, ValueError, "hidden must be even"),
        ({"hop": 2}, ValueError, "RSFConfig: 'hop' is no switch; there are attention"),
    ],
)
def test_refusals(values, error, message):
    with pytest.raises(error, match=message):
        RSFConfig.from_dict(values)


def test_importing_the_room_needs_no_torch():
    code = (
        "import sys, hyperhop.rsf as rsf; rsf.RSFConfig(); rsf.FlowBatch;"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_unknown_names_are_attribute_errors():
    import hyperhop.rsf

    with pytest.raises(AttributeError, match="nothing"):
        hyperhop.rsf.nothing
    assert all(hasattr(hyperhop.rsf, name) for name in ("FlowBatch", "RSFConfig"))
