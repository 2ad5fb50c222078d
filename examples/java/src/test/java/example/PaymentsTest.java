package example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Ten tests of a TPP against the sandbox. */
@ExtendWith(Sandbox.class)
class PaymentsTest {
    @Test
    void aPaymentIsCreditedAMinuteAfterTheSignature(Bank bank) {
        Bank.Payment payment = bank.pay();
        assertEquals(201, payment.reply().status());
        bank.approve(payment);
        String wanted = "{\"payment_id\": \"%s\", \"status\": \"ACSC\", \"within\": \"5m\"}".formatted(payment.id());
        assertEquals("60", Bank.must(bank.control("POST", "/await", wanted)).field("waited"));
        assertEquals("ACSC", bank.status(payment).field("status"));
    }

    @Test
    void nobodySignsAndThePaymentTimesOut(Bank bank) {
        Bank.Payment payment = bank.pay();
        bank.advance("61m");
        assertEquals("CANC", bank.status(payment).field("status"));
        assertEquals("TIME_OUT", bank.status(payment).field("reason"));
    }

    @Test
    void theCustomerRefuses(Bank bank) {
        Bank.Payment payment = bank.pay();
        Bank.must(bank.control("POST", "/psu/refuse", Bank.visit(payment, "gone")));
        assertEquals("PSU_REFUSED", bank.status(payment).field("reason"));
    }

    @Test
    void anAddressExpiresAfterFiveMinutes(Bank bank) {
        Bank.Payment payment = bank.pay();
        bank.advance("5m");
        assertEquals(410, bank.control("POST", "/psu/approve", Bank.visit(payment, "late")).status());
    }

    @Test
    void theCodeOfTheCallbackBuysTokensOnce(Bank bank) {
        Bank.Payment payment = bank.pay();
        String code = bank.approve(payment);
        assertNotNull(bank.token(payment, code).field("access_token"));
        bank.waive("code-twice", "this test sends it twice");
        assertEquals("FAILED_SECURITY_VALIDATION", bank.token(payment, code).field("error"));
    }

    @Test
    void aLostReplyIsHadAgainWithTheSameRequestId(Bank bank) {
        Map<String, String> again = Map.of(
                "Request-ID", UUID.randomUUID().toString(),
                "Code-Challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
        Bank.Payment first = bank.pay("12.50", "", "INVOICE-12", again);
        assertEquals(first.id(), bank.pay("12.50", "", "INVOICE-12", again).id());
    }

    @Test
    void anAmountOfZeroIsRefusedWithTheBanksCode(Bank bank) {
        Bank.Reply reply = bank.pay("0", "", "INVOICE-13", Map.of()).reply();
        assertEquals(400, reply.status());
        assertEquals("B14821ZZ-1231-000000", reply.field("error_code"));
    }

    @Test
    void aPaymentOfTomorrowIsCancelledByItsCustomersToken(Bank bank) {
        Bank.Payment payment =
                bank.pay("12.50", ", \"requested_execution_date\": \"2027-03-02\"", "INVOICE-14", Map.of());
        String token = bank.token(payment, bank.approve(payment)).field("access_token");
        String path = "/payments/" + Bank.SCT + "/" + payment.id();
        assertEquals(204, bank.call("DELETE", path, 2, Map.of("Authorization", "Bearer " + token), null).status());
        assertEquals("CANC", bank.status(payment).field("status"));
    }

    @Test
    void aBankThatIsDownIsAskedAgainAfterRetryAfter(Bank bank) {
        String fault = """
                {"when": {"operation": "payment_status", "nth": 1}, "answer": {"status": 503, "retry_after": 7}}
                """;
        Bank.must(bank.control("POST", "/faults", fault));
        Bank.Payment payment = bank.pay();
        Bank.Reply first = bank.status(payment);
        assertEquals(503, first.status());
        assertEquals("7", first.header("Retry-After"));
        bank.advance("7s");
        assertEquals(200, bank.status(payment).status());
    }

    @Test
    void theRefereeFailsATestWhoseClientDidWrong(Bank bank) {
        bank.pay("12.50", "", "INVOICE-12", Map.of());
        assertEquals(List.of(), bank.mistakes());
        bank.pay("12.50", "", "INVOICE-12", Map.of());
        assertTrue(bank.mistakes().get(0).startsWith("initiation-doubled: "));
        bank.waive("initiation-doubled", "this test pays an invoice twice");
    }
}
