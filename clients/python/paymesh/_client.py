"""Calls of the API: one transport, and the operations over it."""

from __future__ import annotations

import email.utils
import hashlib
import http.client
import io
import itertools
import json
import random
import re
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Set

from . import _types as types

VERSION = "1.0.0"
_BACKOFF_FIRST_S = 0.25
_BACKOFF_CAP_S = 8.0
#: Requested waits longer than this, together with those of the call before, are raised as an error instead: a page of a shop waits for it.
_RETRY_AFTER_MAX_S = 60.0
_ID = re.compile(r"[0-9A-Za-z-]+")
_ENDED = ("expired", "cancelled")
_ENSURE_ROUNDS = 5
#: Keys of one attempt that refusals of one minute may have used up.
_KEYS_MAX = 20
#: More attempts than an order can have: a list that goes on is not believed.
_ATTEMPTS_MAX = 1000
_HTTP_DATE = re.compile(r"[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT")


class ApiError(Exception):
    """The API refused a call. Branch on ``code``; a later server may have more codes. Raised after the client's own retries."""

    def __init__(
        self, code: str, message: str, status: int, details: List[dict], request_id: str, operation: str, replayed: bool = False
    ):
        fields = "".join(f" {each['path']}: {each['message']}." for each in details)
        super().__init__(f"{code}: {message}{fields} ({operation}, {request_id})")
        self.code = code
        self.status = status
        #: The invalid fields of a ``VALIDATION_ERROR``: dotted ``path`` and ``message``.
        self.details = details
        self.request_id = request_id
        #: It repeats the first answer of the idempotency key, of up to 24 hours ago; under another key it may be another one.
        self.replayed = replayed
        self.retryable = status == 429 or status >= 500 or code == "IDEMPOTENCY_IN_PROGRESS"


class ConnectionFailed(Exception):
    """No answer of the API was read. Whether the call took effect is unknown: repeat a POST with the same key to find out."""

    def __init__(self, message: str, status: Optional[int], idempotency_key: Optional[str]):
        super().__init__(message)
        self.status = status
        self.idempotency_key = idempotency_key
        self.retryable = status is None or status == 429 or status >= 500


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A key must not be sent to a host that was not configured."""

    def redirect_request(self, *_args: Any, **_kwargs: Any) -> None:
        return None


class _Until(io.RawIOBase):
    """Reads a socket within its time limit as a whole: that of a socket is per read, and an answer of single bytes would take hours."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket):
        super().__init__()
        self._raw = raw
        self._sock = sock
        self._ends = time.monotonic() + (sock.gettimeout() or 0.0)

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> Optional[int]:
        left = self._ends - time.monotonic()
        if left <= 0:
            raise TimeoutError("no whole answer in time")
        self._sock.settimeout(left)
        return self._raw.readinto(into)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Answer(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any):
        super().__init__(sock, *args, **kwargs)
        self.fp = io.BufferedReader(_Until(self.fp.detach(), sock))


class _Connection(http.client.HTTPConnection):
    response_class = _Answer


class _SecureConnection(http.client.HTTPSConnection):
    response_class = _Answer


class _Http(urllib.request.HTTPHandler, urllib.request.HTTPSHandler):
    def http_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(_Connection, request)

    def https_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(_SecureConnection, request)


class _Transport:
    def __init__(self, api_key: str, base_url: str, timeout_s: float, max_retries: int, sleep: Callable[[float], None]):
        if not re.fullmatch(r"[\x21-\x7e]+", api_key or ""):
            raise ValueError("api_key must be an API key")
        if not re.fullmatch(r"https?://[^?#]+", base_url or ""):
            raise ValueError("base_url must be the http(s) address of the API without a query")
        self._api_key = api_key
        self._base_url = base_url.rstrip("/")
        self._timeout_s = timeout_s
        self._max_retries = max_retries
        self._sleep = sleep
        self._opener = urllib.request.build_opener(_NoRedirect, _Http)

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        body: Optional[Mapping[str, Any]] = None,
        idempotency_key: Optional[str] = None,
        is_list: bool = False,
        gone: Optional[dict] = None,
    ) -> dict:
        """
        The envelope of a success: with a page and its place when ``is_list``, else with one resource. All attempts of a POST send the same
        bytes under one key, so a retry never acts twice. ``gone`` answers a DELETE where an attempt without an answer has deleted it, so
        that the API finds nothing when it is repeated.
        """
        given = {name: value for name, value in (query or {}).items() if value is not None}
        url = self._base_url + path + ("?" + urllib.parse.urlencode(given) if given else "")
        key = (idempotency_key or str(uuid.uuid4())) if method == "POST" else None
        if key is not None and not re.fullmatch(r"[\x21-\x7e]{1,255}", key):
            raise ValueError("idempotency_key must be 1 to 255 visible ASCII characters")
        headers = {
            "Accept": "application/json",
            "Authorization": f"Bearer {self._api_key}",
            "User-Agent": f"paymesh-client-python/{VERSION}",
        }
        if key is not None:
            headers["Idempotency-Key"] = key
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body).encode()
        attempt = 0
        waited_s = 0.0
        unclear = False
        while True:
            request = urllib.request.Request(url, data=data, headers=headers, method=method)
            if data is None and method == "POST":
                request.data = b""
            error, wait_s = self._attempt(request, f"{method} {path}", key, is_list)
            if isinstance(error, dict):
                return error
            if unclear and gone is not None and isinstance(error, ApiError) and error.code == "NOT_FOUND":
                return {"data": gone}
            unclear = unclear or isinstance(error, ConnectionFailed) or error.status >= 500
            if attempt >= self._max_retries or not error.retryable:
                raise error
            if wait_s is None:
                ceiling = min(_BACKOFF_CAP_S, _BACKOFF_FIRST_S * 2**attempt)
                wait_s = ceiling / 2 + random.random() * ceiling / 2
            elif waited_s + wait_s > _RETRY_AFTER_MAX_S:
                raise error
            self._sleep(wait_s)
            waited_s += wait_s
            attempt += 1

    def _attempt(self, request: urllib.request.Request, operation: str, key: Optional[str], is_list: bool):
        """A success and None, or an error and the wait in seconds that the API requested."""
        try:
            try:
                with self._opener.open(request, timeout=self._timeout_s) as response:
                    status, headers, raw = response.status, response.headers, response.read()
            except urllib.error.HTTPError as refused:
                with refused:
                    status, headers, raw = refused.code, refused.headers, refused.read()
        except (OSError, http.client.HTTPException) as cause:
            failed = ConnectionFailed(f"the API was not reached ({operation}): {cause}", None, key)
            failed.__cause__ = cause
            return failed, None
        wait_s = _retry_after_s(headers.get("Retry-After") or "")
        value = _json(raw)
        is_empty = not raw and status < 300 and headers.get("Content-Length", headers.get("Transfer-Encoding")) is None
        if is_empty or (value is None and raw.startswith(b"{")):
            # An answer whose end is missing, be it in the headers, where the connection does not show it: the call may have taken effect.
            return ConnectionFailed(f"the answer was cut ({operation})", None, key), None
        envelope = _envelope(value)
        if envelope is not None and envelope["error"]:
            error = envelope["error"]
            given = error.get("details")
            details = [each for each in given if _is_detail(each)] if isinstance(given, list) else []
            replayed = headers.get("Idempotent-Replayed") == "true"
            message = str(error.get("message"))
            return ApiError(error["code"], message, status, details, envelope["request_id"], operation, replayed), wait_s
        if envelope is None or not 200 <= status <= 299 or not _has_content(envelope, is_list):
            return ConnectionFailed(f"not an answer of the API ({operation}, status {status})", status, key), wait_s
        return envelope, None


def _retry_after_s(text: str) -> Optional[float]:
    """Whole seconds or an HTTP date (RFC 9110 10.2.3) as seconds from now; None when absent or unreadable."""
    if re.fullmatch(r"[0-9]+", text):
        return float(text)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time()) if _HTTP_DATE.fullmatch(text) else None
    except (ValueError, TypeError):
        return None


def _is_detail(each: Any) -> bool:
    return isinstance(each, dict) and isinstance(each.get("path"), str) and isinstance(each.get("message"), str)


def _has_content(envelope: dict, is_list: bool) -> bool:
    """Anything else would be a resource without content, or a list that ends early."""
    data, meta = envelope["data"], envelope.get("meta")
    if not is_list:
        return isinstance(data, dict)
    placed = isinstance(meta, dict) and isinstance(meta.get("has_more"), bool)
    return isinstance(data, list) and placed and isinstance(meta.get("next_cursor", 0), (str, type(None)))


def _json(raw: bytes) -> Any:
    try:
        return json.loads(raw.decode("utf-8"))
    except ValueError:
        return None


def _envelope(value: Any) -> Optional[dict]:
    """The envelope of every answer; a proxy in front of the API may send something else."""
    if not isinstance(value, dict) or not isinstance(value.get("request_id"), str) or "data" not in value:
        return None
    error = value.get("error")
    if error is None:
        return {**value, "error": None}
    return value if isinstance(error, dict) and isinstance(error.get("code"), str) else None


def _path(value: str) -> str:
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise ValueError("id must be the id of a resource")
    return value


class _Resource:
    def __init__(self, transport: _Transport):
        self._transport = transport

    def _get(self, path: str) -> Any:
        return self._transport.call("GET", path)["data"]

    def _post(self, path: str, body: Optional[Mapping[str, Any]], idempotency_key: Optional[str]) -> Any:
        return self._transport.call("POST", path, body=body, idempotency_key=idempotency_key)["data"]

    def _list(self, path: str, query: Mapping[str, Any]) -> Iterator[Any]:
        cursor = query.get("cursor")
        passed = set()
        while True:
            page = self._transport.call("GET", path, query={**query, "cursor": cursor}, is_list=True)
            yield from page["data"]
            cursor = page["meta"]["next_cursor"]
            if not page["meta"]["has_more"] or cursor is None:
                return
            # A cursor that comes again would repeat the same items forever, and an empty page may never end.
            if cursor in passed or not page["data"]:
                raise RuntimeError(f"GET {path}: the list does not advance")
            passed.add(cursor)


class Invoices(_Resource):
    """Operations on invoices. Scopes ``invoices:read`` and ``invoices:write``."""

    def create(self, body: types.InvoiceCreate, *, idempotency_key: Optional[str] = None) -> types.Invoice:
        return self._post("/invoices", body, idempotency_key)

    def get(self, id: str) -> types.Invoice:
        return self._get(f"/invoices/{_path(id)}")

    def list(self, **query: Any) -> Iterator[types.Invoice]:
        """All pages, newest first: ``status``, ``order_id``, ``created_after``, ``created_before``, ``limit``."""
        return self._list("/invoices", query)

    def cancel(self, id: str, *, idempotency_key: Optional[str] = None) -> types.Invoice:
        """Cancels an invoice that has received nothing; otherwise ``INVALID_STATE``."""
        return self._post(f"/invoices/{_path(id)}/cancel", None, idempotency_key)

    def simulate(self, id: str, scenario: str, *, idempotency_key: Optional[str] = None) -> types.Invoice:
        """Test keys only: ``paid``, ``partial``, ``overpaid`` or ``expired``, with the same events as real money."""
        return self._post(f"/test/invoices/{_path(id)}/simulate", {"scenario": scenario}, idempotency_key)

    def ensure(self, body: types.InvoiceCreate) -> types.Invoice:
        """
        The invoice by which the order ``body["order_id"]`` is to be paid now: the one with money, however old, else the newest that lives,
        else the next attempt, under the key ``order-<order_id>-<attempt>``. Calls at the same time get the same invoice; others that wait are
        cancelled. With another price or coin the old invoice is cancelled first; when money has come for it, it is returned as it is: compare
        ``amount`` and ``status``.
        """
        order_id = body.get("order_id")
        if not order_id:
            raise ValueError("ensure needs an order_id")
        used_up: Set[str] = set()
        minute = int(time.time() // 60)
        rounds = 0
        while rounds < _ENSURE_ROUNDS + len(used_up):
            rounds += 1
            attempts = list(itertools.islice(self.list(order_id=order_id, limit=100), _ATTEMPTS_MAX + 1))
            if len(attempts) > _ATTEMPTS_MAX:
                raise RuntimeError(f"order {order_id}: it has more than {_ATTEMPTS_MAX} invoices")
            living = sorted((each for each in attempts if each["status"] not in _ENDED), key=_progress, reverse=True)
            for other in living[1:]:
                # An older one was paid late, or two were opened at once: nobody must be asked to pay the order twice.
                if _progress(other) == 0:
                    self._cancelled(other["id"])
            if living:
                one = living[0]
                if _progress(one) > 0 or _same_terms(one, body) or not self._cancelled(one["id"]):
                    kept = self.get(one["id"])
                    # It may have ended since the list was read.
                    if kept["status"] not in _ENDED:
                        return kept
                continue
            key = _key_for(f"order-{_key(order_id)}-{len(attempts) + 1}", minute, used_up)
            try:
                made = self.create(body, idempotency_key=key)
            except ApiError as error:
                # Its stored answer is a refusal of before, or another call was faster with other terms, which the list shows.
                if len(used_up) >= _KEYS_MAX or not (error.replayed or error.code == "IDEMPOTENCY_MISMATCH"):
                    raise
                used_up.add(key)
                continue
            # A repeated answer shows the invoice as it was when it was created.
            current = self.get(made["id"])
            if current["status"] not in _ENDED:
                return current
        raise RuntimeError(f"order {order_id}: other calls keep opening and ending its invoices")

    def _cancelled(self, id: str) -> bool:
        try:
            self.cancel(id)
            return True
        except ApiError as error:
            if error.code != "INVALID_STATE":
                raise
            return False


def _progress(invoice: types.Invoice) -> int:
    """How far its money is; 3 for one that is paid, or has a status that this version does not have."""
    return {"new": 0, "pending": 0, "partial": 1, "confirming": 2}.get(invoice["status"], 3)


def _same_terms(invoice: types.Invoice, body: Mapping[str, Any]) -> bool:
    money, crypto, asset = invoice["amount"], invoice["crypto"], body.get("asset")
    same_coin = not asset or (crypto is not None and crypto["asset"] == asset)
    return money["currency"] == body["currency"] and _plain(money["value"]) == _plain(body["amount"]) and same_coin


def _plain(amount: str) -> str:
    """A decimal without zeros that do not count."""
    return amount.rstrip("0").rstrip(".") if "." in amount else amount


def _key_for(attempt: str, minute: int, used_up: Set[str]) -> str:
    """
    The key of an attempt, or one of this minute (``.29402222``, ``.29402222.2``) while refusals have used it up: the API repeats a refusal for a
    day, and the shop may have removed its cause since.
    """
    key = attempt
    count = 1
    while key in used_up:
        key = f"{attempt}.{minute}" if count == 1 else f"{attempt}.{minute}.{count}"
        count += 1
    return key


def _key(order_id: str) -> str:
    """Visible ASCII for the key, different for different orders, and the same in every client."""
    text = urllib.parse.quote(order_id, safe="")
    return text if len(text) <= 200 else hashlib.sha256(text.encode()).hexdigest()


class PaymentLinks(_Resource):
    """Operations on payment links. Scopes ``links:read`` and ``links:write``."""

    def create(self, body: types.PaymentLinkCreate, *, idempotency_key: Optional[str] = None) -> types.PaymentLink:
        return self._post("/payment-links", body, idempotency_key)

    def get(self, id: str) -> types.PaymentLink:
        return self._get(f"/payment-links/{_path(id)}")

    def list(self, **query: Any) -> Iterator[types.PaymentLink]:
        return self._list("/payment-links", query)

    def deactivate(self, id: str, *, idempotency_key: Optional[str] = None) -> types.PaymentLink:
        return self._post(f"/payment-links/{_path(id)}/deactivate", None, idempotency_key)


class Products(_Resource):
    """Operations on products. Scopes ``products:read`` and ``products:write``."""

    def create(self, body: types.ProductCreate, *, idempotency_key: Optional[str] = None) -> types.Product:
        return self._post("/products", body, idempotency_key)

    def get(self, id: str) -> types.Product:
        return self._get(f"/products/{_path(id)}")

    def list(self, **query: Any) -> Iterator[types.Product]:
        return self._list("/products", query)


class Payments(_Resource):
    """On-chain transfers to invoices. Scope ``payments:read``."""

    def list(self, **query: Any) -> Iterator[types.Payment]:
        return self._list("/payments", query)


class WebhookEndpoints(_Resource):
    """Operations on webhook endpoints. Scope ``webhooks:manage``."""

    def create(
        self, body: types.WebhookEndpointCreate, *, idempotency_key: Optional[str] = None
    ) -> types.WebhookEndpointCreated:
        """Only this answer has the ``secret``: store it. ``warning`` tells of another endpoint with the same URL."""
        return self._post("/webhook-endpoints", body, idempotency_key)

    def list(self) -> Iterator[types.WebhookEndpoint]:
        return self._list("/webhook-endpoints", {})

    def delete(self, id: str) -> types.Deleted:
        gone = {"id": id, "object": "webhook_endpoint", "deleted": True}
        return self._transport.call("DELETE", f"/webhook-endpoints/{_path(id)}", gone=gone)["data"]


class Paymesh(_Resource):
    """
    A client for every operation. Transient failures are retried with back-off; every POST carries an idempotency key, so a retry never
    acts twice. ``api_key`` is a secret of your server and decides the mode.
    """

    def __init__(
        self,
        api_key: str,
        base_url: str,
        *,
        timeout_s: float = 30.0,
        max_retries: int = 4,
        sleep: Callable[[float], None] = time.sleep,
    ):
        super().__init__(_Transport(api_key, base_url, timeout_s, max_retries, sleep))
        #: Whether the key is a live one.
        self.livemode = re.match(r"[^_]+_live_", api_key) is not None
        self.invoices = Invoices(self._transport)
        self.payment_links = PaymentLinks(self._transport)
        self.products = Products(self._transport)
        self.payments = Payments(self._transport)
        self.webhook_endpoints = WebhookEndpoints(self._transport)

    def currencies(self) -> Iterator[types.Currency]:
        """Every supported asset and whether this workspace can receive it now."""
        return self._list("/currencies", {})

    def rates(self, **query: Any) -> Iterator[types.Rate]:
        """Current rates: ``fiat``, ``asset``."""
        return self._list("/rates", query)

    def estimate(self, body: types.EstimateRequest) -> types.Estimate:
        """A price in an asset at the current rate; nothing is locked."""
        return self._post("/estimate", body, None)
