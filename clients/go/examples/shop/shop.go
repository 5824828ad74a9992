// A whole shop in one file: an order is paid by crypto (or by card), ships once, and money to return is listed. A real shop keeps the orders
// in its database and locks the order's row where this one has a mutex.
//
//	PAYMESH_API=... PAYMESH_KEY=... PAYMESH_SECRET=... PORT=8000 go run ./examples/shop
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"

	paymesh "github.com/paymesh/paymesh-go"
)

type order struct {
	State     string            `json:"state"`
	Shipments int               `json:"shipments"`
	Returns   map[string]string `json:"returns"`
	Invoice   string            `json:"invoice"`
	shippedBy string
	seen      map[string]string
}

type shop struct {
	client *paymesh.Client
	mutex  sync.Mutex
	orders map[string]*order
}

// settle decides about an order by its invoice as it is now; it may run any number of times.
func (s *shop) settle(invoice *paymesh.Invoice) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.settleLocked(invoice)
}

func (s *shop) settleLocked(invoice *paymesh.Invoice) error {
	if invoice.OrderID == nil {
		return nil
	}
	o := s.orders[*invoice.OrderID]
	// An older picture of the invoice than the last one decides nothing.
	if o == nil || invoice.UpdatedAt < o.seen[invoice.ID] {
		return nil
	}
	o.seen[invoice.ID] = invoice.UpdatedAt
	other := o.State == "shipped" && o.shippedBy != invoice.ID
	state := o.State
	if other {
		state = "settled"
	}
	decision := paymesh.Decide(state, invoice)
	if decision.Action == "ship" || decision.Action == "reserve_and_ship" {
		o.Shipments++
		o.shippedBy = invoice.ID
	}
	if decision.Action == "cancel_invoice" {
		if err := s.cancel(invoice.ID); err != nil {
			return err
		}
	}
	current := invoice.ID == o.Invoice
	if !other && (decision.Action != "release" || current) {
		o.State = decision.Order
	}
	delete(o.Returns, invoice.ID)
	if decision.ToReturn.Sign() > 0 {
		o.Returns[invoice.ID] = decision.ToReturn.String()
	}
	if decision.Order == "shipped" && !current {
		return s.cancel(o.Invoice)
	}
	return nil
}

func (s *shop) cancel(id string) error {
	_, err := s.client.CancelInvoice(context.Background(), id)
	var refused *paymesh.APIError
	// Money has come, or it has ended: its events say what to do.
	if errors.As(err, &refused) && refused.Code == "INVALID_STATE" {
		return nil
	}
	return err
}

// checkout returns the page where the order is paid; none when it is not to be paid any more.
func (s *shop) checkout(id string, terms paymesh.InvoiceCreate) (string, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.orders[id] == nil {
		s.orders[id] = &order{State: "open", Returns: map[string]string{}, seen: map[string]string{}}
	}
	o := s.orders[id]
	if o.State != "open" && o.State != "released" {
		return "", nil
	}
	terms.OrderID = &id
	invoice, err := s.client.EnsureInvoice(context.Background(), terms)
	if err != nil {
		return "", err
	}
	o.Invoice, o.State = invoice.ID, "open"
	if err := s.settleLocked(invoice); err != nil || o.State != "open" {
		return "", err
	}
	return invoice.Urls.Checkout, nil
}

// endOtherwise is for an order that is paid by card (settled) or given up (cancelled).
func (s *shop) endOtherwise(id, state string) (bool, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	o := s.orders[id]
	if o.State != "open" && o.State != "released" {
		return false, nil
	}
	o.State = state
	if state == "settled" {
		o.Shipments++
	}
	invoice, err := s.client.GetInvoice(context.Background(), o.Invoice)
	if err != nil {
		return true, err
	}
	return true, s.settleLocked(invoice)
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(r.URL.Path, "/")
	if r.Method == http.MethodGet {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		_ = json.NewEncoder(w).Encode(s.orders[parts[2]])
		return
	}
	id, action := parts[2], parts[3]
	done, page, err := true, "", error(nil)
	switch action {
	case "checkout":
		var terms paymesh.InvoiceCreate
		if err = json.NewDecoder(r.Body).Decode(&terms); err == nil {
			page, err = s.checkout(id, terms)
			done = page != ""
		}
	case "card":
		done, err = s.endOtherwise(id, "settled")
	default:
		done, err = s.endOtherwise(id, "cancelled")
	}
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case !done:
		w.WriteHeader(http.StatusConflict)
	case page != "":
		http.Redirect(w, r, page, http.StatusSeeOther)
	}
}

func main() {
	client, err := paymesh.New(os.Getenv("PAYMESH_KEY"), os.Getenv("PAYMESH_API"))
	if err != nil {
		panic(err)
	}
	s := &shop{client: client, orders: map[string]*order{}}
	callbacks := paymesh.Callbacks{Paid: s.settle, Partly: s.settle, Ended: s.settle, Waiting: s.settle}
	webhooks, err := paymesh.NewHandler(client, strings.Split(os.Getenv("PAYMESH_SECRET"), ","), callbacks)
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/webhooks", webhooks)
	mux.Handle("/orders/", s)
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		panic(err)
	}
	fmt.Println("listening on", listener.Addr().(*net.TCPAddr).Port)
	panic(http.Serve(listener, mux))
}
