<?php
declare(strict_types=1);

require_once __DIR__ . '/Bank.php';
require_once __DIR__ . '/Sandbox.php';

/** Ten tests of a TPP against the sandbox. */
final class PaymentsTest extends Sandbox
{
    public function testAPaymentIsCreditedAMinuteAfterTheSignature(): void
    {
        $payment = $this->bank->pay();
        $this->assertSame(201, $payment->reply->status);
        $this->bank->approve($payment);
        $held = $this->bank->control('POST', '/await', ['payment_id' => $payment->id, 'status' => 'ACSC', 'within' => '5m']);
        $this->assertEquals(60, $held['waited']);
        $this->assertSame('ACSC', $this->bank->status($payment)['status']);
    }

    public function testNobodySignsAndThePaymentTimesOut(): void
    {
        $payment = $this->bank->pay();
        $this->bank->advance('61m');
        $found = $this->bank->status($payment);
        $this->assertSame(['CANC', 'TIME_OUT'], [$found['status'], $found['reason']]);
    }

    public function testTheCustomerRefuses(): void
    {
        $payment = $this->bank->pay();
        $this->bank->refuse($payment);
        $this->assertSame('PSU_REFUSED', $this->bank->status($payment)['reason']);
    }

    public function testAnAddressExpiresAfterFiveMinutes(): void
    {
        $payment = $this->bank->pay();
        $this->bank->advance('5m');
        $this->expectExceptionCode(410);
        $this->bank->approve($payment);
    }

    public function testTheCodeOfTheCallbackBuysTokensOnce(): void
    {
        $payment = $this->bank->pay();
        $code = $this->bank->approve($payment);
        $this->assertArrayHasKey('access_token', $this->bank->token($payment, $code));
        $this->bank->waive('code-twice', 'this test sends it twice');
        $this->assertSame('FAILED_SECURITY_VALIDATION', $this->bank->token($payment, $code)['error']);
    }

    public function testALostReplyIsHadAgainWithTheSameRequestId(): void
    {
        $again = ['Request-ID' => Bank::uuid(), 'Code-Challenge' => 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'];
        $fields = ['endtoend_identification' => 'INVOICE-12'];
        $this->assertSame($this->bank->pay($fields, $again)->id, $this->bank->pay($fields, $again)->id);
        $this->assertCount(1, $this->bank->control('GET', '/payments')['payments']);
    }

    public function testAnAmountOfZeroIsRefusedWithTheBanksCode(): void
    {
        $reply = $this->bank->pay(['instructed_amount' => ['amount' => '0', 'currency' => 'EUR']])->reply;
        $this->assertSame([400, 'B14821ZZ-1231-000000'], [$reply->status, $reply->body['error_code']]);
    }

    public function testAPaymentOfTomorrowIsCancelledByItsCustomersToken(): void
    {
        $payment = $this->bank->pay(['requested_execution_date' => '2027-03-02']);
        $token = $this->bank->token($payment, $this->bank->approve($payment))['access_token'];
        $path = '/payments/' . Bank::SCT . "/$payment->id";
        $this->assertSame(204, $this->bank->call('DELETE', $path, 2, ['Authorization' => "Bearer $token"])->status);
        $this->assertSame('CANC', $this->bank->status($payment)['status']);
    }

    public function testABankThatIsDownIsAskedAgainAfterRetryAfter(): void
    {
        $when = ['operation' => 'payment_status', 'nth' => 1];
        $this->bank->control('POST', '/faults', ['when' => $when, 'answer' => ['status' => 503, 'retry_after' => 7]]);
        $payment = $this->bank->pay();
        $path = '/payments/' . Bank::SCT . "/$payment->id/status";
        $first = $this->bank->call('GET', $path);
        $this->assertSame([503, '7'], [$first->status, $first->headers['retry-after']]);
        $this->bank->advance('7s');
        $this->assertSame(200, $this->bank->call('GET', $path)->status);
    }

    public function testTheRefereeFailsATestWhoseClientDidWrong(): void
    {
        $this->bank->pay(['endtoend_identification' => 'INVOICE-12']);
        $this->assertSame([], $this->bank->mistakes());
        $this->bank->pay(['endtoend_identification' => 'INVOICE-12']);
        $this->assertStringStartsWith('initiation-doubled: ', $this->bank->mistakes()[0]);
        $this->bank->waive('initiation-doubled', 'this test pays an invoice twice');
    }
}
