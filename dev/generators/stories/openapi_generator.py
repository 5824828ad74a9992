"""Calls each operation once with the client that openapi-generator makes for Python, and reads an event."""

import json
import os
import uuid

import paymesh
from paymesh.exceptions import NotFoundException

configuration = paymesh.Configuration(host=os.environ["BASE_URL"], access_token=os.environ["API_KEY"])
client = paymesh.ApiClient(configuration)
invoices, products = paymesh.InvoicesApi(client), paymesh.ProductsApi(client)
links, endpoints = paymesh.PaymentLinksApi(client), paymesh.WebhookEndpointsApi(client)
payments, rates = paymesh.PaymentsApi(client), paymesh.CurrenciesAndRatesApi(client)


def key():
    return str(uuid.uuid4())


assert len(rates.list_currencies().data) > 0
assert len(rates.list_rates(fiat="USD").data) > 0
estimate = rates.create_estimate(
    idempotency_key=key(), estimate_request=paymesh.EstimateRequest(amount="10.00", currency="USD", asset="eth_ethereum")
)
assert float(estimate.data.amount) > 0

product = products.create_product(
    idempotency_key=key(), product_create=paymesh.ProductCreate(name="Ticket", price="24.95", currency="USD")
).data
assert products.get_product(str(product.id)).data.name == "Ticket"
assert product.id in [each.id for each in products.list_products(limit=5).data]

link = links.create_payment_link(
    idempotency_key=key(), payment_link_create=paymesh.PaymentLinkCreate(product_id=str(product.id))
).data
assert links.get_payment_link(str(link.id)).data.status == "active"
assert link.id in [each.id for each in links.list_payment_links(limit=5).data]
assert links.deactivate_payment_link(str(link.id), idempotency_key=key()).data.status == "inactive"

invoice = invoices.create_invoice(
    idempotency_key=key(),
    invoice_create=paymesh.InvoiceCreate(
        amount="24.95", currency="USD", asset="eth_ethereum", order_id="order-7731", metadata={"channel": "web"}
    ),
).data
assert invoice.crypto is not None and invoice.crypto.address.startswith("0x")
paid = invoices.simulate_invoice(
    str(invoice.id), idempotency_key=key(), simulate_request=paymesh.SimulateRequest(scenario="paid")
).data
assert paid.status == "paid"
assert invoices.get_invoice(str(invoice.id)).data.metadata == {"channel": "web"}
assert invoice.id in [each.id for each in invoices.list_invoices(limit=5, order_id="order-7731").data]
assert len(payments.list_payments(invoice_id=str(invoice.id)).data) > 0
other = invoices.create_invoice(
    idempotency_key=key(), invoice_create=paymesh.InvoiceCreate(amount="1.00", currency="EUR")
).data
assert invoices.cancel_invoice(str(other.id), idempotency_key=key()).data.status == "cancelled"

endpoint = endpoints.create_webhook_endpoint(
    idempotency_key=key(),
    webhook_endpoint_create=paymesh.WebhookEndpointCreate(url="http://localhost:9/hooks", events=["invoice.paid"]),
).data
assert endpoint.secret.startswith("whsec_")
assert endpoint.id in [each.id for each in endpoints.list_webhook_endpoints().data]
assert endpoints.delete_webhook_endpoint(str(endpoint.id)).data.deleted

try:
    invoices.get_invoice(str(uuid.uuid4()))
    raise AssertionError("an unknown invoice was found")
except NotFoundException as error:
    assert error.data.error.code == os.environ["ERROR_CODE"], error.data

for name in os.environ["EVENT_FILES"].split(":"):
    with open(name, encoding="utf-8") as file:
        event = paymesh.Event.from_dict(json.load(file))
    assert event.type and event.data.object.status, name
print("19 operations, an error and 16 events of a later server")
