<?php
declare(strict_types=1);

use PHPUnit\Framework\TestCase;

/**
 * A test with a bank of its own. It attaches to the sandbox at SANDBOX_URL, or starts one on a free port. A test fails if
 * the referee found an error of the client; waive() lets a rule pass.
 */
abstract class Sandbox extends TestCase
{
    private const START_PATIENCE = 60; // seconds
    private const HEALTH_PATIENCE = 10;

    private static ?string $url = null;
    protected Bank $bank;

    /** The address of a sandbox that is ready; one that was started here ends with this process. */
    private static function start(): string
    {
        $url = getenv('SANDBOX_URL') ?: self::serve();
        for ($end = time() + self::HEALTH_PATIENCE; time() < $end; usleep(50_000)) {
            if (@file_get_contents("$url/_sandbox/health") !== false) {
                return $url;
            }
        }
        throw new RuntimeException("no sandbox answers at $url");
    }

    private static function serve(): string
    {
        $words = [getenv('BANK_SANDBOX') ?: 'bank-sandbox', 'serve', '--port', '0', '--log', 'off'];
        $output = tempnam(sys_get_temp_dir(), 'sandbox'); // a pipe that nobody reads would stop the server
        $server = proc_open($words, [['file', '/dev/null', 'r'], ['file', $output, 'w'], STDERR], $pipes);
        if ($server === false) {
            throw new RuntimeException("$words[0] does not start");
        }
        register_shutdown_function(function () use ($server, $output): void {
            proc_terminate($server);
            proc_close($server);
            unlink($output);
        });
        for ($end = time() + self::START_PATIENCE; time() < $end && proc_get_status($server)['running']; usleep(50_000)) {
            if (preg_match('/^listening on (\S+)$/m', file_get_contents($output), $line)) {
                return $line[1];
            }
        }
        throw new RuntimeException('the sandbox does not listen: ' . file_get_contents($output));
    }

    protected function setUp(): void
    {
        $this->bank = new Bank(self::$url ??= self::start());
    }

    protected function assertPostConditions(): void
    {
        $this->assertSame([], $this->bank->mistakes(), 'the referee found errors of the client');
    }

    protected function tearDown(): void
    {
        isset($this->bank) && $this->bank->close();
    }
}
