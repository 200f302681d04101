"""The forward pass of BERT as an ONNX graph built from the weights, run by onnxruntime."""

from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop._extras import optional
from hyperhop.text.bert.folder import BertConfig
from hyperhop.text.bert.numpy_forward import Forward
from hyperhop.text.bert.weights import Bert, Floats, Linear, Norm

_OPSET = 20  # the first with Gelu


def onnx_forward(bert: Bert, config: BertConfig, threads: int) -> Forward:
    """Function from token ids, int64 (texts, length), to float32 states (texts, length, width)."""
    runtime = optional("onnxruntime", "MiniLM with the backend onnx", "minilm")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # a waiting thread that spins takes the core from the one it waits for
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    session = runtime.InferenceSession(
        _build(bert, config), options, providers=["CPUExecutionProvider"]
    )

    def forward(ids: npt.NDArray[np.int64]) -> Floats:
        # the tables stay outside: half of the weights, and NumPy looks up as fast
        states: Floats = session.run(["states"], {"embedded": bert.embed(ids)})[0]
        return states

    return forward


def _build(bert: Bert, config: BertConfig) -> bytes:
    """The serialised graph. No mask: a batch holds texts of one length."""
    graph = _Graph()
    heads, size = config.heads, config.width // config.heads
    states = graph.norm("embedded", bert.norm, config.eps)
    for layer in bert.layers:
        joined = graph.linear(states, layer.query_key_value)
        split = graph.node("Reshape", [joined, graph.ints(0, 0, 3 * heads, size)])
        parts = graph.nodes("Split", [split], 3, axis=2, num_outputs=3)
        queries, values = (graph.node("Transpose", [p], perm=[0, 2, 1, 3]) for p in parts[::2])
        keys = graph.node("Transpose", [parts[1]], perm=[0, 2, 3, 1])
        scores = graph.node("Softmax", [graph.node("MatMul", [queries, keys])], axis=-1)
        mixed = graph.node("Transpose", [graph.node("MatMul", [scores, values])], perm=[0, 2, 1, 3])
        mixed = graph.node("Reshape", [mixed, graph.ints(0, 0, config.width)])
        mixed = graph.node("Add", [states, graph.linear(mixed, layer.attention)])
        states = graph.norm(mixed, layer.attention_norm, config.eps)
        inner = graph.node("Gelu", [graph.linear(states, layer.up)])
        inner = graph.node("Add", [states, graph.linear(inner, layer.down)])
        states = graph.norm(inner, layer.norm, config.eps)
    return graph.serialised(states, config.width)


class _Graph:
    """An ONNX graph under construction; methods return the name of what they add."""

    def __init__(self) -> None:
        self._onnx = optional("onnx", "MiniLM with the backend onnx", "minilm")
        self._nodes: list[Any] = []
        self._arrays: list[Any] = []

    def nodes(self, kind: str, inputs: list[str], count: int, **attributes: Any) -> list[str]:
        names = [f"{kind}_{len(self._nodes)}_{i}" for i in range(count)]
        self._nodes.append(self._onnx.helper.make_node(kind, inputs, names, **attributes))
        return names

    def node(self, kind: str, inputs: list[str], **attributes: Any) -> str:
        return self.nodes(kind, inputs, 1, **attributes)[0]

    def array(self, array: npt.NDArray[Any]) -> str:
        name = f"array_{len(self._arrays)}"
        self._arrays.append(self._onnx.numpy_helper.from_array(array, name))
        return name

    def ints(self, *values: int) -> str:
        return self.array(np.array(values, np.int64))

    def linear(self, x: str, linear: Linear) -> str:
        product = self.node("MatMul", [x, self.array(linear.weight)])
        return self.node("Add", [product, self.array(linear.bias)])

    def norm(self, x: str, norm: Norm, eps: float) -> str:
        inputs = [x, self.array(norm.scale), self.array(norm.shift)]
        return self.node("LayerNormalization", inputs, axis=-1, epsilon=eps)

    def serialised(self, states: str, width: int) -> bytes:
        helper, kind = self._onnx.helper, self._onnx.TensorProto.FLOAT
        shape = ["texts", "length", width]
        self._nodes.append(helper.make_node("Identity", [states], ["states"]))
        graph = helper.make_graph(
            self._nodes,
            "bert",
            [helper.make_tensor_value_info("embedded", kind, shape)],
            [helper.make_tensor_value_info("states", kind, shape)],
            self._arrays,
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=9
        )
        serialised: bytes = model.SerializeToString()
        return serialised
