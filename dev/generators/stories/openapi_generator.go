// Calls each operation once with the client that openapi-generator makes for Go, and reads an event.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"

	paymesh "example.com/paymesh"
)

func key() string { return rand.Text() }

func must[T any](answer T, response *http.Response, err error) T {
	if err != nil {
		panic(err)
	}
	return answer
}

func check(holds bool, what string) {
	if !holds {
		panic(what)
	}
}

func main() {
	configuration := paymesh.NewConfiguration()
	configuration.Servers = paymesh.ServerConfigurations{{URL: os.Getenv("BASE_URL")}}
	client := paymesh.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), paymesh.ContextAccessToken, os.Getenv("API_KEY"))
	rates, products, links := client.CurrenciesAndRatesAPI, client.ProductsAPI, client.PaymentLinksAPI
	invoices, endpoints := client.InvoicesAPI, client.WebhookEndpointsAPI

	check(len(must(rates.ListCurrencies(ctx).Execute()).Data) > 0, "no currency")
	check(len(must(rates.ListRates(ctx).Fiat("USD").Execute()).Data) > 0, "no rate")
	estimate := must(rates.CreateEstimate(ctx).IdempotencyKey(key()).EstimateRequest(*paymesh.NewEstimateRequest("10.00", "USD", "eth_ethereum")).Execute())
	check(estimate.Data.Amount != "", "no amount")

	product := must(products.CreateProduct(ctx).IdempotencyKey(key()).ProductCreate(*paymesh.NewProductCreate("Ticket", "24.95", "USD")).Execute()).Data
	check(must(products.GetProduct(ctx, product.Id).Execute()).Data.Name == "Ticket", "another name")
	listed := must(products.ListProducts(ctx).Limit(5).Execute()).Data
	check(slices.ContainsFunc(listed, func(each paymesh.Product) bool { return each.Id == product.Id }), "product not listed")

	terms := paymesh.NewPaymentLinkCreate()
	terms.SetProductId(product.Id)
	link := must(links.CreatePaymentLink(ctx).IdempotencyKey(key()).PaymentLinkCreate(*terms).Execute()).Data
	check(must(links.GetPaymentLink(ctx, link.Id).Execute()).Data.Status == "active", "link not active")
	check(len(must(links.ListPaymentLinks(ctx).Limit(5).Execute()).Data) > 0, "no link listed")
	check(must(links.DeactivatePaymentLink(ctx, link.Id).IdempotencyKey(key()).Execute()).Data.Status == "inactive", "link still active")

	order := paymesh.NewInvoiceCreate("24.95", "USD")
	order.SetAsset("eth_ethereum")
	order.SetOrderId("order-7731")
	order.SetMetadata(map[string]string{"channel": "web"})
	invoice := must(invoices.CreateInvoice(ctx).IdempotencyKey(key()).InvoiceCreate(*order).Execute()).Data
	crypto, isSet := invoice.GetCryptoOk()
	check(isSet && crypto != nil && strings.HasPrefix(crypto.Address, "0x"), "no address")
	paid := must(invoices.SimulateInvoice(ctx, invoice.Id).IdempotencyKey(key()).SimulateRequest(*paymesh.NewSimulateRequest("paid")).Execute()).Data
	check(paid.Status == "paid", "not paid")
	check(must(invoices.GetInvoice(ctx, invoice.Id).Execute()).Data.Metadata["channel"] == "web", "no metadata")
	check(len(must(invoices.ListInvoices(ctx).Limit(5).OrderId("order-7731").Execute()).Data) > 0, "invoice not listed")
	check(len(must(client.PaymentsAPI.ListPayments(ctx).InvoiceId(invoice.Id).Execute()).Data) > 0, "no payment")
	other := must(invoices.CreateInvoice(ctx).IdempotencyKey(key()).InvoiceCreate(*paymesh.NewInvoiceCreate("1.00", "EUR")).Execute()).Data
	check(must(invoices.CancelInvoice(ctx, other.Id).IdempotencyKey(key()).Execute()).Data.Status == "cancelled", "not cancelled")

	address := paymesh.NewWebhookEndpointCreate("http://localhost:9/hooks", []string{"invoice.paid"})
	endpoint := must(endpoints.CreateWebhookEndpoint(ctx).IdempotencyKey(key()).WebhookEndpointCreate(*address).Execute()).Data
	check(strings.HasPrefix(endpoint.Secret, "whsec_"), "no secret")
	check(len(must(endpoints.ListWebhookEndpoints(ctx).Execute()).Data) > 0, "no endpoint listed")
	check(must(endpoints.DeleteWebhookEndpoint(ctx, endpoint.Id).Execute()).Data.Deleted, "not deleted")

	_, response, err := invoices.GetInvoice(ctx, "01920a4d-77c2-7e18-a6f4-1d3b5c7e9f0a").Execute()
	var refused *paymesh.GenericOpenAPIError
	check(errors.As(err, &refused) && response.StatusCode == 404, "no error for an unknown invoice")
	model, isModel := refused.Model().(paymesh.ErrorResponse)
	check(isModel && model.Error.Code == os.Getenv("ERROR_CODE"), "another error")

	for _, name := range strings.Split(os.Getenv("EVENT_FILES"), ":") {
		text, err := os.ReadFile(name)
		check(err == nil, "no event")
		var event paymesh.Event
		check(json.Unmarshal(text, &event) == nil && event.Type != "" && event.Data.Object.Status != "", name+" not read")
	}
	fmt.Println("19 operations, an error and 16 events of a later server")
}
