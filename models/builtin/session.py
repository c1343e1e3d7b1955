"""onnxruntime sessions: one a network and process, opened at first use, one thread a call.

More threads a call were slower on two cores; a caller that wants more runs calls in threads.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

from reeldb.models.builtin.weights import weight_file
from reeldb.schema.errors import ModelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ERRORS_ONLY = 3
_open: dict[str, Any] = {}
_lock = Lock()


def session(name: str) -> Any:
    """The InferenceSession of a shipped network. Raises ModelError where it cannot be opened."""
    with _lock:
        if name not in _open:
            _open[name] = _opened(name)
        return _open[name]


def _opened(name: str) -> Any:
    import onnxruntime  # 0.05 s, and most statements need no network

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    path = weight_file(name)
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as e:  # onnxruntime's own errors share no base class
        raise ModelError(f"{name} cannot be opened: {e}; install reeldb again") from e


def outputs(name: str, **inputs: NDArray[np.generic]) -> list[NDArray[np.float32]]:
    """What the network gives, by the order of its outputs."""
    found: list[NDArray[np.float32]] = session(name).run(None, inputs)
    return found
