import bank.ApiClient;
import bank.ApiException;
import bank.api.ConsentAndTokensApi;
import bank.api.SinglePaymentsApi;
import bank.model.PaymentCancellation403Response;
import bank.model.PaymentDetailsReply;
import bank.model.PaymentInitiationReply;
import bank.model.SepaPayment;
import bank.model.SepaPaymentCreditorAccount;
import bank.model.SepaPaymentInstructedAmount;
import controls.api.PsuApi;
import controls.api.WorldsApi;
import controls.model.Approval;
import controls.model.WorldClock;
import controls.model.WorldCreation;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.LocalDate;
import java.util.Base64;
import java.util.UUID;

/** Pays, reads and cancels with the clients that openapi-generator wrote; ends with 1 where the bank answers otherwise. */
public final class Pay {
    private static final String CALLBACK = "http://127.0.0.1:9000/callback";
    private static final String SCT = "sepa-credit-transfers";
    private static final String LANGUAGE = "fr";
    private static final String US = "demo-tpp";

    private final ApiClient bank = new ApiClient();
    private final SinglePaymentsApi payments = new SinglePaymentsApi(bank);
    private final PsuApi psu;

    private Pay(String base) {
        bank.setBasePath(base).setUsername(US).setPassword("demo-secret");
        psu = new PsuApi(tester(base));
    }

    /** The client of the controls at an address, with the server's key if it has one. */
    private static controls.ApiClient tester(String base) {
        controls.ApiClient line = new controls.ApiClient();
        line.updateBaseUri(base);
        String key = System.getenv("SANDBOX_KEY");
        line.setRequestInterceptor(request -> request.header("X-Sandbox-Key", key == null ? "" : key));
        return line;
    }

    private static void equal(Object found, Object wanted) {
        if (!wanted.equals(found)) {
            throw new AssertionError(found + ", not " + wanted);
        }
    }

    private static String encode(byte[] content) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(content);
    }

    private void cancel(String id) throws ApiException {
        payments.paymentCancellation(SCT, id, UUID.randomUUID(), LANGUAGE, US, null, null);
    }

    private void run() throws Exception {
        byte[] secret = new byte[32];
        new SecureRandom().nextBytes(secret);
        String verifier = encode(secret);
        String challenge = encode(MessageDigest.getInstance("SHA-256").digest(verifier.getBytes()));
        SepaPayment order = new SepaPayment()
                .creditorAccount(new SepaPaymentCreditorAccount().iban("BE68539007547034"))
                .creditorName("Jan Peeters")
                .endtoendIdentification("GENERATED-JAVA")
                .instructedAmount(new SepaPaymentInstructedAmount().amount("12.50").currency("EUR"))
                .requestedExecutionDate(LocalDate.of(2027, 3, 15));
        PaymentInitiationReply made = payments.paymentInitiationSepaCreditTransfers(UUID.randomUUID(), LANGUAGE, US, CALLBACK,
                order, "S256", challenge, null, null, null);
        equal(made.getStatus().getValue(), "RCVD");

        String address = made.getLinks().getScaRedirect().getHref();
        String redirect = psu.postPsuApprove(new Approval().address(address).customer("alice")).getRedirect();
        String code = redirect.replaceFirst(".*[?&]code=([^&]*).*", "$1");
        bank.setBearerToken(new ConsentAndTokensApi(bank).token(UUID.randomUUID(), "authorization_code", code, CALLBACK,
                verifier, null, null).getAccessToken());

        String id = made.getPaymentId();
        PaymentDetailsReply details = payments.paymentDetails(SCT, id, UUID.randomUUID(), LANGUAGE, US, null, null);
        equal(details.getInstructedAmount().getAmount(), "12.50");
        equal(details.getRequestedExecutionDate(), LocalDate.of(2027, 3, 15));

        cancel(id);
        equal(payments.paymentStatus(SCT, id, UUID.randomUUID(), LANGUAGE, US, null, null).getStatus().getValue(), "CANC");
        try {
            cancel(id);
            throw new AssertionError("cancelled twice");
        } catch (ApiException refused) {
            equal(refused.getCode(), 403);
            equal(bank.getObjectMapper().readValue(refused.getResponseBody(), PaymentCancellation403Response.class).getError(),
                    "NOT_CANCELLABLE");
        }
    }

    public static void main(String[] words) throws Exception {
        String server = System.getenv().getOrDefault("SANDBOX_URL", "http://127.0.0.1:8080");
        String world = "generated-" + UUID.randomUUID();
        WorldsApi worlds = new WorldsApi(tester(server));
        WorldClock clock = new WorldClock().at("2027-03-01T09:00").frozen(true);
        worlds.putWorldsName(world, new WorldCreation().clock(clock));
        try {
            new Pay(server + "/worlds/" + world).run();
        } finally {
            worlds.deleteWorldsName(world);
        }
        System.out.println("a payment was made, read, cancelled, and not cancelled twice");
    }
}
