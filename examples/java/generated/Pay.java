import bank.ApiClient;
import bank.ApiException;
import bank.api.SinglePaymentsApi;
import bank.model.PaymentCancellation403Response;
import bank.model.PaymentDetailsReply;
import bank.model.PaymentInitiationReply;
import bank.model.SepaInitiation;
import bank.model.SepaPayment;
import bank.model.SepaPaymentCreditorAccount;
import bank.model.SepaPaymentInstructedAmount;
import bank.model.TokenReply;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.LocalDate;
import java.util.Base64;
import java.util.Map;
import java.util.UUID;

/** Pays, reads and cancels with the client that openapi-generator wrote; ends with 1 where the bank answers otherwise. */
public final class Pay {
    private static final String CALLBACK = "http://127.0.0.1:9000/callback";
    private static final String SCT = "sepa-credit-transfers";
    private static final String LANGUAGE = "fr";
    private static final String US = "demo-tpp";
    private static final ObjectMapper JSON = ApiClient.createDefaultObjectMapper();

    private final String base;
    private final SinglePaymentsApi payments;
    private String authorization;

    private Pay(String base) {
        this.base = base;
        ApiClient line = new ApiClient(HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1), JSON, base);
        line.setRequestInterceptor(request -> {
            if (authorization != null) {
                request.header("Authorization", authorization);
            }
        });
        payments = new SinglePaymentsApi(line);
    }

    private static void equal(Object found, Object wanted) {
        if (!wanted.equals(found)) {
            throw new AssertionError(found + ", not " + wanted);
        }
    }

    /** One of the tester's controls: they have a document of their own. */
    private static String control(String method, String address, Object body) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(address)).header("Content-Type", "application/json")
                .method(method, BodyPublishers.ofString(JSON.writeValueAsString(body)));
        if (System.getenv("SANDBOX_KEY") != null) {
            request.header("X-Sandbox-Key", System.getenv("SANDBOX_KEY"));
        }
        HttpResponse<String> reply = HttpClient.newHttpClient().send(request.build(), BodyHandlers.ofString());
        if (reply.statusCode() >= 300) {
            throw new AssertionError(method + " " + address + ": " + reply.statusCode() + " " + reply.body());
        }
        return reply.body();
    }

    private static String encode(byte[] content) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(content);
    }

    /** By hand: the client would send the form in chunks, which this operation of the bank refuses. */
    private TokenReply token(String code, String verifier) throws Exception {
        String form = "grant_type=authorization_code&code=" + code + "&redirect_uri=" + CALLBACK + "&code_verifier=" + verifier;
        HttpRequest request = HttpRequest.newBuilder(URI.create(base + "/token"))
                .header("Accept", "application/vnd.service.api+json; version=3")
                .header("Authorization", "Basic " + Base64.getEncoder().encodeToString((US + ":demo-secret").getBytes()))
                .header("Content-Type", "application/x-www-form-urlencoded")
                .header("Request-ID", UUID.randomUUID().toString())
                .POST(BodyPublishers.ofString(form)).build();
        HttpResponse<String> reply = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
        equal(reply.statusCode(), 200);
        return JSON.readValue(reply.body(), TokenReply.class);
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
                new SepaInitiation(order), "S256", challenge, null, null, null);
        equal(made.getStatus().getValue(), "RCVD");

        Map<String, String> approval = Map.of("address", made.getLinks().getScaRedirect().getHref(), "customer", "alice");
        String redirect = JSON.readTree(control("POST", base + "/_sandbox/psu/approve", approval)).get("redirect").asText();
        String code = redirect.replaceFirst(".*[?&]code=([^&]*).*", "$1");
        authorization = "Bearer " + token(code, verifier).getAccessToken();

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
            equal(JSON.readValue(refused.getResponseBody(), PaymentCancellation403Response.class).getError(), "NOT_CANCELLABLE");
        }
    }

    public static void main(String[] words) throws Exception {
        String server = System.getenv().getOrDefault("SANDBOX_URL", "http://127.0.0.1:8080");
        String world = "generated-" + UUID.randomUUID();
        Map<String, Object> clock = Map.of("at", "2027-03-01T09:00", "frozen", true);
        control("PUT", server + "/_sandbox/worlds/" + world, Map.of("clock", clock));
        try {
            new Pay(server + "/worlds/" + world).run();
        } finally {
            control("DELETE", server + "/_sandbox/worlds/" + world, null);
        }
        System.out.println("a payment was made, read, cancelled, and not cancelled twice");
    }
}
