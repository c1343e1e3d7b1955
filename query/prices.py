"""What models cost: nothing for those that run here, else what the user's config says.

```toml
["openai:gpt-5-mini"]
usd_per_million_tokens = 0.6
```
"""

from __future__ import annotations

from reeldb.models.config import PRICE as SETTING
from reeldb.models.config import config_path, settings_for
from reeldb.schema.errors import BindError

HERE = frozenset({"builtin", "fake", "open_clip", "transformers", "whisper", "test"})


def is_here(address: str) -> bool:
    """Whether a model runs in this process: free, and nothing leaves the machine."""
    return address.partition(":")[0] in HERE


def price_of(address: str) -> float | None:
    """Dollars a million tokens; None where nobody has said."""
    if is_here(address):
        return 0.0
    price = settings_for(address).get(SETTING)
    return float(price) if isinstance(price, int | float) and price >= 0 else None


def need_price(address: str) -> float:
    """The price, or BindError with the cure: a budget in USD must know it before it spends."""
    price = price_of(address)
    if price is None:
        raise BindError(
            f"a budget in USD needs the price of {address}: put {SETTING} for it into "
            f"{config_path()}, or give the budget in calls or tokens"
        )
    return price


def said_price(address: str) -> str:
    """The price as `reel models` shows it."""
    if is_here(address):
        return "free: runs here"
    price = price_of(address)
    return "unknown" if price is None else f"{price:g} USD per million tokens"
