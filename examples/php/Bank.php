<?php
declare(strict_types=1);

/** A reply; its body is read as JSON. */
final class Reply
{
    /** @param array<string, string> $headers names in lower case */
    public function __construct(public int $status, public array $headers, public array $body)
    {
    }
}

/** What an initiation gave. */
final class Payment
{
    public string $id;
    public string $address;

    public function __construct(public Reply $reply, public string $verifier)
    {
        $this->id = $reply->body['payment_id'] ?? '';
        $this->address = $reply->headers['location'] ?? '';
    }
}

/** A world of its own at a sandbox: the bank's interface as a TPP calls it, and the tester's controls. */
final class Bank
{
    public const SCT = 'sepa-credit-transfers';
    private const CALLBACK = 'http://127.0.0.1:9000/callback';

    private string $name;
    private string $base;

    /** Begins frozen on a Monday morning. */
    public function __construct(private string $server)
    {
        $this->name = 'php-' . self::uuid();
        $this->base = "$server/worlds/$this->name";
        $this->server('PUT', "/worlds/$this->name", ['clock' => ['at' => '2027-03-01T09:00', 'frozen' => true]]);
    }

    public function close(): void
    {
        $this->server('DELETE', "/worlds/$this->name");
    }

    /** A control of this world. */
    public function control(string $method, string $path, ?array $body = null): array
    {
        return self::must(self::ask("$this->base/_sandbox$path", $method, $body));
    }

    private function server(string $method, string $path, ?array $body = null): void
    {
        self::must(self::ask("$this->server/_sandbox$path", $method, $body));
    }

    private static function ask(string $address, string $method, ?array $body): Reply
    {
        $headers = array_filter(['X-Sandbox-Key' => getenv('SANDBOX_KEY'), 'Content-Type' => $body === null ? false : 'application/json']);
        return self::send($address, $method, $headers, $body === null ? '' : json_encode($body, JSON_THROW_ON_ERROR));
    }

    private static function must(Reply $reply): array
    {
        if ($reply->status >= 300) {
            throw new RuntimeException("$reply->status " . ($reply->body['error_description'] ?? ''), $reply->status);
        }
        return $reply->body;
    }

    /** @param array<string, string> $headers */
    private static function send(string $address, string $method, array $headers, string $body): Reply
    {
        $lines = array_map(fn (string $name): string => "$name: $headers[$name]", array_keys($headers));
        $http = ['method' => $method, 'header' => $lines, 'content' => $body, 'ignore_errors' => true];
        $text = file_get_contents($address, false, stream_context_create(['http' => $http]));
        if ($text === false) {
            throw new RuntimeException("no answer from $address");
        }
        $found = [];
        foreach (array_slice($http_response_header, 1) as $line) {
            [$name, $value] = explode(':', $line, 2);
            $found[strtolower($name)] = trim($value);
        }
        $status = (int) explode(' ', $http_response_header[0])[1];
        return new Reply($status, $found, $text === '' ? [] : json_decode($text, true, flags: JSON_THROW_ON_ERROR));
    }

    public function advance(string $span): void
    {
        $this->control('POST', '/clock', ['advance' => $span]);
    }

    /** The errors of the client that the referee found, each with its rule. */
    public function mistakes(): array
    {
        $rows = array_filter(
            $this->control('GET', '/referee')['findings'],
            fn (array $row): bool => $row['severity'] === 'error' && !$row['waved_off'],
        );
        return array_values(array_map(fn (array $row): string => "$row[rule]: $row[what]. $row[instead]", $rows));
    }

    /** Lets a rule of the referee pass in this test. */
    public function waive(string $rule, string $reason): void
    {
        $this->control('PATCH', '/settings', ['referee_waives' => ["$rule: $reason"]]);
    }

    /** A call of the bank's interface; $headers replace what it has by itself. */
    public function call(string $method, string $path, int $version = 3, array $headers = [], string $body = ''): Reply
    {
        $own = [
            'Accept' => "application/vnd.service.api+json; version=$version",
            'Accept-Language' => 'fr',
            'Client-ID' => 'demo-tpp',
            'Redirect-URI' => self::CALLBACK,
            'Request-ID' => self::uuid(),
        ];
        return self::send($this->base . $path, $method, $headers + $own, $body);
    }

    /** Initiates a payment; $fields and $headers replace what it has by itself. */
    public function pay(array $fields = [], array $headers = []): Payment
    {
        $verifier = self::base64url(random_bytes(32));
        $body = $fields + [
            'creditor_account' => ['iban' => 'BE68539007547034'],
            'creditor_name' => 'Jan Peeters',
            'endtoend_identification' => bin2hex(random_bytes(8)),
            'instructed_amount' => ['amount' => '12.50', 'currency' => 'EUR'],
        ];
        $headers += [
            'Content-Type' => 'application/json',
            'Code-Challenge-Method' => 'S256',
            'Code-Challenge' => self::base64url(hash('sha256', $verifier, true)),
        ];
        return new Payment($this->call('POST', '/payments/' . self::SCT, 3, $headers, json_encode($body, JSON_THROW_ON_ERROR)), $verifier);
    }

    public function status(Payment $payment): array
    {
        return $this->call('GET', '/payments/' . self::SCT . "/$payment->id/status")->body;
    }

    /** The customer signs; the code of the callback, whose state must be ours. */
    public function approve(Payment $payment): string
    {
        [$redirect, $state] = $this->customer('approve', $payment);
        parse_str((string) parse_url($redirect, PHP_URL_QUERY), $query);
        if ($query['state'] !== $state) {
            throw new RuntimeException('the callback is not ours');
        }
        return $query['code'];
    }

    /** The customer refuses. */
    public function refuse(Payment $payment): void
    {
        $this->customer('refuse', $payment);
    }

    private function customer(string $act, Payment $payment): array
    {
        $state = bin2hex(random_bytes(16));
        $body = ['address' => "$payment->address?state=$state", 'customer' => 'alice'];
        return [$this->control('POST', "/psu/$act", $body)['redirect'], $state];
    }

    public function token(Payment $payment, string $code): array
    {
        $form = ['grant_type' => 'authorization_code', 'code' => $code, 'redirect_uri' => self::CALLBACK, 'code_verifier' => $payment->verifier];
        $headers = ['Authorization' => 'Basic ' . base64_encode('demo-tpp:demo-secret'), 'Content-Type' => 'application/x-www-form-urlencoded'];
        return $this->call('POST', '/token', 3, $headers, http_build_query($form))->body;
    }

    private static function base64url(string $bytes): string
    {
        return rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
    }

    public static function uuid(): string
    {
        $bytes = random_bytes(16);
        $bytes[6] = chr(ord($bytes[6]) & 0x0f | 0x40);
        $bytes[8] = chr(ord($bytes[8]) & 0x3f | 0x80);
        return vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split(bin2hex($bytes), 4));
    }
}
