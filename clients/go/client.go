// Package paymesh is a client for the Paymesh REST API. See README.md.
package paymesh

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	mathrand "math/rand"
	"net/http"
	"net/url"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Version of this package.
const Version = "1.0.0"

const (
	backoffFirst = 250 * time.Millisecond
	backoffCap   = 8 * time.Second
	// Requested waits longer than this, together with those of the call before, are returned as an error instead: a page of a shop waits for it.
	retryAfterMax = 60 * time.Second
	bodyMax       = 16 << 20
	ensureRounds  = 5
	// Keys of one attempt that refusals of one minute may have used up.
	keysMax = 20
	// More attempts than an order can have: a list that goes on is not believed.
	attemptsMax = 1000
)

var (
	liveKey      = regexp.MustCompile(`^[^_]+_live_`)
	visibleASCII = regexp.MustCompile(`^[\x21-\x7e]+$`)
	baseURLForm  = regexp.MustCompile(`^https?://[^?#]+$`)
	idForm       = regexp.MustCompile(`^[0-9A-Za-z-]+$`)
	seconds      = regexp.MustCompile(`^[0-9]+$`)
)

// APIError says that the API refused a call. Branch on Code; a later server may have more codes.
type APIError struct {
	Code      string
	Message   string
	Status    int
	Details   []ErrorDetail
	RequestID string
	// Replayed is true when it repeats the first answer of the idempotency key, of up to 24 hours ago; under another key it may be another one.
	Replayed  bool
	operation string
}

func (e *APIError) Error() string {
	fields := ""
	for _, each := range e.Details {
		fields += fmt.Sprintf(" %s: %s.", each.Path, each.Message)
	}
	return fmt.Sprintf("%s: %s%s (%s, %s)", e.Code, e.Message, fields, e.operation, e.RequestID)
}

// Retryable is true when the same call may succeed later.
func (e *APIError) Retryable() bool {
	return e.Status == 429 || e.Status >= 500 || e.Code == "IDEMPOTENCY_IN_PROGRESS"
}

// ConnectionError says that no answer of the API was read. Whether the call took effect is unknown: repeat a POST with the same key.
type ConnectionError struct {
	Status         int
	IdempotencyKey string
	operation      string
	cause          error
}

func (e *ConnectionError) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("not an answer of the API (%s, status %d)", e.operation, e.Status)
	}
	return fmt.Sprintf("the API was not reached (%s): %v", e.operation, e.cause)
}

// Unwrap returns what failed below.
func (e *ConnectionError) Unwrap() error { return e.cause }

// Retryable is true when the same call may succeed later.
func (e *ConnectionError) Retryable() bool {
	return e.Status == 0 || e.Status == 429 || e.Status >= 500
}

// Client has every operation of the API. Transient failures are retried with back-off; every POST carries an idempotency key, so a
// retry never acts twice. Safe for concurrent use.
type Client struct {
	apiKey  string
	baseURL string
	// HTTP sends the requests; it must not follow redirects, because a key must not be sent to a host that was not configured.
	HTTP *http.Client
	// MaxRetries after the first attempt.
	MaxRetries int
	// Sleep waits before a retry; for tests.
	Sleep func(context.Context, time.Duration) error
}

// New makes a client and sends nothing. The key is a secret of your server and decides the mode.
func New(apiKey, baseURL string) (*Client, error) {
	if !visibleASCII.MatchString(apiKey) {
		return nil, errors.New("apiKey must be an API key")
	}
	if !baseURLForm.MatchString(baseURL) {
		return nil, errors.New("baseURL must be the http(s) address of the API without a query")
	}
	client := &http.Client{
		Timeout:       30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &Client{apiKey: apiKey, baseURL: strings.TrimRight(baseURL, "/"), HTTP: client, MaxRetries: 4, Sleep: pause}, nil
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type envelope[T any] struct {
	Data  T         `json:"data"`
	Meta  *ListMeta `json:"meta"`
	Error *struct {
		Code    string        `json:"code"`
		Message string        `json:"message"`
		Details []ErrorDetail `json:"details"`
	} `json:"error"`
	RequestID string `json:"request_id"`
}

type call struct {
	method, path string
	query        url.Values
	body         any
	key          string
	isList       bool
	// Of a DELETE: its answer where an attempt without one has deleted it, so that the API finds nothing when it is repeated.
	gone any
}

// send makes a call; all attempts of a POST send the same bytes under one key.
func send[T any](ctx context.Context, c *Client, request call) (*envelope[T], error) {
	var body []byte
	if request.body != nil {
		var err error
		if body, err = json.Marshal(request.body); err != nil {
			return nil, err
		}
	}
	if request.method == http.MethodPost && request.key == "" {
		request.key = randomKey()
	}
	if request.key != "" && (len(request.key) > 255 || !visibleASCII.MatchString(request.key)) {
		return nil, errors.New("the idempotency key must be 1 to 255 visible ASCII characters")
	}
	waited := time.Duration(0)
	unclear := false
	for attempt := 0; ; attempt++ {
		answer, wait, err := attemptOnce[T](ctx, c, request, body)
		if err == nil {
			return answer, nil
		}
		if gone, ok := request.gone.(T); ok && unclear && isCode(err, "NOT_FOUND") {
			return &envelope[T]{Data: gone}, nil
		}
		var refused *APIError
		unclear = unclear || !errors.As(err, &refused) || refused.Status >= 500
		var failed interface{ Retryable() bool }
		if ctx.Err() != nil || attempt >= c.MaxRetries || !errors.As(err, &failed) || !failed.Retryable() || (wait >= 0 && wait > retryAfterMax-waited) {
			return nil, err
		}
		if wait < 0 {
			ceiling := time.Duration(math.Min(float64(backoffCap), float64(backoffFirst)*math.Pow(2, float64(attempt))))
			wait = ceiling/2 + time.Duration(mathrand.Int63n(int64(ceiling/2)+1))
		}
		if err := c.Sleep(ctx, wait); err != nil {
			return nil, err
		}
		waited += wait
	}
}

// attemptOnce returns an answer, or an error with the wait that the API requested; below zero when it requested none.
func attemptOnce[T any](ctx context.Context, c *Client, request call, body []byte) (*envelope[T], time.Duration, error) {
	target := c.baseURL + request.path
	if encoded := request.query.Encode(); encoded != "" {
		target += "?" + encoded
	}
	operation := request.method + " " + request.path
	sent, err := http.NewRequestWithContext(ctx, request.method, target, bytes.NewReader(body))
	if err != nil {
		return nil, -1, err
	}
	// Else net/http sends a POST with this header again on its own, beyond MaxRetries.
	sent.GetBody = nil
	sent.Header.Set("Accept", "application/json")
	sent.Header.Set("Authorization", "Bearer "+c.apiKey)
	sent.Header.Set("User-Agent", "paymesh-client-go/"+Version)
	if request.key != "" {
		sent.Header.Set("Idempotency-Key", request.key)
	}
	if body != nil {
		sent.Header.Set("Content-Type", "application/json")
	}
	failed := &ConnectionError{IdempotencyKey: request.key, operation: operation}
	response, err := c.HTTP.Do(sent)
	if err != nil {
		failed.cause = err
		return nil, -1, failed
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(response.Body, bodyMax))
	if err == nil && bytes.HasPrefix(raw, []byte("{")) && !json.Valid(raw) {
		// An answer whose end is missing, where the connection does not show it: the call may have taken effect.
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		failed.cause = err
		return nil, -1, failed
	}
	wait := retryAfter(response.Header.Get("Retry-After"))
	var read envelope[T]
	err = json.Unmarshal(raw, &read)
	if err == nil && read.RequestID != "" && read.Error != nil && read.Error.Code != "" {
		details := []ErrorDetail{}
		for _, each := range read.Error.Details {
			if each.Path != "" && each.Message != "" {
				details = append(details, each)
			}
		}
		replayed := response.Header.Get("Idempotent-Replayed") == "true"
		return nil, wait, &APIError{read.Error.Code, read.Error.Message, response.StatusCode, details, read.RequestID, replayed, operation}
	}
	if err != nil || read.RequestID == "" || response.StatusCode < 200 || response.StatusCode > 299 || !hasContent(raw, request.isList) {
		failed.Status, failed.cause = response.StatusCode, err
		return nil, wait, failed
	}
	return &read, -1, nil
}

// retryAfter is whole seconds or an HTTP date (RFC 9110 §10.2.3), from now; below zero when absent or unreadable.
func retryAfter(text string) time.Duration {
	if seconds.MatchString(text) {
		count, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return math.MaxInt64
		}
		return time.Duration(count) * time.Second
	}
	at, err := time.Parse(http.TimeFormat, text)
	if err != nil {
		return -1
	}
	if wait := time.Until(at); wait > 0 {
		return wait
	}
	return 0
}

// hasContent is false for a success without a resource, and for a page without its place: a list would end early.
func hasContent(raw []byte, isList bool) bool {
	var read struct {
		Data json.RawMessage `json:"data"`
		Meta *struct {
			HasMore    *bool           `json:"has_more"`
			NextCursor json.RawMessage `json:"next_cursor"`
		} `json:"meta"`
	}
	if json.Unmarshal(raw, &read) != nil || len(read.Data) == 0 {
		return false
	}
	if !isList {
		return read.Data[0] == '{'
	}
	return read.Data[0] == '[' && read.Meta != nil && read.Meta.HasMore != nil && len(read.Meta.NextCursor) > 0
}

func randomKey() string {
	var random [16]byte
	if _, err := rand.Read(random[:]); err != nil {
		panic(err)
	}
	return hex.EncodeToString(random[:])
}

func idPath(form, id string) (string, error) {
	if !idForm.MatchString(id) {
		return "", errors.New("id must be the id of a resource")
	}
	return strings.Replace(form, "{id}", id, 1), nil
}

func get[T any](ctx context.Context, c *Client, form, id string) (*T, error) {
	path, err := idPath(form, id)
	if err != nil {
		return nil, err
	}
	return one[T](send[T](ctx, c, call{method: http.MethodGet, path: path}))
}

func post[T any](ctx context.Context, c *Client, path string, body any, key string) (*T, error) {
	return one[T](send[T](ctx, c, call{method: http.MethodPost, path: path, body: body, key: key}))
}

func postTo[T any](ctx context.Context, c *Client, form, id string, body any, key string) (*T, error) {
	path, err := idPath(form, id)
	if err != nil {
		return nil, err
	}
	return post[T](ctx, c, path, body, key)
}

func one[T any](answer *envelope[T], err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return &answer.Data, nil
}

// List walks all pages of a list, newest first. Use it as: for list.Next(ctx) { list.Item() }, then check list.Err().
type List[T any] struct {
	client *Client
	path   string
	query  url.Values
	page   []T
	at     int
	passed map[string]bool
	done   bool
	err    error
}

// Next moves to the next item, and fetches the next page when it is needed.
func (l *List[T]) Next(ctx context.Context) bool {
	l.at++
	for l.err == nil && l.at >= len(l.page) && !l.done {
		cursor := l.query.Get("cursor")
		// A cursor that comes again would repeat the same items forever, and an empty page may never end.
		if l.passed[cursor] || (l.page != nil && len(l.page) == 0) {
			l.err = fmt.Errorf("GET %s: the list does not advance", l.path)
			return false
		}
		l.passed[cursor] = true
		answer, err := send[[]T](ctx, l.client, call{method: http.MethodGet, path: l.path, query: l.query, isList: true})
		if err != nil {
			l.err = err
			return false
		}
		l.page, l.at = answer.Data, 0
		l.done = !answer.Meta.HasMore || answer.Meta.NextCursor == nil
		if !l.done {
			l.query.Set("cursor", *answer.Meta.NextCursor)
		}
	}
	return l.err == nil && l.at < len(l.page)
}

// Item is the present item.
func (l *List[T]) Item() T { return l.page[l.at] }

// Err is what ended the list early; nil at its end.
func (l *List[T]) Err() error { return l.err }

func newList[T any](c *Client, path string, query url.Values) *List[T] {
	copied := url.Values{}
	for name, values := range query {
		copied[name] = values
	}
	return &List[T]{client: c, path: path, query: copied, at: -1, passed: map[string]bool{}}
}

// CreateInvoice prices something in fiat. An empty key is replaced by a random one, which the retries keep.
func (c *Client) CreateInvoice(ctx context.Context, body InvoiceCreate, key string) (*Invoice, error) {
	return post[Invoice](ctx, c, "/invoices", body, key)
}

// GetInvoice reads an invoice.
func (c *Client) GetInvoice(ctx context.Context, id string) (*Invoice, error) {
	return get[Invoice](ctx, c, "/invoices/{id}", id)
}

// ListInvoices takes status, order_id, created_after, created_before and limit.
func (c *Client) ListInvoices(query url.Values) *List[Invoice] {
	return newList[Invoice](c, "/invoices", query)
}

// CancelInvoice cancels an invoice that has received nothing; otherwise the error is INVALID_STATE.
func (c *Client) CancelInvoice(ctx context.Context, id string) (*Invoice, error) {
	return postTo[Invoice](ctx, c, "/invoices/{id}/cancel", id, nil, "")
}

// SimulateInvoice is for test keys: paid, partial, overpaid or expired, with the same events as real money.
func (c *Client) SimulateInvoice(ctx context.Context, id, scenario string) (*Invoice, error) {
	return postTo[Invoice](ctx, c, "/test/invoices/{id}/simulate", id, SimulateRequest{Scenario: scenario}, "")
}

// EnsureInvoice returns the invoice by which the order body.OrderID is to be paid now: the one with money, however old, else the newest
// that lives, else the next attempt, under the key order-<order id>-<attempt>. Calls at the same time get the same invoice; others that wait
// are cancelled. With another price or coin the old invoice is cancelled first; when money has come for it, it is returned as it is: compare
// Amount and Status.
func (c *Client) EnsureInvoice(ctx context.Context, body InvoiceCreate) (*Invoice, error) {
	if body.OrderID == nil || *body.OrderID == "" {
		return nil, errors.New("EnsureInvoice needs an OrderID")
	}
	usedUp := map[string]bool{}
	minute := time.Now().Unix() / 60
	for round := 0; round < ensureRounds+len(usedUp); round++ {
		attempts := c.ListInvoices(url.Values{"order_id": {*body.OrderID}, "limit": {"100"}})
		var living []Invoice
		count := 0
		for attempts.Next(ctx) {
			if item := attempts.Item(); !hasEnded(item.Status) {
				living = append(living, item)
			}
			if count++; count > attemptsMax {
				return nil, fmt.Errorf("order %s: it has more than %d invoices", *body.OrderID, attemptsMax)
			}
		}
		if attempts.Err() != nil {
			return nil, attempts.Err()
		}
		sort.SliceStable(living, func(i, j int) bool { return progress(living[i].Status) > progress(living[j].Status) })
		for i, other := range living {
			// An older one was paid late, or two were opened at once: nobody must be asked to pay the order twice.
			if i == 0 || progress(other.Status) > 0 {
				continue
			}
			if _, err := c.CancelInvoice(ctx, other.ID); err != nil && !isCode(err, "INVALID_STATE") {
				return nil, err
			}
		}
		if len(living) > 0 {
			one := &living[0]
			if progress(one.Status) == 0 && !sameTerms(one, body) {
				if _, err := c.CancelInvoice(ctx, one.ID); err == nil {
					continue
				} else if !isCode(err, "INVALID_STATE") {
					return nil, err
				}
			}
			// It may have ended since the list was read.
			if kept, err := c.GetInvoice(ctx, one.ID); err != nil || !hasEnded(kept.Status) {
				return kept, err
			}
			continue
		}
		key := keyFor(fmt.Sprintf("order-%s-%d", orderKey(*body.OrderID), count+1), minute, usedUp)
		made, err := c.CreateInvoice(ctx, body, key)
		var refused *APIError
		if len(usedUp) < keysMax && errors.As(err, &refused) && (refused.Replayed || refused.Code == "IDEMPOTENCY_MISMATCH") {
			// Its stored answer is a refusal of before, or another call was faster with other terms, which the list shows.
			usedUp[key] = true
			continue
		}
		if err != nil {
			return nil, err
		}
		// A repeated answer shows the invoice as it was when it was created.
		current, err := c.GetInvoice(ctx, made.ID)
		if err != nil || !hasEnded(current.Status) {
			return current, err
		}
	}
	return nil, fmt.Errorf("order %s: other calls keep opening and ending its invoices", *body.OrderID)
}

// keyFor is the key of an attempt, or one of this minute (.29402222, .29402222.2) while refusals have used it up: the API repeats a refusal
// for a day, and the shop may have removed its cause since.
func keyFor(attempt string, minute int64, usedUp map[string]bool) string {
	key := attempt
	for count := 1; usedUp[key]; count++ {
		key = fmt.Sprintf("%s.%d", attempt, minute)
		if count > 1 {
			key = fmt.Sprintf("%s.%d.%d", attempt, minute, count)
		}
	}
	return key
}

// progress is how far the money of an invoice is; 3 for one that is paid, or has a status that this version does not have.
func progress(status string) int {
	switch status {
	case "new", "pending":
		return 0
	case "partial":
		return 1
	case "confirming":
		return 2
	}
	return 3
}

func hasEnded(status string) bool { return status == "expired" || status == "cancelled" }

func isCode(err error, code string) bool {
	var refused *APIError
	return errors.As(err, &refused) && refused.Code == code
}

func sameTerms(invoice *Invoice, body InvoiceCreate) bool {
	sameCoin := body.Asset == nil || *body.Asset == "" || (invoice.Crypto != nil && invoice.Crypto.Asset == *body.Asset)
	return invoice.Amount.Currency == body.Currency && plain(invoice.Amount.Value) == plain(body.Amount) && sameCoin
}

// plain is a decimal without zeros that do not count.
func plain(amount string) string {
	if !strings.Contains(amount, ".") {
		return amount
	}
	return strings.TrimRight(strings.TrimRight(amount, "0"), ".")
}

// orderKey is visible ASCII, different for different orders, and the same in every client.
func orderKey(orderID string) string {
	text := strings.ReplaceAll(url.QueryEscape(orderID), "+", "%20")
	if len(text) <= 200 {
		return text
	}
	digest := sha256.Sum256([]byte(text))
	return hex.EncodeToString(digest[:])
}

// CreatePaymentLink makes a page that creates an invoice for each payer.
func (c *Client) CreatePaymentLink(ctx context.Context, body PaymentLinkCreate, key string) (*PaymentLink, error) {
	return post[PaymentLink](ctx, c, "/payment-links", body, key)
}

// GetPaymentLink reads a payment link.
func (c *Client) GetPaymentLink(ctx context.Context, id string) (*PaymentLink, error) {
	return get[PaymentLink](ctx, c, "/payment-links/{id}", id)
}

// ListPaymentLinks lists all payment links.
func (c *Client) ListPaymentLinks(query url.Values) *List[PaymentLink] {
	return newList[PaymentLink](c, "/payment-links", query)
}

// DeactivatePaymentLink ends a payment link for new payers.
func (c *Client) DeactivatePaymentLink(ctx context.Context, id string) (*PaymentLink, error) {
	return postTo[PaymentLink](ctx, c, "/payment-links/{id}/deactivate", id, nil, "")
}

// CreateProduct makes something that payment links sell.
func (c *Client) CreateProduct(ctx context.Context, body ProductCreate, key string) (*Product, error) {
	return post[Product](ctx, c, "/products", body, key)
}

// GetProduct reads a product.
func (c *Client) GetProduct(ctx context.Context, id string) (*Product, error) {
	return get[Product](ctx, c, "/products/{id}", id)
}

// ListProducts lists all products.
func (c *Client) ListProducts(query url.Values) *List[Product] {
	return newList[Product](c, "/products", query)
}

// ListPayments takes invoice_id and limit.
func (c *Client) ListPayments(query url.Values) *List[Payment] {
	return newList[Payment](c, "/payments", query)
}

// ListCurrencies lists every supported asset and whether this workspace can receive it now.
func (c *Client) ListCurrencies() *List[Currency] { return newList[Currency](c, "/currencies", nil) }

// ListRates takes fiat and asset.
func (c *Client) ListRates(query url.Values) *List[Rate] { return newList[Rate](c, "/rates", query) }

// CreateEstimate converts a price at the current rate; nothing is locked.
func (c *Client) CreateEstimate(ctx context.Context, body EstimateRequest) (*Estimate, error) {
	return post[Estimate](ctx, c, "/estimate", body, "")
}

// CreateWebhookEndpoint registers an endpoint. Only this answer has the Secret: store it. Warning tells of another one with the same URL.
func (c *Client) CreateWebhookEndpoint(ctx context.Context, body WebhookEndpointCreate, key string) (*WebhookEndpointCreated, error) {
	return post[WebhookEndpointCreated](ctx, c, "/webhook-endpoints", body, key)
}

// ListWebhookEndpoints lists all endpoints of the key's mode.
func (c *Client) ListWebhookEndpoints() *List[WebhookEndpoint] {
	return newList[WebhookEndpoint](c, "/webhook-endpoints", nil)
}

// DeleteWebhookEndpoint deletes an endpoint with its pending deliveries.
func (c *Client) DeleteWebhookEndpoint(ctx context.Context, id string) (*Deleted, error) {
	path, err := idPath("/webhook-endpoints/{id}", id)
	if err != nil {
		return nil, err
	}
	return one[Deleted](send[Deleted](ctx, c, call{method: http.MethodDelete, path: path, gone: Deleted{ID: id, Object: "webhook_endpoint", Deleted: true}}))
}
