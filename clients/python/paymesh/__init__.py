"""Client for the Paymesh REST API. See README.md."""

from ._client import ApiError, ConnectionFailed, Paymesh, VERSION
from ._fulfilment import Decision, decide
from ._webhook import WebhookHandler, WebhookRefused, verify

__version__ = VERSION
__all__ = [
    "ApiError",
    "ConnectionFailed",
    "Decision",
    "Paymesh",
    "WebhookHandler",
    "WebhookRefused",
    "decide",
    "verify",
]
