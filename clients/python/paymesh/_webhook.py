"""Deliveries of events: the signature, and what to do about an event."""

from __future__ import annotations

import hashlib
import hmac
import inspect
import json
import re
import time
from typing import Callable, Optional, Sequence, Tuple, Union

from . import _types as types
from ._client import Paymesh

_HEADER = re.compile(r"t=([0-9]{1,12}),v1=([0-9a-f]{64})")
_PAID = ("paid", "overpaid")
_PARTLY = ("partial", "confirming")
_ENDED = ("expired", "cancelled")


class WebhookRefused(Exception):
    """The request is not from Paymesh, or too old: answer 400 and do nothing. ``reason`` says why."""

    def __init__(self, reason: str):
        super().__init__(f"the webhook was refused: {reason}")
        self.reason = reason


def _known(secrets: Union[str, Sequence[str]]) -> Sequence[str]:
    known = [secrets] if isinstance(secrets, str) else list(secrets or [])
    # An HMAC under an empty key can be forged by anyone.
    if not known or not all(isinstance(secret, str) and secret for secret in known):
        raise ValueError("secrets must be the whsec_... secret of the endpoint")
    return known


def verify(
    raw_body: bytes,
    signature: Optional[str],
    secrets: Union[str, Sequence[str]],
    *,
    tolerance_s: int = 300,
    now: Optional[float] = None,
) -> types.Event:
    """
    The event of a genuine delivery: ``signature`` is the header ``X-Webhook-Signature``, ``raw_body`` the bytes as received. Two secrets
    while one is replaced. Raises ``WebhookRefused``, and ``ValueError`` without a secret.
    """
    known = _known(secrets)
    if not signature:
        raise WebhookRefused("missing_signature")
    match = _HEADER.fullmatch(signature)
    if match is None:
        raise WebhookRefused("malformed_signature")
    signed = match[1].encode() + b"." + raw_body
    digests = [hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest() for secret in known]
    if not any([hmac.compare_digest(digest, match[2]) for digest in digests]):
        raise WebhookRefused("signature_mismatch")
    if not abs((time.time() if now is None else now) - int(match[1])) <= tolerance_s:
        raise WebhookRefused("timestamp_out_of_range")
    try:
        # As text: from bytes, other encodings and a byte order mark would be taken, which no delivery has.
        event = json.loads(raw_body.decode("utf-8"))
        named = event["object"] == "event" and isinstance(event["id"], str) and isinstance(event["type"], str)
        if named and isinstance(event["data"]["object"], dict):
            return event
    except (ValueError, TypeError, KeyError):
        pass
    raise WebhookRefused("malformed_event")


class WebhookHandler:
    """
    Takes deliveries: verifies each, reads the invoice as it is now (events come twice and out of order), and calls ``paid``, ``partly`` or
    ``ended`` with it. The callbacks may run more than once for one invoice: let them use ``decide`` and store its result at once. Raises
    ``TypeError`` or ``ValueError`` where it would accept deliveries and tell nobody: without a callback or a secret.
    """

    def __init__(
        self,
        client: Paymesh,
        secrets: Union[str, Sequence[str]],
        *,
        paid: Callable[[types.Invoice], None],
        partly: Callable[[types.Invoice], None],
        ended: Callable[[types.Invoice], None],
        waiting: Callable[[types.Invoice], None] = lambda invoice: None,
    ):
        if not all(callable(callback) for callback in (paid, partly, ended, waiting)):
            raise TypeError("paid, partly, ended and waiting must be functions that take the invoice")
        self._client = client
        self._secrets = _known(secrets)
        self._callbacks = {
            **{status: paid for status in _PAID},
            **{status: partly for status in _PARTLY},
            **{status: ended for status in _ENDED},
            **{status: waiting for status in ("new", "pending")},
        }

    def handle(self, raw_body: bytes, signature: Optional[str]) -> Tuple[int, str]:
        """Status and text of the answer. What a callback raises goes through: answer 500, and the delivery comes again."""
        try:
            event = verify(raw_body, signature, self._secrets)
        except WebhookRefused as refused:
            return 400, refused.reason
        # An endpoint of both modes is told about tests, whose invoices a live key does not see.
        of_test = event["type"] == "webhook.test" or (self._client.livemode and event.get("livemode") is False)
        if not of_test and event["data"]["object"].get("object") == "invoice":
            invoice = self._client.invoices.get(event["data"]["object"]["id"])
            callback = self._callbacks.get(invoice["status"])
            result = None if callback is None else callback(invoice)
            if inspect.isawaitable(result) or inspect.isgenerator(result) or inspect.isasyncgen(result):
                raise TypeError("a callback must do its work before it returns: this one is async or a generator, and nobody runs it")
        return 204, ""

    def django(self) -> Callable:
        """A Django view: exempt from CSRF, which protects browsers' forms. Register its path without a slash that Django would append."""
        from django.http import HttpResponse
        from django.views.decorators.csrf import csrf_exempt
        from django.views.decorators.http import require_POST

        def view(request):  # type: ignore[no-untyped-def]
            status, text = self.handle(request.body, request.headers.get("X-Webhook-Signature"))
            return HttpResponse(text, status=status, content_type="text/plain")

        return csrf_exempt(require_POST(view))
