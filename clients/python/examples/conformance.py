"""Plays conformance scenes: one JSON command a line from standard input, its result on a line of standard output (clients/README.md)."""

import base64
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from paymesh import ApiError, ConnectionFailed, Paymesh, WebhookHandler, WebhookRefused, verify  # noqa: E402

client = None
waits = []


class Misuse(Exception):
    """What the client refuses before it does anything."""


def open_client(command):
    global client
    client = Paymesh(command["api_key"], command["api"], timeout_s=command.get("timeout_s", 30), sleep=waits.append)


def handle(command):
    called = []

    def note(name):
        def work(invoice):
            if "fails" in command:
                raise RuntimeError("the database is down")
            called.append(f"{name} {invoice['status']}")

        async def work_later(invoice):
            work(invoice)

        if name == command.get("without"):
            return None
        return work_later if command.get("fails") == "later" else work

    names = ("paid", "partly", "ended", "waiting")
    try:
        handler = WebhookHandler(client, command["secrets"], **{name: note(name) for name in names})
    except (TypeError, ValueError) as error:
        raise Misuse(str(error)) from error
    try:
        status, text = handler.handle(base64.b64decode(command["body"]), command.get("signature"))
    except Exception:  # What every framework makes of it.
        status, text = 500, "not handled"
    return {"status": status, "text": text, "called": called}


def verified(command):
    body = base64.b64decode(command["body"])
    try:
        event = verify(body, command.get("signature"), command["secrets"], now=command["now"])
    except ValueError as error:
        raise Misuse(str(error)) from error
    return {"id": event["id"], "type": event["type"]}


COMMANDS = {
    "open": open_client,
    "create": lambda c: client.invoices.create(c["body"], idempotency_key=c.get("key")),
    "get": lambda c: client.invoices.get(c["id"]),
    "cancel": lambda c: client.invoices.cancel(c["id"]),
    "delete": lambda c: client.webhook_endpoints.delete(c["id"]),
    "ensure": lambda c: client.invoices.ensure(c["body"]),
    "list": lambda c: list(client.invoices.list(**c["query"])),
    "verify": verified,
    "handle": handle,
}


def describe(error):
    if isinstance(error, ApiError):
        fields = {name: getattr(error, name) for name in ("code", "status", "details", "request_id", "retryable")}
        return {"kind": "api", **fields}
    if isinstance(error, ConnectionFailed):
        return {"kind": "connection", "status": error.status, "retryable": error.retryable, "key": error.idempotency_key}
    if isinstance(error, WebhookRefused):
        return {"kind": "refused", "reason": error.reason}
    if isinstance(error, Misuse):
        return {"kind": "misuse", "message": str(error)}
    return {"kind": "other", "message": repr(error)}


for line in sys.stdin:
    command = json.loads(line)
    waits.clear()
    try:
        result = {"ok": COMMANDS[command["call"]](command)}
    except Exception as error:
        result = {"error": describe(error)}
    print(json.dumps({**result, "waits": waits}), flush=True)
