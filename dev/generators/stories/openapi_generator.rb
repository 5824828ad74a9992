# Calls each operation once with the client that openapi-generator makes for Ruby, and reads an event.
require 'json'
require 'uri'
require 'securerandom'
require 'paymesh'

def check(holds, what)
  raise what unless holds
end

def key
  { idempotency_key: SecureRandom.uuid }
end

def has(rows, id)
  rows.map(&:id).include?(id)
end

base = URI(ENV.fetch('BASE_URL'))
Paymesh.configure do |configuration|
  configuration.scheme = base.scheme
  configuration.host = "#{base.host}:#{base.port}"
  configuration.base_path = base.path
  configuration.server_index = nil
  configuration.access_token = ENV.fetch('API_KEY')
end
rates = Paymesh::CurrenciesAndRatesApi.new
products = Paymesh::ProductsApi.new
links = Paymesh::PaymentLinksApi.new
invoices = Paymesh::InvoicesApi.new
payments = Paymesh::PaymentsApi.new
endpoints = Paymesh::WebhookEndpointsApi.new

check(rates.list_currencies.data.any?, 'no currency')
check(rates.list_rates(fiat: 'USD').data.any?, 'no rate')
estimate = Paymesh::EstimateRequest.new(amount: '10.00', currency: 'USD', asset: 'eth_ethereum')
check(rates.create_estimate(estimate, key).data.amount.to_f.positive?, 'no amount')

ticket = Paymesh::ProductCreate.new(name: 'Ticket', price: '24.95', currency: 'USD')
product = products.create_product(ticket, key).data
check(products.get_product(product.id).data.name == 'Ticket', 'another name')
check(has(products.list_products(limit: 5).data, product.id), 'product not listed')

link = links.create_payment_link(Paymesh::PaymentLinkCreate.new(product_id: product.id), key).data
check(links.get_payment_link(link.id).data.status == 'active', 'link not active')
check(has(links.list_payment_links(limit: 5).data, link.id), 'link not listed')
check(links.deactivate_payment_link(link.id, key).data.status == 'inactive', 'link still active')

order = Paymesh::InvoiceCreate.new(
  amount: '24.95', currency: 'USD', asset: 'eth_ethereum', order_id: 'order-7731', metadata: { 'channel' => 'web' }
)
invoice = invoices.create_invoice(order, key).data
check(invoice.crypto.address.start_with?('0x'), 'no address')
paid = invoices.simulate_invoice(invoice.id, Paymesh::SimulateRequest.new(scenario: 'paid'), key).data
check(paid.status == 'paid', 'not paid')
check(invoices.get_invoice(invoice.id).data.metadata.transform_keys(&:to_s) == { 'channel' => 'web' }, 'no metadata')
check(has(invoices.list_invoices(limit: 5, order_id: 'order-7731').data, invoice.id), 'invoice not listed')
check(payments.list_payments(invoice_id: invoice.id).data.any?, 'no payment')
other = invoices.create_invoice(Paymesh::InvoiceCreate.new(amount: '1.00', currency: 'EUR'), key).data
check(invoices.cancel_invoice(other.id, key).data.status == 'cancelled', 'not cancelled')

address = Paymesh::WebhookEndpointCreate.new(url: 'http://localhost:9/hooks', events: ['invoice.paid'])
endpoint = endpoints.create_webhook_endpoint(address, key).data
check(endpoint.secret.start_with?('whsec_'), 'no secret')
check(has(endpoints.list_webhook_endpoints.data, endpoint.id), 'endpoint not listed')
check(endpoints.delete_webhook_endpoint(endpoint.id).data.deleted, 'not deleted')

begin
  invoices.get_invoice('01920a4d-77c2-7e18-a6f4-1d3b5c7e9f0a')
  check(false, 'an unknown invoice was found')
rescue Paymesh::ApiError => error
  check(error.code == 404 && JSON.parse(error.response_body)['error']['code'] == ENV.fetch('ERROR_CODE'), 'another error')
end

ENV.fetch('EVENT_FILES').split(':').each do |name|
  event = Paymesh::Event.build_from_hash(JSON.parse(File.read(name), symbolize_names: true))
  check(event.valid? && !event.type.empty? && !event.data.object.status.empty?, "#{name} not read")
end
puts '19 operations, an error and 16 events of a later server'
