"""Calls each operation once with the models that datamodel-code-generator makes of requests and answers, and reads events."""

import os
import urllib.error
import urllib.request
import uuid

import models

STATUS_OK = (200, 201)


def call(method, path, answer, body=None):
    headers = {"Authorization": f"Bearer {os.environ['API_KEY']}", "Content-Type": "application/json"}
    if method == "POST":
        headers["Idempotency-Key"] = str(uuid.uuid4())
    data = None if body is None else body.model_dump_json(exclude_none=True).encode()
    request = urllib.request.Request(os.environ["BASE_URL"] + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request) as response:
            status, text = response.status, response.read()
    except urllib.error.HTTPError as refused:
        status, text = refused.code, refused.read()
    read = answer.model_validate_json(text)
    return read.data if status in STATUS_OK else (status, read.error)


assert len(call("GET", "/currencies", models.CurrencyListResponse)) > 0
assert len(call("GET", "/rates?fiat=USD", models.RateListResponse)) > 0
estimate = models.EstimateRequest(amount="10.00", currency="USD", asset="eth_ethereum")
assert float(call("POST", "/estimate", models.EstimateResponse, estimate).amount) > 0

ticket = models.ProductCreate(name="Ticket", price="24.95", currency="USD")
product = call("POST", "/products", models.ProductResponse, ticket)
assert call("GET", f"/products/{product.id}", models.ProductResponse).name == "Ticket"
assert product.id in [each.id for each in call("GET", "/products?limit=5", models.ProductListResponse)]

link = call("POST", "/payment-links", models.PaymentLinkResponse, models.PaymentLinkCreate(product_id=product.id))
assert call("GET", f"/payment-links/{link.id}", models.PaymentLinkResponse).status == "active"
assert link.id in [each.id for each in call("GET", "/payment-links?limit=5", models.PaymentLinkListResponse)]
assert call("POST", f"/payment-links/{link.id}/deactivate", models.PaymentLinkResponse).status == "inactive"

order = models.InvoiceCreate(
    amount="24.95", currency="USD", asset="eth_ethereum", order_id="order-7731", metadata={"channel": "web"}
)
invoice = call("POST", "/invoices", models.InvoiceResponse, order)
assert invoice.crypto is not None and invoice.crypto.address.startswith("0x")
paid = call(
    "POST", f"/test/invoices/{invoice.id}/simulate", models.InvoiceResponse, models.SimulateRequest(scenario="paid")
)
assert paid.status == "paid"
assert call("GET", f"/invoices/{invoice.id}", models.InvoiceResponse).metadata.model_dump() == {"channel": "web"}
orders = call("GET", "/invoices?limit=5&order_id=order-7731", models.InvoiceListResponse)
assert invoice.id in [each.id for each in orders]
assert len(call("GET", f"/payments?invoice_id={invoice.id}", models.PaymentListResponse)) > 0
other = call("POST", "/invoices", models.InvoiceResponse, models.InvoiceCreate(amount="1.00", currency="EUR"))
assert call("POST", f"/invoices/{other.id}/cancel", models.InvoiceResponse).status == "cancelled"

address = models.WebhookEndpointCreate(url="http://localhost:9/hooks", events=["invoice.paid"])
endpoint = call("POST", "/webhook-endpoints", models.WebhookEndpointCreatedResponse, address)
assert endpoint.secret.startswith("whsec_")
assert endpoint.id in [each.id for each in call("GET", "/webhook-endpoints", models.WebhookEndpointListResponse)]
assert call("DELETE", f"/webhook-endpoints/{endpoint.id}", models.DeletedResponse).deleted

status, error = call("GET", f"/invoices/{uuid.uuid4()}", models.ErrorResponse)
assert status == 404 and error.code == os.environ["ERROR_CODE"], error

for name in os.environ["EVENT_FILES"].split(":"):
    with open(name, encoding="utf-8") as file:
        event = models.Event.model_validate_json(file.read())
    assert event.type and event.data.object.status, name
print("19 operations, an error and 16 events of a later server")
