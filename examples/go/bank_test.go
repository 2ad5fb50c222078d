// A small client of the sandbox: the bank's interface as a TPP calls it, and the tester's controls.
package sandbox

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
)

const (
	callback = "http://127.0.0.1:9000/callback"
	sct      = "sepa-credit-transfers"
)

type object = map[string]any

// Bank is a world of its own.
type Bank struct {
	t    *testing.T
	base string
}

// Payment is what an initiation gave.
type Payment struct {
	Status                int
	ID, Address, verifier string
	Body                  object
}

func randomBytes(size int) []byte {
	content := make([]byte, size)
	if _, err := rand.Read(content); err != nil {
		panic(err)
	}
	return content
}

func uuid() string {
	content := randomBytes(16)
	content[6], content[8] = content[6]&0x0f|0x40, content[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", content[:4], content[4:6], content[6:8], content[8:10], content[10:])
}

func (bank *Bank) send(method, address string, headers map[string]string, body []byte) (*http.Response, object) {
	bank.t.Helper()
	request, err := http.NewRequest(method, address, bytes.NewReader(body))
	if err != nil {
		bank.t.Fatal(err)
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		bank.t.Fatal(err)
	}
	defer reply.Body.Close()
	content, err := io.ReadAll(reply.Body)
	if err != nil {
		bank.t.Fatal(err)
	}
	found := object{}
	if len(content) > 0 {
		if err := json.Unmarshal(content, &found); err != nil {
			bank.t.Fatalf("%s %s: %v", method, address, err)
		}
	}
	return reply, found
}

// ask calls a control; the status is the caller's to look at.
func (bank *Bank) ask(method, address string, body object) (int, object) {
	bank.t.Helper()
	headers, content := map[string]string{"X-Sandbox-Key": os.Getenv("SANDBOX_KEY")}, []byte(nil)
	if body != nil {
		headers["Content-Type"] = "application/json"
		content, _ = json.Marshal(body)
	}
	reply, found := bank.send(method, address, headers, content)
	return reply.StatusCode, found
}

func (bank *Bank) must(method, address string, body object) object {
	bank.t.Helper()
	status, found := bank.ask(method, address, body)
	if status >= 300 {
		bank.t.Fatalf("%s %s: %d %v", method, address, status, found)
	}
	return found
}

func (bank *Bank) control(method, path string, body object) object {
	bank.t.Helper()
	return bank.must(method, bank.base+"/_sandbox"+path, body)
}

func (bank *Bank) advance(span string) {
	bank.t.Helper()
	bank.control("POST", "/clock", object{"advance": span})
}

// mistakes are the errors of the client that the referee found, each with its rule.
func (bank *Bank) mistakes() (found []string) {
	bank.t.Helper()
	for _, row := range bank.control("GET", "/referee", nil)["findings"].([]any) {
		if row := row.(object); row["severity"] == "error" && row["waved_off"] == false {
			found = append(found, fmt.Sprintf("%v: %v. %v", row["rule"], row["what"], row["instead"]))
		}
	}
	return found
}

// waive lets a rule of the referee pass in this test.
func (bank *Bank) waive(rule, reason string) {
	bank.t.Helper()
	bank.control("PATCH", "/settings", object{"referee_waives": []string{rule + ": " + reason}})
}

// call is a call of the bank's interface; more replaces its headers.
func (bank *Bank) call(method, path string, version int, more map[string]string, body []byte) (*http.Response, object) {
	bank.t.Helper()
	headers := map[string]string{
		"Accept":          fmt.Sprintf("application/vnd.service.api+json; version=%d", version),
		"Accept-Language": "fr",
		"Client-ID":       "demo-tpp",
		"Redirect-URI":    callback,
		"Request-ID":      uuid(),
	}
	for name, value := range more {
		headers[name] = value
	}
	return bank.send(method, bank.base+path, headers, body)
}

// pay initiates a payment; fields and headers replace what it has by itself.
func (bank *Bank) pay(fields object, more map[string]string) Payment {
	bank.t.Helper()
	verifier := base64.RawURLEncoding.EncodeToString(randomBytes(32))
	challenge := sha256.Sum256([]byte(verifier))
	body := object{
		"creditor_account":        object{"iban": "BE68539007547034"},
		"creditor_name":           "Jan Peeters",
		"endtoend_identification": hex.EncodeToString(randomBytes(8)),
		"instructed_amount":       object{"amount": "12.50", "currency": "EUR"},
	}
	for name, value := range fields {
		body[name] = value
	}
	headers := map[string]string{
		"Content-Type":          "application/json",
		"Code-Challenge-Method": "S256",
		"Code-Challenge":        base64.RawURLEncoding.EncodeToString(challenge[:]),
	}
	for name, value := range more {
		headers[name] = value
	}
	content, _ := json.Marshal(body)
	reply, found := bank.call("POST", "/payments/"+sct, 3, headers, content)
	id, _ := found["payment_id"].(string)
	return Payment{reply.StatusCode, id, reply.Header.Get("Location"), verifier, found}
}

func (bank *Bank) status(payment Payment) (status, reason string) {
	bank.t.Helper()
	_, found := bank.call("GET", "/payments/"+sct+"/"+payment.ID+"/status", 3, nil, nil)
	status, _ = found["status"].(string)
	reason, _ = found["reason"].(string)
	return status, reason
}

// approve lets the customer sign; it gives the code of the callback, whose state must be ours.
func (bank *Bank) approve(payment Payment) string {
	bank.t.Helper()
	state := hex.EncodeToString(randomBytes(16))
	found := bank.control("POST", "/psu/approve", object{"address": payment.Address + "?state=" + state, "customer": "alice"})
	back, err := url.Parse(found["redirect"].(string))
	if err != nil || back.Query().Get("state") != state {
		bank.t.Fatalf("the callback is not ours: %v", found)
	}
	return back.Query().Get("code")
}

// refuse lets the customer refuse.
func (bank *Bank) refuse(payment Payment) {
	bank.t.Helper()
	address := payment.Address + "?state=" + hex.EncodeToString(randomBytes(16))
	bank.control("POST", "/psu/refuse", object{"address": address, "customer": "alice"})
}

func (bank *Bank) token(payment Payment, code string) object {
	bank.t.Helper()
	form := url.Values{
		"grant_type": {"authorization_code"}, "code": {code},
		"redirect_uri": {callback}, "code_verifier": {payment.verifier},
	}
	_, found := bank.call("POST", "/token", 3, map[string]string{
		"Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte("demo-tpp:demo-secret")),
		"Content-Type":  "application/x-www-form-urlencoded",
	}, []byte(form.Encode()))
	return found
}

func equal(t *testing.T, found, wanted any) {
	t.Helper()
	if fmt.Sprint(found) != fmt.Sprint(wanted) {
		t.Fatalf("%v, not %v", strings.TrimSpace(fmt.Sprint(found)), wanted)
	}
}
