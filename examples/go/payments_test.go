package sandbox

import (
	"strings"
	"testing"
)

func TestAPaymentIsCreditedAMinuteAfterTheSignature(t *testing.T) {
	bank := begin(t)
	payment := bank.pay(nil, nil)
	equal(t, payment.Status, 201)
	bank.approve(payment)
	held := bank.control("POST", "/await", object{"payment_id": payment.ID, "status": "ACSC", "within": "5m"})
	equal(t, held["waited"], 60)
	status, _ := bank.status(payment)
	equal(t, status, "ACSC")
}

func TestNobodySignsAndThePaymentTimesOut(t *testing.T) {
	bank := begin(t)
	payment := bank.pay(nil, nil)
	bank.advance("61m")
	status, reason := bank.status(payment)
	equal(t, status+" "+reason, "CANC TIME_OUT")
}

func TestTheCustomerRefuses(t *testing.T) {
	bank := begin(t)
	payment := bank.pay(nil, nil)
	bank.refuse(payment)
	_, reason := bank.status(payment)
	equal(t, reason, "PSU_REFUSED")
}

func TestAnAddressExpiresAfterFiveMinutes(t *testing.T) {
	bank := begin(t)
	payment := bank.pay(nil, nil)
	bank.advance("5m")
	approval := object{"address": payment.Address + "?state=late", "customer": "alice"}
	status, _ := bank.ask("POST", bank.base+"/_sandbox/psu/approve", approval)
	equal(t, status, 410)
}

func TestTheCodeOfTheCallbackBuysTokensOnce(t *testing.T) {
	bank := begin(t)
	payment := bank.pay(nil, nil)
	code := bank.approve(payment)
	if bank.token(payment, code)["access_token"] == nil {
		t.Fatal("no token")
	}
	bank.waive("code-twice", "this test sends it twice")
	equal(t, bank.token(payment, code)["error"], "FAILED_SECURITY_VALIDATION")
}

func TestALostReplyIsHadAgainWithTheSameRequestID(t *testing.T) {
	bank := begin(t)
	again := map[string]string{
		"Request-ID":     uuid(),
		"Code-Challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
	}
	fields := object{"endtoend_identification": "INVOICE-12"}
	first, second := bank.pay(fields, again), bank.pay(fields, again)
	equal(t, second.ID, first.ID)
	equal(t, len(bank.control("GET", "/payments", nil)["payments"].([]any)), 1)
}

func TestAnAmountOfZeroIsRefusedWithTheBanksCode(t *testing.T) {
	bank := begin(t)
	payment := bank.pay(object{"instructed_amount": object{"amount": "0", "currency": "EUR"}}, nil)
	equal(t, payment.Status, 400)
	equal(t, payment.Body["error_code"], "B14821ZZ-1231-000000")
}

func TestAPaymentOfTomorrowIsCancelledByItsCustomersToken(t *testing.T) {
	bank := begin(t)
	payment := bank.pay(object{"requested_execution_date": "2027-03-02"}, nil)
	token := bank.token(payment, bank.approve(payment))["access_token"].(string)
	more := map[string]string{"Authorization": "Bearer " + token}
	reply, _ := bank.call("DELETE", "/payments/"+sct+"/"+payment.ID, 2, more, nil)
	equal(t, reply.StatusCode, 204)
	status, _ := bank.status(payment)
	equal(t, status, "CANC")
}

func TestABankThatIsDownIsAskedAgainAfterRetryAfter(t *testing.T) {
	bank := begin(t)
	when := object{"operation": "payment_status", "nth": 1}
	bank.control("POST", "/faults", object{"when": when, "answer": object{"status": 503, "retry_after": 7}})
	payment := bank.pay(nil, nil)
	path := "/payments/" + sct + "/" + payment.ID + "/status"
	first, _ := bank.call("GET", path, 3, nil, nil)
	equal(t, first.StatusCode, 503)
	equal(t, first.Header.Get("Retry-After"), "7")
	bank.advance("7s")
	second, _ := bank.call("GET", path, 3, nil, nil)
	equal(t, second.StatusCode, 200)
}

func TestTheRefereeFailsATestWhoseClientDidWrong(t *testing.T) {
	bank := begin(t)
	fields := object{"endtoend_identification": "INVOICE-12"}
	bank.pay(fields, nil)
	equal(t, len(bank.mistakes()), 0)
	bank.pay(fields, nil)
	equal(t, strings.HasPrefix(bank.mistakes()[0], "initiation-doubled: "), true)
	bank.waive("initiation-doubled", "this test pays an invoice twice")
}
