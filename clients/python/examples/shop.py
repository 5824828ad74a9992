"""
A whole shop in one file: an order is paid by crypto (or by card), ships once, and money to return is listed. A real shop keeps `ORDERS` in
its database and locks the order's row where this one has `LOCK`.

    PAYMESH_API=... PAYMESH_KEY=... PAYMESH_SECRET=... PORT=8000 python3 shop.py
"""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from paymesh import ApiError, Paymesh, WebhookHandler, decide  # noqa: E402

client = Paymesh(os.environ["PAYMESH_KEY"], os.environ["PAYMESH_API"])
LOCK = threading.RLock()
ORDERS = {}


def settle(invoice):
    """Decides about an order by its invoice as it is now; may run any number of times."""
    with LOCK:
        order = ORDERS.get(invoice["order_id"])
        # An older picture of the invoice than the last one decides nothing.
        if order is None or invoice["updated_at"] < order["seen"].get(invoice["id"], ""):
            return
        order["seen"][invoice["id"]] = invoice["updated_at"]
        other = order["state"] == "shipped" and order["shipped_by"] != invoice["id"]
        decision = decide("settled" if other else order["state"], invoice)
        if decision.action in ("ship", "reserve_and_ship"):
            order["shipments"] += 1
            order["shipped_by"] = invoice["id"]
        if decision.action == "cancel_invoice":
            cancel(invoice["id"])
        current = invoice["id"] == order["invoice"]
        if not other and (decision.action != "release" or current):
            order["state"] = decision.order
        order["returns"].pop(invoice["id"], None)
        if decision.to_return > 0:
            order["returns"][invoice["id"]] = str(decision.to_return)
        if decision.order == "shipped" and not current:
            cancel(order["invoice"])


def cancel(invoice_id):
    try:
        client.invoices.cancel(invoice_id)
    except ApiError as error:
        # Money has come, or it has ended: its events say what to do.
        if error.code != "INVALID_STATE":
            raise


def checkout(order_id, terms):
    """The page where the order is paid; None when it is not to be paid any more."""
    with LOCK:
        order = ORDERS.setdefault(
            order_id,
            {"state": "open", "invoice": None, "shipped_by": None, "shipments": 0, "returns": {}, "seen": {}},
        )
        if order["state"] not in ("open", "released"):
            return None
        invoice = client.invoices.ensure({**terms, "order_id": order_id})
        order["invoice"] = invoice["id"]
        order["state"] = "open"
        settle(invoice)
        return invoice["urls"]["checkout"] if order["state"] == "open" else None


def end_otherwise(order_id, state):
    """Paid by card (settled), or given up (cancelled)."""
    with LOCK:
        order = ORDERS[order_id]
        if order["state"] not in ("open", "released"):
            return False
        order["state"] = state
        order["shipments"] += 1 if state == "settled" else 0
        settle(client.invoices.get(order["invoice"]))
        return True


handler = WebhookHandler(client, os.environ["PAYMESH_SECRET"].split(","), paid=settle, partly=settle, ended=settle, waiting=settle)


class Server(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, text="", location=None):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if location is not None:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        with LOCK:
            order = ORDERS[self.path.split("/")[2]]
            self.answer(200, json.dumps({name: order[name] for name in ("state", "shipments", "returns", "invoice")}))

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            self.answer(*self.work(body))
        except Exception as error:  # A delivery comes again.
            self.answer(500, repr(error))

    def work(self, body):
        if self.path == "/webhooks":
            return handler.handle(body, self.headers.get("X-Webhook-Signature"))
        _, _, order_id, action = self.path.split("/")
        if action == "checkout":
            page = checkout(order_id, json.loads(body))
            return (409, "") if page is None else (303, "", page)
        done = end_otherwise(order_id, "settled" if action == "card" else "cancelled")
        return (200 if done else 409), ""

    def log_message(self, *_args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "0"))), Server)
print(f"listening on {server.server_port}", flush=True)
server.serve_forever()
