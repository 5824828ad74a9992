// Calls each operation once with the client that openapi-generator makes for Java, and reads events.

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.*;
import org.openapitools.client.model.*;

public class OpenapiGenerator {
    static String key() {
        return UUID.randomUUID().toString();
    }

    static void check(boolean holds, String what) {
        if (!holds) throw new AssertionError(what);
    }

    public static void main(String[] args) throws Exception {
        ApiClient client = new ApiClient().setBasePath(System.getenv("BASE_URL"));
        client.setBearerToken(System.getenv("API_KEY"));
        CurrenciesAndRatesApi rates = new CurrenciesAndRatesApi(client);
        ProductsApi products = new ProductsApi(client);
        PaymentLinksApi links = new PaymentLinksApi(client);
        InvoicesApi invoices = new InvoicesApi(client);
        WebhookEndpointsApi endpoints = new WebhookEndpointsApi(client);

        check(!rates.listCurrencies().getData().isEmpty(), "no currency");
        check(!rates.listRates("USD", null).getData().isEmpty(), "no rate");
        EstimateRequest sum = new EstimateRequest().amount("10.00");
        sum.currency(EstimateRequest.CurrencyEnum.USD).asset(EstimateRequest.AssetEnum.ETH_ETHEREUM);
        check(!rates.createEstimate(sum, key()).getData().getAmount().isEmpty(), "no amount");

        ProductCreate ticket = new ProductCreate().name("Ticket").price("24.95").currency(ProductCreate.CurrencyEnum.USD);
        Product product = products.createProduct(ticket, key()).getData();
        check(products.getProduct(product.getId()).getData().getName().equals("Ticket"), "another name");
        List<Product> listed = products.listProducts(5, null).getData();
        check(listed.stream().anyMatch(each -> each.getId().equals(product.getId())), "product not listed");

        PaymentLinkCreate terms = new PaymentLinkCreate().productId(product.getId());
        PaymentLink link = links.createPaymentLink(terms, key()).getData();
        check(links.getPaymentLink(link.getId()).getData().getStatus().equals("active"), "link not active");
        check(!links.listPaymentLinks(5, null).getData().isEmpty(), "no link listed");
        String ended = links.deactivatePaymentLink(link.getId(), key()).getData().getStatus();
        check(ended.equals("inactive"), "link still active");

        InvoiceCreate order = new InvoiceCreate().amount("24.95").currency(InvoiceCreate.CurrencyEnum.USD);
        order.asset(InvoiceCreate.AssetEnum.ETH_ETHEREUM).orderId("order-7731").metadata(Map.of("channel", "web"));
        Invoice invoice = invoices.createInvoice(order, key()).getData();
        check(Objects.requireNonNull(invoice.getCrypto()).getAddress().startsWith("0x"), "no address");
        SimulateRequest pay = new SimulateRequest().scenario(SimulateRequest.ScenarioEnum.PAID);
        check(invoices.simulateInvoice(invoice.getId(), pay, key()).getData().getStatus().equals("paid"), "not paid");
        Map<String, String> metadata = invoices.getInvoice(invoice.getId()).getData().getMetadata();
        check(metadata.equals(Map.of("channel", "web")), "no metadata");
        check(!invoices.listInvoices(5, null, null, "order-7731", null, null).getData().isEmpty(), "invoice not listed");
        check(!new PaymentsApi(client).listPayments(null, null, invoice.getId()).getData().isEmpty(), "no payment");
        InvoiceCreate second = new InvoiceCreate().amount("1.00").currency(InvoiceCreate.CurrencyEnum.EUR);
        Invoice other = invoices.createInvoice(second, key()).getData();
        check(invoices.cancelInvoice(other.getId(), key()).getData().getStatus().equals("cancelled"), "not cancelled");

        WebhookEndpointCreate address = new WebhookEndpointCreate().url(java.net.URI.create("http://localhost:9/hooks"));
        address.addEventsItem(WebhookEndpointCreate.EventsEnum.INVOICE_PAID);
        WebhookEndpointCreated endpoint = endpoints.createWebhookEndpoint(address, key()).getData();
        check(endpoint.getSecret().startsWith("whsec_"), "no secret");
        check(!endpoints.listWebhookEndpoints().getData().isEmpty(), "no endpoint listed");
        check(endpoints.deleteWebhookEndpoint(endpoint.getId()).getData().getDeleted(), "not deleted");

        try {
            invoices.getInvoice(UUID.fromString("01920a4d-77c2-7e18-a6f4-1d3b5c7e9f0a"));
            throw new AssertionError("an unknown invoice was found");
        } catch (ApiException refused) {
            String code = ErrorResponse.fromJson(refused.getResponseBody()).getError().getCode();
            check(refused.getCode() == 404 && code.equals(System.getenv("ERROR_CODE")), "another error");
        }

        for (String name : System.getenv("EVENT_FILES").split(":")) {
            Event event = Event.fromJson(Files.readString(Path.of(name)));
            check(!event.getType().isEmpty() && !event.getData().getObject().getStatus().isEmpty(), name + " not read");
        }
        System.out.println("19 operations, an error and 16 events of a later server");
    }
}
