package example;

import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A world of its own at a sandbox: the bank's interface as a TPP calls it, and the tester's controls. */
final class Bank implements AutoCloseable {
    static final String SCT = "sepa-credit-transfers";
    private static final String CALLBACK = "http://127.0.0.1:9000/callback";
    private static final String KEY = System.getenv("SANDBOX_KEY");
    private static final HttpClient HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private static final SecureRandom RANDOM = new SecureRandom();

    /** A reply; its fields are read by name, which suffices where no library for JSON is at hand. */
    record Reply(int status, String body, HttpResponse<String> whole) {
        String field(String name) {
            Matcher found = Pattern.compile("\"" + name + "\"\\s*:\\s*(?:\"((?:[^\"\\\\]|\\\\.)*)\"|([^,}\\]]+))").matcher(body);
            if (!found.find()) {
                return null;
            }
            return found.group(1) != null ? found.group(1).replace("\\/", "/") : found.group(2).trim();
        }

        String header(String name) {
            return whole.headers().firstValue(name).orElse(null);
        }
    }

    /** What an initiation gave. */
    record Payment(Reply reply, String verifier) {
        String id() {
            return reply.field("payment_id");
        }

        String address() {
            return reply.header("Location");
        }
    }

    private final String name = "java-" + UUID.randomUUID();
    private final String server;
    private final String base;

    /** Begins frozen on a Monday morning. */
    Bank(String server) {
        this.server = server;
        base = server + "/worlds/" + name;
        must(control(server, "PUT", "/worlds/" + name, "{\"clock\": {\"at\": \"2027-03-01T09:00\", \"frozen\": true}}"));
    }

    @Override
    public void close() {
        must(control(server, "DELETE", "/worlds/" + name, null));
    }

    /** A control of this world. */
    Reply control(String method, String path, String body) {
        return control(base, method, path, body);
    }

    Reply advance(String span) {
        return must(control("POST", "/clock", "{\"advance\": \"" + span + "\"}"));
    }

    /** The errors of the client that the referee found, each as "rule: what". */
    List<String> mistakes() {
        Pattern finding = Pattern.compile("\"rule\":\"([^\"]*)\"[^}]*?\"severity\":\"error\".*?\"what\":\"([^\"]*)\".*?\"waved_off\":false");
        String report = must(control("GET", "/referee", null)).body();
        return finding.matcher(report).results().map(found -> found.group(1) + ": " + found.group(2)).toList();
    }

    /** Lets a rule of the referee pass in this test. */
    void waive(String rule, String reason) {
        must(control("PATCH", "/settings", "{\"referee_waives\": [\"%s: %s\"]}".formatted(rule, reason)));
    }

    static Reply must(Reply reply) {
        if (reply.status() >= 300) {
            throw new AssertionError(reply.status() + " " + reply.body());
        }
        return reply;
    }

    private static Reply control(String at, String method, String path, String body) {
        Map<String, String> headers = new LinkedHashMap<>();
        if (KEY != null) {
            headers.put("X-Sandbox-Key", KEY);
        }
        if (body != null) {
            headers.put("Content-Type", "application/json");
        }
        return send(at + "/_sandbox" + path, method, headers, body);
    }

    private static Reply send(String address, String method, Map<String, String> headers, String body) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(address))
                .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
        headers.forEach(request::header);
        try {
            HttpResponse<String> reply = HTTP.send(request.build(), BodyHandlers.ofString());
            return new Reply(reply.statusCode(), reply.body(), reply);
        } catch (IOException | InterruptedException broken) {
            throw new AssertionError(broken);
        }
    }

    /** A call of the bank's interface; `more` replaces its headers. */
    Reply call(String method, String path, int version, Map<String, String> more, String body) {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("Accept", "application/vnd.service.api+json; version=" + version);
        headers.put("Accept-Language", "fr");
        headers.put("Client-ID", "demo-tpp");
        headers.put("Redirect-URI", CALLBACK);
        headers.put("Request-ID", UUID.randomUUID().toString());
        headers.putAll(more);
        return send(base + path, method, headers, body);
    }

    static String random(int size) {
        byte[] content = new byte[size];
        RANDOM.nextBytes(content);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(content);
    }

    Payment pay() {
        return pay("12.50", "", "INVOICE-" + UUID.randomUUID().toString().substring(0, 8), Map.of());
    }

    /** `fields` are further fields of the body as JSON, each with a comma before it. */
    Payment pay(String amount, String fields, String reference, Map<String, String> more) {
        String verifier = random(32);
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("Content-Type", "application/json");
        headers.put("Code-Challenge-Method", "S256");
        headers.put("Code-Challenge", challenge(verifier));
        headers.putAll(more);
        String body = """
                {"creditor_account": {"iban": "BE68539007547034"}, "creditor_name": "Jan Peeters",
                 "endtoend_identification": "%s", "instructed_amount": {"amount": "%s", "currency": "EUR"}%s}
                """.formatted(reference, amount, fields);
        return new Payment(call("POST", "/payments/" + SCT, 3, headers, body), verifier);
    }

    private static String challenge(String verifier) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(verifier.getBytes(StandardCharsets.US_ASCII));
            return Base64.getUrlEncoder().withoutPadding().encodeToString(hash);
        } catch (NoSuchAlgorithmException never) {
            throw new AssertionError(never);
        }
    }

    Reply status(Payment payment) {
        return call("GET", "/payments/" + SCT + "/" + payment.id() + "/status", 3, Map.of(), null);
    }

    /** The address of a payment with a state, to which the customer comes, as the controls take it. */
    static String visit(Payment payment, String state) {
        return "{\"address\": \"%s?state=%s\", \"customer\": \"alice\"}".formatted(payment.address(), state);
    }

    /** The customer signs; the code of the callback, whose state must be ours. */
    String approve(Payment payment) {
        String state = random(16);
        Reply signed = must(control("POST", "/psu/approve", visit(payment, state)));
        String query = URI.create(signed.field("redirect")).getRawQuery();
        Map<String, String> found = new LinkedHashMap<>();
        for (String pair : query.split("&")) {
            String[] parts = pair.split("=", 2);
            found.put(parts[0], URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
        }
        if (!state.equals(found.get("state"))) {
            throw new AssertionError("the callback is not ours");
        }
        return found.get("code");
    }

    Reply token(Payment payment, String code) {
        String form = "grant_type=authorization_code&code=" + encode(code) + "&redirect_uri=" + encode(CALLBACK)
                + "&code_verifier=" + encode(payment.verifier());
        String credentials = Base64.getEncoder().encodeToString("demo-tpp:demo-secret".getBytes(StandardCharsets.UTF_8));
        Map<String, String> headers =
                Map.of("Authorization", "Basic " + credentials, "Content-Type", "application/x-www-form-urlencoded");
        return call("POST", "/token", 3, headers, form);
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
