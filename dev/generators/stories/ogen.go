// Calls each operation once with the client that ogen makes for Go, and reads events.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	paymesh "example.com/paymesh/client"
	"github.com/google/uuid"
)

type bearer struct{}

func (bearer) ApiKey(context.Context, paymesh.OperationName) (paymesh.ApiKey, error) {
	return paymesh.ApiKey{Token: os.Getenv("API_KEY")}, nil
}

func key() paymesh.OptString { return paymesh.NewOptString(rand.Text()) }

// must has the answer of one status; each operation has a type for all of its statuses.
func must[T any, R any](answer R, err error) T {
	if err != nil {
		panic(err)
	}
	expected, isExpected := any(answer).(T)
	if !isExpected {
		panic(fmt.Sprintf("%T: %+v", answer, answer))
	}
	return expected
}

func check(holds bool, what string) {
	if !holds {
		panic(what)
	}
}

func main() {
	client, err := paymesh.NewClient(os.Getenv("BASE_URL"), bearer{})
	check(err == nil, "no client")
	ctx := context.Background()

	check(len(must[*paymesh.CurrencyListResponseHeaders](client.ListCurrencies(ctx)).Response.Data) > 0, "no currency")
	check(len(must[*paymesh.RateListResponseHeaders](client.ListRates(ctx, paymesh.ListRatesParams{})).Response.Data) > 0, "no rate")
	sum := &paymesh.EstimateRequest{Amount: "10.00", Currency: paymesh.EstimateRequestCurrencyUSD, Asset: paymesh.EstimateRequestAssetEthEthereum}
	estimate := must[*paymesh.EstimateResponseHeaders](client.CreateEstimate(ctx, sum, paymesh.CreateEstimateParams{IdempotencyKey: key()}))
	check(estimate.Response.Data.Amount != "", "no amount")

	ticket := &paymesh.ProductCreate{Name: "Ticket", Price: "24.95", Currency: paymesh.ProductCreateCurrencyUSD}
	product := must[*paymesh.ProductResponseHeaders](client.CreateProduct(ctx, ticket, paymesh.CreateProductParams{IdempotencyKey: key()})).Response.Data
	check(must[*paymesh.GetProductOKHeaders](client.GetProduct(ctx, paymesh.GetProductParams{ID: product.ID})).Response.Data.Name == "Ticket", "another name")
	listed := must[*paymesh.ProductListResponseHeaders](client.ListProducts(ctx, paymesh.ListProductsParams{})).Response.Data
	check(slices.ContainsFunc(listed, func(each paymesh.Product) bool { return each.ID == product.ID }), "product not listed")

	terms := &paymesh.PaymentLinkCreate{ProductID: paymesh.NewOptNilUUID(product.ID)}
	link := must[*paymesh.PaymentLinkResponseHeaders](client.CreatePaymentLink(ctx, terms, paymesh.CreatePaymentLinkParams{IdempotencyKey: key()})).Response.Data
	check(must[*paymesh.GetPaymentLinkOKHeaders](client.GetPaymentLink(ctx, paymesh.GetPaymentLinkParams{ID: link.ID})).Response.Data.Status == "active", "link not active")
	check(len(must[*paymesh.PaymentLinkListResponseHeaders](client.ListPaymentLinks(ctx, paymesh.ListPaymentLinksParams{})).Response.Data) > 0, "no link listed")
	ended := must[*paymesh.PaymentLinkResponseHeaders](client.DeactivatePaymentLink(ctx, paymesh.DeactivatePaymentLinkParams{ID: link.ID, IdempotencyKey: key()}))
	check(ended.Response.Data.Status == "inactive", "link still active")

	order := &paymesh.InvoiceCreate{Amount: "24.95", Currency: paymesh.InvoiceCreateCurrencyUSD}
	order.Asset = paymesh.NewOptNilInvoiceCreateAsset(paymesh.InvoiceCreateAssetEthEthereum)
	order.OrderID = paymesh.NewOptNilString("order-7731")
	order.Metadata = paymesh.NewOptNilInvoiceCreateMetadata(paymesh.InvoiceCreateMetadata{"channel": "web"})
	invoice := must[*paymesh.InvoiceResponseHeaders](client.CreateInvoice(ctx, order, paymesh.CreateInvoiceParams{IdempotencyKey: key()})).Response.Data
	crypto, isSet := invoice.Crypto.Get()
	check(isSet && strings.HasPrefix(crypto.Address, "0x"), "no address")
	pay := &paymesh.SimulateRequest{Scenario: paymesh.SimulateRequestScenarioPaid}
	paid := must[*paymesh.InvoiceResponseHeaders](client.SimulateInvoice(ctx, pay, paymesh.SimulateInvoiceParams{ID: invoice.ID, IdempotencyKey: key()}))
	check(paid.Response.Data.Status == "paid", "not paid")
	read := must[*paymesh.GetInvoiceOKHeaders](client.GetInvoice(ctx, paymesh.GetInvoiceParams{ID: invoice.ID}))
	check(read.Response.Data.Metadata["channel"] == "web", "no metadata")
	orders := must[*paymesh.InvoiceListResponseHeaders](client.ListInvoices(ctx, paymesh.ListInvoicesParams{OrderID: paymesh.NewOptString("order-7731")}))
	check(len(orders.Response.Data) > 0, "invoice not listed")
	payments := must[*paymesh.PaymentListResponseHeaders](client.ListPayments(ctx, paymesh.ListPaymentsParams{InvoiceID: paymesh.NewOptUUID(invoice.ID)}))
	check(len(payments.Response.Data) > 0, "no payment")
	second := &paymesh.InvoiceCreate{Amount: "1.00", Currency: paymesh.InvoiceCreateCurrencyEUR}
	other := must[*paymesh.InvoiceResponseHeaders](client.CreateInvoice(ctx, second, paymesh.CreateInvoiceParams{IdempotencyKey: key()})).Response.Data
	cancelled := must[*paymesh.InvoiceResponseHeaders](client.CancelInvoice(ctx, paymesh.CancelInvoiceParams{ID: other.ID, IdempotencyKey: key()}))
	check(cancelled.Response.Data.Status == "cancelled", "not cancelled")

	hooks, err := url.Parse("http://localhost:9/hooks")
	check(err == nil, "no address of an endpoint")
	address := &paymesh.WebhookEndpointCreate{URL: *hooks, Events: []paymesh.WebhookEndpointCreateEventsItem{"invoice.paid"}}
	endpoint := must[*paymesh.WebhookEndpointCreatedResponseHeaders](client.CreateWebhookEndpoint(ctx, address, paymesh.CreateWebhookEndpointParams{IdempotencyKey: key()})).Response.Data
	check(strings.HasPrefix(endpoint.Secret, "whsec_"), "no secret")
	check(len(must[*paymesh.WebhookEndpointListResponseHeaders](client.ListWebhookEndpoints(ctx)).Response.Data) > 0, "no endpoint listed")
	deleted := must[*paymesh.DeletedResponseHeaders](client.DeleteWebhookEndpoint(ctx, paymesh.DeleteWebhookEndpointParams{ID: endpoint.ID}))
	check(deleted.Response.Data.Deleted, "not deleted")

	unknown := paymesh.GetInvoiceParams{ID: uuid.MustParse("01920a4d-77c2-7e18-a6f4-1d3b5c7e9f0a")}
	refused := must[*paymesh.GetInvoiceNotFound](client.GetInvoice(ctx, unknown))
	check(refused.Response.Error.Code == os.Getenv("ERROR_CODE"), "another error")

	for _, name := range strings.Split(os.Getenv("EVENT_FILES"), ":") {
		text, err := os.ReadFile(name)
		check(err == nil, "no event")
		var event paymesh.Event
		check(json.Unmarshal(text, &event) == nil && event.Type != "" && event.Data.Object.Status != "", name+" not read")
	}
	fmt.Println("19 operations, an error and 16 events of a later server")
}
