package example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Attaches to the sandbox at SANDBOX_URL, or starts one on a free port; gives a bank of its own to each test that has a
 * parameter of this type. A test fails if the referee found an error of the client; `Bank.waive` lets a rule pass.
 */
final class Sandbox implements ParameterResolver, AfterEachCallback {
    private static final ExtensionContext.Namespace HERE = ExtensionContext.Namespace.create(Sandbox.class);

    /** JUnit closes it after the tests of all classes. */
    private record Server(String url, Runnable stop) implements ExtensionContext.Store.CloseableResource {
        static Server start() {
            try {
                String url = System.getenv().getOrDefault("SANDBOX_URL", "");
                Server server = url.isEmpty() ? serve() : new Server(url, () -> { });
                for (int tries = 0; !server.isReady(); Thread.sleep(50)) {
                    if (++tries > 200) {
                        server.close();
                        throw new IOException("no sandbox answers at " + server.url);
                    }
                }
                return server;
            } catch (IOException | InterruptedException broken) {
                throw new AssertionError("no sandbox starts", broken);
            }
        }

        private boolean isReady() throws InterruptedException {
            try {
                HttpRequest health = HttpRequest.newBuilder(URI.create(url + "/_sandbox/health")).build();
                return HttpClient.newHttpClient().send(health, BodyHandlers.discarding()).statusCode() == 200;
            } catch (IOException nobodyThere) {
                return false;
            }
        }

        private static Server serve() throws IOException {
            String program = System.getenv().getOrDefault("BANK_SANDBOX", "bank-sandbox");
            Process process = new ProcessBuilder(program, "serve", "--port", "0", "--log", "off")
                    .redirectError(ProcessBuilder.Redirect.INHERIT).start();
            String line = process.inputReader().lines().filter(text -> text.startsWith("listening on ")).findFirst().orElseThrow();
            return new Server(line.substring("listening on ".length()), process::destroy);
        }

        @Override
        public void close() { stop.run(); }
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext test) {
        return parameter.getParameter().getType() == Bank.class;
    }

    @Override
    public Bank resolveParameter(ParameterContext parameter, ExtensionContext test) {
        Server server = test.getRoot().getStore(HERE).getOrComputeIfAbsent(Server.class, type -> Server.start(), Server.class);
        return test.getStore(HERE).getOrComputeIfAbsent(Bank.class, type -> new Bank(server.url), Bank.class);
    }

    @Override
    public void afterEach(ExtensionContext test) {
        try (Bank bank = test.getStore(HERE).remove(Bank.class, Bank.class)) { // null where a test has no bank
            assertEquals(List.of(), bank == null ? List.of() : bank.mistakes(), "the referee found errors of the client");
        }
    }
}
