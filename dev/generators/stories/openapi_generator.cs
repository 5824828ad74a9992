// Calls each operation once with the client that openapi-generator makes for C#, and reads events.

using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using Newtonsoft.Json;
using Paymesh.Api;
using Paymesh.Client;
using Paymesh.Model;

public static class Story
{
    static string Key() => Guid.NewGuid().ToString();

    static void Check(bool holds, string what)
    {
        if (!holds) throw new Exception(what);
    }

    static string Setting(string name) => Environment.GetEnvironmentVariable(name);

    public static void Main()
    {
        var configuration = new Configuration { BasePath = Setting("BASE_URL"), AccessToken = Setting("API_KEY") };
        var rates = new CurrenciesAndRatesApi(configuration);
        var products = new ProductsApi(configuration);
        var links = new PaymentLinksApi(configuration);
        var invoices = new InvoicesApi(configuration);
        var endpoints = new WebhookEndpointsApi(configuration);

        Check(rates.ListCurrencies().Data.Any(), "no currency");
        Check(rates.ListRates("USD").Data.Any(), "no rate");
        var sum = new EstimateRequest("10.00", EstimateRequest.CurrencyEnum.USD, EstimateRequest.AssetEnum.EthEthereum);
        Check(rates.CreateEstimate(sum, Key()).Data.Amount != "", "no amount");

        var ticket = new ProductCreate("Ticket", "24.95", ProductCreate.CurrencyEnum.USD);
        var product = products.CreateProduct(ticket, Key()).Data;
        Check(products.GetProduct(product.Id).Data.Name == "Ticket", "another name");
        Check(products.ListProducts(5).Data.Any(each => each.Id == product.Id), "product not listed");

        var link = links.CreatePaymentLink(new PaymentLinkCreate(productId: product.Id), Key()).Data;
        Check(links.GetPaymentLink(link.Id).Data.Status == "active", "link not active");
        Check(links.ListPaymentLinks(5).Data.Any(each => each.Id == link.Id), "link not listed");
        Check(links.DeactivatePaymentLink(link.Id, Key()).Data.Status == "inactive", "link still active");

        var order = new InvoiceCreate(
            amount: "24.95",
            currency: InvoiceCreate.CurrencyEnum.USD,
            asset: InvoiceCreate.AssetEnum.EthEthereum,
            orderId: "order-7731",
            metadata: new Dictionary<string, string> { { "channel", "web" } }
        );
        var invoice = invoices.CreateInvoice(order, Key()).Data;
        Check(invoice.Crypto.Address.StartsWith("0x"), "no address");
        var pay = new SimulateRequest(SimulateRequest.ScenarioEnum.Paid);
        Check(invoices.SimulateInvoice(invoice.Id, pay, Key()).Data.Status == "paid", "not paid");
        Check(invoices.GetInvoice(invoice.Id).Data.Metadata["channel"] == "web", "no metadata");
        Check(invoices.ListInvoices(5, orderId: "order-7731").Data.Any(each => each.Id == invoice.Id), "invoice not listed");
        Check(new PaymentsApi(configuration).ListPayments(invoiceId: invoice.Id).Data.Any(), "no payment");
        var other = invoices.CreateInvoice(new InvoiceCreate("1.00", InvoiceCreate.CurrencyEnum.EUR), Key()).Data;
        Check(invoices.CancelInvoice(other.Id, Key()).Data.Status == "cancelled", "not cancelled");

        var events = new List<WebhookEndpointCreate.EventsEnum> { WebhookEndpointCreate.EventsEnum.InvoicePaid };
        var endpoint = endpoints.CreateWebhookEndpoint(new WebhookEndpointCreate("http://localhost:9/hooks", events), Key()).Data;
        Check(endpoint.Secret.StartsWith("whsec_"), "no secret");
        Check(endpoints.ListWebhookEndpoints().Data.Any(each => each.Id == endpoint.Id), "endpoint not listed");
        Check(endpoints.DeleteWebhookEndpoint(endpoint.Id).Data.VarDeleted, "not deleted");

        try
        {
            invoices.GetInvoice(Guid.Parse("01920a4d-77c2-7e18-a6f4-1d3b5c7e9f0a"));
            throw new Exception("an unknown invoice was found");
        }
        catch (ApiException refused)
        {
            var code = JsonConvert.DeserializeObject<ErrorResponse>((string)refused.ErrorContent).Error.Code;
            Check(refused.ErrorCode == 404 && code == Setting("ERROR_CODE"), "another error");
        }

        foreach (var name in Setting("EVENT_FILES").Split(':'))
        {
            var read = JsonConvert.DeserializeObject<Event>(File.ReadAllText(name));
            Check(read.Type != "" && read.Data.Object.Status != "", name + " not read");
        }
        Console.WriteLine("19 operations, an error and 16 events of a later server");
    }
}
