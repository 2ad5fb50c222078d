// Pays, reads and cancels with the clients that openapi-generator wrote; ends with 1 where the bank answers otherwise.
package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"

	"example.test/bank-sandbox/generated/client"
	"example.test/bank-sandbox/generated/controls"
)

const (
	redirectURI = "http://127.0.0.1:9000/callback"
	sct         = "sepa-credit-transfers"
	language    = "fr"
	us          = "demo-tpp"
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

// tester gives the client of the controls at an address, with the server's key if it has one.
func tester(base string) (*controls.APIClient, context.Context) {
	settings := controls.NewConfiguration()
	settings.Servers = controls.ServerConfigurations{{URL: base}}
	keys := map[string]controls.APIKey{"key": {Key: os.Getenv("SANDBOX_KEY")}}
	return controls.NewAPIClient(settings), context.WithValue(context.Background(), controls.ContextAPIKeys, keys)
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
		RequestID(uuid()).AcceptLanguage(language).ClientID(us).RedirectURI(redirectURI).
		CodeChallengeMethod("S256").CodeChallenge(base64.RawURLEncoding.EncodeToString(challenge[:])).
		SepaInitiation(client.SepaPaymentAsSepaInitiation(order)).Execute()
	must(err)
	equal(made.Status, "RCVD")

	psu, key := tester(base)
	approval := controls.NewApproval(made.Links.ScaRedirect.Href)
	approval.SetCustomer("alice")
	callback, _, err := psu.PSUAPI.PostPsuApprove(key).Approval(*approval).Execute()
	must(err)
	back, err := url.Parse(*callback.Redirect.Get())
	must(err)
	secret := context.WithValue(ctx, client.ContextBasicAuth, client.BasicAuth{UserName: us, Password: "demo-secret"})
	pair, _, err := bank.ConsentAndTokensAPI.Token(secret).RequestID(uuid()).GrantType("authorization_code").
		Code(back.Query().Get("code")).RedirectUri(redirectURI).CodeVerifier(verifier).Execute()
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
	worlds, key := tester(server)
	name := "generated-" + uuid()
	clock := controls.NewWorldClock()
	clock.SetAt("2027-03-01T09:00")
	clock.SetFrozen(true)
	world := controls.NewWorldCreation()
	world.SetClock(*clock)
	_, _, err := worlds.WorldsAPI.PutWorldsName(key, name).WorldCreation(*world).Execute()
	must(err)
	defer func() {
		_, err := worlds.WorldsAPI.DeleteWorldsName(key, name).Execute()
		must(err)
	}()
	pay(server + "/worlds/" + name)
	fmt.Println("a payment was made, read, cancelled, and not cancelled twice")
}
