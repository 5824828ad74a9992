// Plays conformance scenes: one JSON command a line from standard input, its result on a line of standard output (clients/README.md).
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"time"

	paymesh "github.com/paymesh/paymesh-go"
)

type command struct {
	Call      string          `json:"call"`
	API       string          `json:"api"`
	APIKey    string          `json:"api_key"`
	ID        string          `json:"id"`
	Key       string          `json:"key"`
	Query     map[string]any  `json:"query"`
	Body      json.RawMessage `json:"body"`
	Signature string          `json:"signature"`
	Secrets   []string        `json:"secrets"`
	Now       int64           `json:"now"`
	TimeoutS  float64         `json:"timeout_s"`
	Without   string          `json:"without"`
	Fails     string          `json:"fails"`
}

var (
	client *paymesh.Client
	waits  []float64
)

func (c command) bytes() (raw []byte) {
	if err := json.Unmarshal(c.Body, &raw); err != nil {
		panic(err)
	}
	return raw
}

func (c command) invoice() (body paymesh.InvoiceCreate) {
	if err := json.Unmarshal(c.Body, &body); err != nil {
		panic(err)
	}
	return body
}

func play(ctx context.Context, c command) (any, error) {
	switch c.Call {
	case "open":
		made, err := paymesh.New(c.APIKey, c.API)
		if err != nil {
			return nil, err
		}
		made.Sleep = func(_ context.Context, wait time.Duration) error {
			waits = append(waits, wait.Seconds())
			return nil
		}
		if c.TimeoutS > 0 {
			made.HTTP.Timeout = time.Duration(c.TimeoutS * float64(time.Second))
		}
		client = made
		return nil, nil
	case "create":
		return client.CreateInvoice(ctx, c.invoice(), c.Key)
	case "get":
		return client.GetInvoice(ctx, c.ID)
	case "cancel":
		return client.CancelInvoice(ctx, c.ID)
	case "delete":
		return client.DeleteWebhookEndpoint(ctx, c.ID)
	case "ensure":
		return client.EnsureInvoice(ctx, c.invoice())
	case "list":
		query := url.Values{}
		for name, value := range c.Query {
			query.Set(name, fmt.Sprint(value))
		}
		list, items := client.ListInvoices(query), []paymesh.Invoice{}
		for list.Next(ctx) {
			items = append(items, list.Item())
		}
		return items, list.Err()
	case "verify":
		event, err := paymesh.Verify(c.bytes(), c.Signature, c.Secrets, time.Unix(c.Now, 0))
		if _, forged := err.(*paymesh.WebhookRefused); err != nil && !forged {
			return nil, misuse{err}
		}
		if err != nil {
			return nil, err
		}
		return map[string]string{"id": event.ID, "type": event.Type}, nil
	case "handle":
		return handle(c)
	}
	return nil, errors.New("no command is called " + c.Call)
}

func handle(c command) (any, error) {
	called := []string{}
	note := func(name string) func(*paymesh.Invoice) error {
		if name == c.Without {
			return nil
		}
		return func(invoice *paymesh.Invoice) error {
			if c.Fails != "" {
				return errors.New("the database is down")
			}
			called = append(called, name+" "+invoice.Status)
			return nil
		}
	}
	callbacks := paymesh.Callbacks{Paid: note("paid"), Partly: note("partly"), Ended: note("ended"), Waiting: note("waiting")}
	handler, err := paymesh.NewHandler(client, c.Secrets, callbacks)
	if err != nil {
		return nil, misuse{err}
	}
	request := httptest.NewRequest("POST", "/", bytes.NewReader(c.bytes()))
	if c.Signature != "" {
		request.Header.Set("X-Webhook-Signature", c.Signature)
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	return map[string]any{"status": answer.Code, "text": string(bytes.TrimSpace(answer.Body.Bytes())), "called": called}, nil
}

// misuse marks what the client refuses before it does anything.
type misuse struct{ error }

func describe(err error) map[string]any {
	var refused *paymesh.APIError
	var failed *paymesh.ConnectionError
	var forged *paymesh.WebhookRefused
	var wrong misuse
	switch {
	case errors.As(err, &refused):
		return map[string]any{"kind": "api", "code": refused.Code, "status": refused.Status, "details": refused.Details, "request_id": refused.RequestID, "retryable": refused.Retryable()}
	case errors.As(err, &failed):
		var status *int
		if failed.Status != 0 {
			status = &failed.Status
		}
		return map[string]any{"kind": "connection", "status": status, "retryable": failed.Retryable(), "key": failed.IdempotencyKey}
	case errors.As(err, &forged):
		return map[string]any{"kind": "refused", "reason": forged.Reason}
	}
	if errors.As(err, &wrong) {
		return map[string]any{"kind": "misuse", "message": err.Error()}
	}
	return map[string]any{"kind": "other", "message": err.Error()}
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			panic(err)
		}
		waits = []float64{}
		result := map[string]any{}
		if ok, err := play(context.Background(), c); err != nil {
			result["error"] = describe(err)
		} else {
			result["ok"] = ok
		}
		result["waits"] = waits
		text, err := json.Marshal(result)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(text))
	}
}
