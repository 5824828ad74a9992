"""Calls each operation once with the client of openapi-python-client, and reads an event."""

import json
import os
import uuid

from paymesh_client import AuthenticatedClient, models
from paymesh_client.api.currencies_and_rates import create_estimate, list_currencies, list_rates
from paymesh_client.api.invoices import cancel_invoice, create_invoice, get_invoice, list_invoices, simulate_invoice
from paymesh_client.api.payment_links import (
    create_payment_link,
    deactivate_payment_link,
    get_payment_link,
    list_payment_links,
)
from paymesh_client.api.payments import list_payments
from paymesh_client.api.products import create_product, get_product, list_products
from paymesh_client.api.webhook_endpoints import (
    create_webhook_endpoint,
    delete_webhook_endpoint,
    list_webhook_endpoints,
)

client = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=os.environ["API_KEY"])


def read(operation, *args, **options):
    answer = operation.sync(*args, client=client, **options)
    assert answer is not None and not isinstance(answer, models.ErrorResponse), answer
    return answer.data


def post(operation, *args, **options):
    return read(operation, *args, idempotency_key=str(uuid.uuid4()), **options)


assert len(read(list_currencies)) > 0
assert len(read(list_rates)) > 0
estimate = models.EstimateRequest(
    amount="10.00", currency=models.EstimateRequestCurrency.USD, asset=models.EstimateRequestAsset.ETH_ETHEREUM
)
assert float(post(create_estimate, body=estimate).amount) > 0

ticket = models.ProductCreate(name="Ticket", price="24.95", currency=models.ProductCreateCurrency.USD)
product = post(create_product, body=ticket)
assert read(get_product, product.id).name == "Ticket"
assert product.id in [each.id for each in read(list_products, limit=5)]

link = post(create_payment_link, body=models.PaymentLinkCreate(product_id=product.id))
assert read(get_payment_link, link.id).status == "active"
assert link.id in [each.id for each in read(list_payment_links, limit=5)]
assert post(deactivate_payment_link, link.id).status == "inactive"

metadata = models.InvoiceCreateMetadataType0.from_dict({"channel": "web"})
order = models.InvoiceCreate(
    amount="24.95",
    currency=models.InvoiceCreateCurrency.USD,
    asset=models.InvoiceCreateAssetType0.ETH_ETHEREUM,
    order_id="order-7731",
    metadata=metadata,
)
invoice = post(create_invoice, body=order)
assert invoice.crypto is not None and invoice.crypto.address.startswith("0x")
paid = post(simulate_invoice, invoice.id, body=models.SimulateRequest(scenario=models.SimulateRequestScenario.PAID))
assert paid.status == "paid"
assert read(get_invoice, invoice.id).metadata.to_dict() == {"channel": "web"}
assert invoice.id in [each.id for each in read(list_invoices, limit=5, order_id="order-7731")]
assert len(read(list_payments, invoice_id=invoice.id)) > 0
other = post(create_invoice, body=models.InvoiceCreate(amount="1.00", currency=models.InvoiceCreateCurrency.EUR))
assert post(cancel_invoice, other.id).status == "cancelled"

address = models.WebhookEndpointCreate(
    url="http://localhost:9/hooks", events=[models.WebhookEndpointCreateEventsItem.INVOICE_PAID]
)
endpoint = post(create_webhook_endpoint, body=address)
assert endpoint.secret.startswith("whsec_")
assert endpoint.id in [each.id for each in read(list_webhook_endpoints)]
assert read(delete_webhook_endpoint, endpoint.id).deleted

refused = get_invoice.sync_detailed(uuid.uuid4(), client=client)
assert refused.status_code == 404 and refused.parsed.error.code == os.environ["ERROR_CODE"], refused

for name in os.environ["EVENT_FILES"].split(":"):
    with open(name, encoding="utf-8") as file:
        event = models.Event.from_dict(json.load(file))
    assert event.type_ and event.data.object_.status, name
print("19 operations, an error and 16 events of a later server")
