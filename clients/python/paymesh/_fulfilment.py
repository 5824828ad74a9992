"""The one pattern of fulfilment: (order, invoice) decides; see clients/README.md."""

from __future__ import annotations

from dataclasses import dataclass

from . import _types as types
from ._table import TABLE


@dataclass(frozen=True)
class Decision:
    """What to do, the order's state afterwards, and the money of this invoice to return, in base units of its asset."""

    action: str
    order: str
    to_return: int


def decide(order: str, invoice: types.Invoice) -> Decision:
    """
    Decides about the current ``invoice`` of an ``order``: open, released, shipped (because of this invoice), settled (in another way) or
    cancelled. Call it in the transaction that stores the result, with the order's row locked; repeating it changes nothing.
    """
    row = TABLE.get((order, invoice["status"]))
    if row is None:
        if all(known != order for known, _ in TABLE):
            raise ValueError(f"an order is never {order}")
        # A status of a later server: nothing is decided by what nobody understands.
        return Decision("none", order, 0)
    action, following, returns = row
    return Decision(action, following, _to_return(returns, invoice))


def _to_return(returns: str, invoice: types.Invoice) -> int:
    confirmed = int(invoice["received"]["confirmed_base_units"])
    if returns == "all":
        return confirmed
    crypto = invoice["crypto"]
    if returns == "nothing" or invoice["status"] != "overpaid" or crypto is None:
        return 0
    return max(0, confirmed - int(crypto["amount_base_units"]))
