package paymesh

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log"
	"math/big"
	"net/http"
	"regexp"
	"strconv"
	"time"
	"unicode/utf8"
)

const (
	tolerance     = 300
	deliveryBytes = 1 << 20
)

var signatureForm = regexp.MustCompile(`^t=([0-9]{1,12}),v1=([0-9a-f]{64})$`)

// WebhookRefused says why a request is not from Paymesh, or too old: answer 400 and do nothing.
type WebhookRefused struct{ Reason string }

func (e *WebhookRefused) Error() string { return "the webhook was refused: " + e.Reason }

// checkSecrets refuses what no delivery can be signed with. An HMAC under an empty key can be forged by anyone.
func checkSecrets(secrets []string) error {
	isMissing := len(secrets) == 0
	for _, secret := range secrets {
		isMissing = isMissing || secret == ""
	}
	if isMissing {
		return errors.New("secrets must be the whsec_... secret of the endpoint")
	}
	return nil
}

// Verify returns the event of a genuine delivery: signature is the header X-Webhook-Signature, rawBody the bytes as received. Two secrets
// while one is replaced; without a secret, or with an empty one, nothing is verified. Any error but a *WebhookRefused is wrong use.
func Verify(rawBody []byte, signature string, secrets []string, now time.Time) (*Event, error) {
	if err := checkSecrets(secrets); err != nil {
		return nil, err
	}
	if signature == "" {
		return nil, &WebhookRefused{"missing_signature"}
	}
	parts := signatureForm.FindStringSubmatch(signature)
	if parts == nil {
		return nil, &WebhookRefused{"malformed_signature"}
	}
	given, _ := hex.DecodeString(parts[2])
	genuine := false
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(parts[1] + "."))
		mac.Write(rawBody)
		genuine = hmac.Equal(mac.Sum(nil), given) || genuine
	}
	if !genuine {
		return nil, &WebhookRefused{"signature_mismatch"}
	}
	t, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || now.Unix()-t > tolerance || t-now.Unix() > tolerance {
		return nil, &WebhookRefused{"timestamp_out_of_range"}
	}
	event := readEvent(rawBody)
	if event == nil {
		return nil, &WebhookRefused{"malformed_event"}
	}
	return event, nil
}

// readEvent reads an event about an invoice whole, and of one about something that a later server may add only what names it.
func readEvent(rawBody []byte) *Event {
	var named struct {
		ID         string `json:"id"`
		Object     string `json:"object"`
		Type       string `json:"type"`
		APIVersion string `json:"api_version"`
		Livemode   bool   `json:"livemode"`
		CreatedAt  string `json:"created_at"`
		Data       struct {
			Object *struct {
				ID     string `json:"id"`
				Object string `json:"object"`
			} `json:"object"`
		} `json:"data"`
	}
	if !utf8.Valid(rawBody) || json.Unmarshal(rawBody, &named) != nil || named.Object != "event" || named.ID == "" || named.Type == "" || named.Data.Object == nil {
		return nil
	}
	if named.Data.Object.Object != "invoice" {
		about := Invoice{ID: named.Data.Object.ID, Object: named.Data.Object.Object}
		return &Event{ID: named.ID, Object: named.Object, Type: named.Type, ApiVersion: named.APIVersion, Livemode: named.Livemode, CreatedAt: named.CreatedAt, Data: EventData{Object: about}}
	}
	var event Event
	if json.Unmarshal(rawBody, &event) != nil || event.Data.Object.ID == "" {
		return nil
	}
	return &event
}

// Callbacks are what a handler calls, each with the invoice as it is now. They may run more than once for one invoice: let them use Decide
// and store its result at once. An error is logged and answered with 500, and the delivery comes again.
type Callbacks struct {
	// Paid is called with an invoice that is paid or overpaid.
	Paid func(*Invoice) error
	// Partly is called with one that is partial or confirming: money was seen, and is not enough or not confirmed.
	Partly func(*Invoice) error
	// Ended is called with one that is expired or cancelled; some of the money may have come.
	Ended func(*Invoice) error
	// Waiting, which may be nil, is called with one that is new or pending.
	Waiting func(*Invoice) error
}

// Handler takes deliveries: it verifies each, reads the invoice as it is now (events come twice and out of order), and calls a callback
// with it. NewHandler makes one; the zero Handler accepts nothing.
type Handler struct {
	client    *Client
	secrets   []string
	callbacks map[string]func(*Invoice) error
}

// NewHandler makes a handler. It refuses one that would accept deliveries and tell nobody: without a client or a secret, or with a callback
// other than Waiting missing.
func NewHandler(client *Client, secrets []string, callbacks Callbacks) (*Handler, error) {
	if client == nil || callbacks.Paid == nil || callbacks.Partly == nil || callbacks.Ended == nil {
		return nil, errors.New("a handler needs a client and the callbacks Paid, Partly and Ended")
	}
	if err := checkSecrets(secrets); err != nil {
		return nil, err
	}
	waiting := callbacks.Waiting
	if waiting == nil {
		waiting = func(*Invoice) error { return nil }
	}
	return &Handler{client, secrets, map[string]func(*Invoice) error{
		"new": waiting, "pending": waiting,
		"partial": callbacks.Partly, "confirming": callbacks.Partly,
		"paid": callbacks.Paid, "overpaid": callbacks.Paid,
		"expired": callbacks.Ended, "cancelled": callbacks.Ended,
	}}, nil
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rawBody, err := io.ReadAll(http.MaxBytesReader(w, r.Body, deliveryBytes))
	if err != nil {
		http.Error(w, "the body was not read", http.StatusBadRequest)
		return
	}
	event, err := Verify(rawBody, r.Header.Get("X-Webhook-Signature"), h.secrets, time.Now())
	var refused *WebhookRefused
	if errors.As(err, &refused) {
		http.Error(w, refused.Reason, http.StatusBadRequest)
		return
	}
	// An endpoint of both modes is told about tests, whose invoices a live key does not see.
	if err == nil && event.Type != "webhook.test" && event.Data.Object.Object == "invoice" && (event.Livemode || !liveKey.MatchString(h.client.apiKey)) {
		var invoice *Invoice
		if invoice, err = h.client.GetInvoice(r.Context(), event.Data.Object.ID); err == nil {
			// A status of a later server calls nothing.
			if callback := h.callbacks[invoice.Status]; callback != nil {
				err = callback(invoice)
			}
		}
	}
	if err != nil {
		log.Printf("paymesh: a delivery was not handled and comes again: %v", err)
		http.Error(w, "not handled", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// Decision is what to do, the order's state afterwards, and the money of this invoice to return, in base units of its asset.
type Decision struct {
	Action   string
	Order    string
	ToReturn *big.Int
}

// Decide decides about the current invoice of an order: open, released, shipped (because of this invoice), settled (in another way) or
// cancelled. Call it in the transaction that stores the result, with the order's row locked; repeating it changes nothing.
func Decide(order string, invoice *Invoice) Decision {
	row, known := fulfilmentTable[[2]string{order, invoice.Status}]
	if !known {
		if _, isOrder := fulfilmentTable[[2]string{order, "new"}]; !isOrder {
			panic("an order is never " + order)
		}
		// A status of a later server: nothing is decided by what nobody understands.
		return Decision{"none", order, new(big.Int)}
	}
	return Decision{row[0], row[1], toReturn(row[2], invoice)}
}

func toReturn(returns string, invoice *Invoice) *big.Int {
	confirmed, _ := new(big.Int).SetString(invoice.Received.ConfirmedBaseUnits, 10)
	if returns == "all" && confirmed != nil {
		return confirmed
	}
	if returns == "nothing" || invoice.Status != "overpaid" || invoice.Crypto == nil || confirmed == nil {
		return new(big.Int)
	}
	due, _ := new(big.Int).SetString(invoice.Crypto.AmountBaseUnits, 10)
	if due == nil || confirmed.Cmp(due) <= 0 {
		return new(big.Int)
	}
	return confirmed.Sub(confirmed, due)
}
