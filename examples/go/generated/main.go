// Pays, reads and cancels with the client that openapi-generator wrote; ends with 1 where the bank answers otherwise.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"example.test/bank-sandbox/generated/client"
)

const (
	callback = "http://127.0.0.1:9000/callback"
	sct      = "sepa-credit-transfers"
	language = "fr"
	us       = "demo-tpp"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func equal(found, wanted any) {
	if found != wanted {
		panic(fmt.Errorf("%v, not %v", found, wanted))
	}
}

func randomBytes(size int) []byte {
	content := make([]byte, size)
	_, err := rand.Read(content)
	must(err)
	return content
}

func uuid() string {
	content := randomBytes(16)
	content[6], content[8] = content[6]&0x0f|0x40, content[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", content[:4], content[4:6], content[6:8], content[8:10], content[10:])
}

// control calls one of the tester's controls: they have a document of their own.
func control(method, address string, body any) (found struct{ Redirect string }) {
	content, err := json.Marshal(body)
	must(err)
	request, err := http.NewRequest(method, address, bytes.NewReader(content))
	must(err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Sandbox-Key", os.Getenv("SANDBOX_KEY"))
	reply, err := http.DefaultClient.Do(request)
	must(err)
	defer reply.Body.Close()
	if reply.StatusCode >= 300 {
		panic(fmt.Errorf("%s %s: %s", method, address, reply.Status))
	}
	if reply.StatusCode != http.StatusNoContent {
		must(json.NewDecoder(reply.Body).Decode(&found))
	}
	return found
}

func pay(base string) {
	settings := client.NewConfiguration()
	settings.Servers = client.ServerConfigurations{{URL: base}}
	bank := client.NewAPIClient(settings)
	ctx := context.Background()
	verifier := base64.RawURLEncoding.EncodeToString(randomBytes(32))
	challenge := sha256.Sum256([]byte(verifier))

	order := client.NewSepaPayment(*client.NewSepaPaymentCreditorAccount("BE68539007547034"), "Jan Peeters",
		"GENERATED-GO", *client.NewSepaPaymentInstructedAmount("12.50"))
	order.SetRequestedExecutionDate("2027-03-15")
	made, _, err := bank.SinglePaymentsAPI.PaymentInitiationSepaCreditTransfers(ctx).
		RequestID(uuid()).AcceptLanguage(language).ClientID(us).RedirectURI(callback).
		CodeChallengeMethod("S256").CodeChallenge(base64.RawURLEncoding.EncodeToString(challenge[:])).
		SepaInitiation(client.SepaPaymentAsSepaInitiation(order)).Execute()
	must(err)
	equal(made.Status, "RCVD")

	approval := map[string]string{"address": made.Links.ScaRedirect.Href, "customer": "alice"}
	back, err := url.Parse(control("POST", base+"/_sandbox/psu/approve", approval).Redirect)
	must(err)
	secret := context.WithValue(ctx, client.ContextBasicAuth, client.BasicAuth{UserName: us, Password: "demo-secret"})
	pair, _, err := bank.ConsentAndTokensAPI.Token(secret).RequestID(uuid()).GrantType("authorization_code").
		Code(back.Query().Get("code")).RedirectUri(callback).CodeVerifier(verifier).Execute()
	must(err)
	ctx = context.WithValue(ctx, client.ContextAccessToken, pair.AccessToken)

	details, _, err := bank.SinglePaymentsAPI.PaymentDetails(ctx, sct, made.PaymentId).
		RequestID(uuid()).AcceptLanguage(language).ClientID(us).Execute()
	must(err)
	equal(details.InstructedAmount.Amount, "12.50")
	equal(details.GetRequestedExecutionDate(), "2027-03-15")

	cancel := func() error {
		_, err := bank.SinglePaymentsAPI.PaymentCancellation(ctx, sct, made.PaymentId).
			RequestID(uuid()).AcceptLanguage(language).ClientID(us).Execute()
		return err
	}
	must(cancel())
	status, _, err := bank.SinglePaymentsAPI.PaymentStatus(ctx, sct, made.PaymentId).
		RequestID(uuid()).AcceptLanguage(language).ClientID(us).Execute()
	must(err)
	equal(status.Status, "CANC")

	var refused *client.GenericOpenAPIError
	equal(errors.As(cancel(), &refused), true)
	why, typed := refused.Model().(client.PaymentCancellation403Response)
	equal(typed, true)
	equal(why.Error, "NOT_CANCELLABLE")
}

func main() {
	server := os.Getenv("SANDBOX_URL")
	if server == "" {
		server = "http://127.0.0.1:8080"
	}
	world := "generated-" + uuid()
	clock := map[string]any{"clock": map[string]any{"at": "2027-03-01T09:00", "frozen": true}}
	control("PUT", server+"/_sandbox/worlds/"+world, clock)
	defer control("DELETE", server+"/_sandbox/worlds/"+world, nil)
	pay(server + "/worlds/" + world)
	fmt.Println("a payment was made, read, cancelled, and not cancelled twice")
}
