// Calls each operation once with the client of oapi-codegen, and reads an event.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"

	paymesh "example.com/paymesh"
	"github.com/google/uuid"
)

func key() *string {
	text := rand.Text()
	return &text
}

func check(holds bool, what string) {
	if !holds {
		panic(what)
	}
}

func ok[T any](answer *T, err error) *T {
	if err != nil {
		panic(err)
	}
	return answer
}

func main() {
	ctx := context.Background()
	withKey := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
		return nil
	}
	client, err := paymesh.NewClientWithResponses(os.Getenv("BASE_URL"), paymesh.WithRequestEditorFn(withKey))
	check(err == nil, "no client")
	five := int32(5)

	check(len(ok(client.ListCurrenciesWithResponse(ctx)).JSON200.Data) > 0, "no currency")
	check(len(ok(client.ListRatesWithResponse(ctx, &paymesh.ListRatesParams{})).JSON200.Data) > 0, "no rate")
	estimate := paymesh.EstimateRequest{Amount: "10.00", Currency: "USD", Asset: "eth_ethereum"}
	check(ok(client.CreateEstimateWithResponse(ctx, &paymesh.CreateEstimateParams{IdempotencyKey: key()}, estimate)).JSON200.Data.Amount != "", "no amount")

	ticket := paymesh.ProductCreate{Name: "Ticket", Price: "24.95", Currency: "USD"}
	product := ok(client.CreateProductWithResponse(ctx, &paymesh.CreateProductParams{IdempotencyKey: key()}, ticket)).JSON201.Data
	check(ok(client.GetProductWithResponse(ctx, product.Id)).JSON200.Data.Name == "Ticket", "another name")
	check(len(ok(client.ListProductsWithResponse(ctx, &paymesh.ListProductsParams{Limit: &five})).JSON200.Data) > 0, "no product listed")

	terms := paymesh.PaymentLinkCreate{ProductId: &product.Id}
	link := ok(client.CreatePaymentLinkWithResponse(ctx, &paymesh.CreatePaymentLinkParams{IdempotencyKey: key()}, terms)).JSON201.Data
	check(ok(client.GetPaymentLinkWithResponse(ctx, link.Id)).JSON200.Data.Status == "active", "link not active")
	check(len(ok(client.ListPaymentLinksWithResponse(ctx, &paymesh.ListPaymentLinksParams{Limit: &five})).JSON200.Data) > 0, "no link listed")
	ended := ok(client.DeactivatePaymentLinkWithResponse(ctx, link.Id, &paymesh.DeactivatePaymentLinkParams{IdempotencyKey: key()}))
	check(ended.JSON200.Data.Status == "inactive", "link still active")

	asset, reference := paymesh.InvoiceCreateAsset("eth_ethereum"), "order-7731"
	metadata := map[string]string{"channel": "web"}
	order := paymesh.InvoiceCreate{Amount: "24.95", Currency: "USD", Asset: &asset, OrderId: &reference, Metadata: &metadata}
	invoice := ok(client.CreateInvoiceWithResponse(ctx, &paymesh.CreateInvoiceParams{IdempotencyKey: key()}, order)).JSON201.Data
	check(invoice.Crypto != nil && strings.HasPrefix(invoice.Crypto.Address, "0x"), "no address")
	simulated := ok(client.SimulateInvoiceWithResponse(ctx, invoice.Id, &paymesh.SimulateInvoiceParams{IdempotencyKey: key()}, paymesh.SimulateRequest{Scenario: "paid"}))
	check(simulated.JSON200.Data.Status == "paid", "not paid")
	check(ok(client.GetInvoiceWithResponse(ctx, invoice.Id)).JSON200.Data.Metadata["channel"] == "web", "no metadata")
	check(len(ok(client.ListInvoicesWithResponse(ctx, &paymesh.ListInvoicesParams{Limit: &five, OrderId: &reference})).JSON200.Data) > 0, "invoice not listed")
	check(len(ok(client.ListPaymentsWithResponse(ctx, &paymesh.ListPaymentsParams{InvoiceId: &invoice.Id})).JSON200.Data) > 0, "no payment")
	other := ok(client.CreateInvoiceWithResponse(ctx, &paymesh.CreateInvoiceParams{IdempotencyKey: key()}, paymesh.InvoiceCreate{Amount: "1.00", Currency: "EUR"})).JSON201.Data
	check(ok(client.CancelInvoiceWithResponse(ctx, other.Id, &paymesh.CancelInvoiceParams{IdempotencyKey: key()})).JSON200.Data.Status == "cancelled", "not cancelled")

	address := paymesh.WebhookEndpointCreate{Url: "http://localhost:9/hooks", Events: []paymesh.WebhookEndpointCreateEvents{"invoice.paid"}}
	endpoint := ok(client.CreateWebhookEndpointWithResponse(ctx, &paymesh.CreateWebhookEndpointParams{IdempotencyKey: key()}, address)).JSON201.Data
	check(strings.HasPrefix(endpoint.Secret, "whsec_"), "no secret")
	check(len(ok(client.ListWebhookEndpointsWithResponse(ctx)).JSON200.Data) > 0, "no endpoint listed")
	check(ok(client.DeleteWebhookEndpointWithResponse(ctx, endpoint.Id)).JSON200.Data.Deleted, "not deleted")

	refused := ok(client.GetInvoiceWithResponse(ctx, uuid.New()))
	check(refused.JSON404 != nil && refused.JSON404.Error.Code == os.Getenv("ERROR_CODE"), "no error for an unknown invoice, but "+refused.Status())

	for _, name := range strings.Split(os.Getenv("EVENT_FILES"), ":") {
		text, err := os.ReadFile(name)
		check(err == nil, "no event")
		var event paymesh.Event
		check(json.Unmarshal(text, &event) == nil && event.Type != "" && event.Data.Object.Status != "", name+" not read")
	}
	fmt.Println("19 operations, an error and 16 events of a later server")
}
