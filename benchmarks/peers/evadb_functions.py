"""The functions that EvaDB runs: `CREATE FUNCTION ... IMPL` loads this file by its path."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import cv2
import pandas as pd
from evadb.catalog.catalog_type import NdArrayType
from evadb.functions.abstract.abstract_function import AbstractFunction
from evadb.functions.decorators.decorators import forward, setup
from evadb.functions.decorators.io_descriptors.data_types import PandasDataframe

ROOT = str(Path(__file__).parents[2])
if ROOT not in sys.path:
    sys.path.append(ROOT)

from benchmarks.peers.step import ASK, DESCRIBE, post_all  # noqa: E402

PICTURE = PandasDataframe(
    columns=["data"], column_types=[NdArrayType.UINT8], column_shapes=[(None, None, 3)]
)


def _said(pictures: Any, prompt: str) -> list[str]:
    """Replies about the RGB pictures of the first column."""
    jpegs = [
        cv2.imencode(".jpg", cv2.cvtColor(p, cv2.COLOR_RGB2BGR))[1].tobytes()
        for p in pictures.iloc[:, 0]
    ]
    return post_all(os.environ["OPENAI_BASE_URL"], jpegs, prompt)


class Caption(AbstractFunction):  # type: ignore[misc]  # evadb has no types
    """A caption of each picture."""

    @property
    def name(self) -> str:
        return "Caption"

    @setup(cacheable=True, function_type="captioning", batchable=True)  # type: ignore[untyped-decorator]
    def setup(self) -> None:
        pass

    @forward(  # type: ignore[untyped-decorator]
        input_signatures=[PICTURE],
        output_signatures=[
            PandasDataframe(
                columns=["caption"], column_types=[NdArrayType.STR], column_shapes=[(None,)]
            )
        ],
    )
    def forward(self, pictures: Any) -> Any:
        return pd.DataFrame({"caption": _said(pictures, DESCRIBE)})


class Judge(AbstractFunction):  # type: ignore[misc]
    """True or False, as text, of each picture."""

    @property
    def name(self) -> str:
        return "Judge"

    @setup(cacheable=True, function_type="judging", batchable=True)  # type: ignore[untyped-decorator]
    def setup(self) -> None:
        pass

    @forward(  # type: ignore[untyped-decorator]
        input_signatures=[PICTURE],
        output_signatures=[
            PandasDataframe(
                columns=["said"], column_types=[NdArrayType.STR], column_shapes=[(None,)]
            )
        ],
    )
    def forward(self, pictures: Any) -> Any:
        return pd.DataFrame({"said": _said(pictures, ASK)})
