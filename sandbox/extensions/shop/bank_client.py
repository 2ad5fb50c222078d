"""The shop as a client of its bank. It makes no call while the bank wants it to wait, and renews tokens before they
expire."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from math import ceil
from threading import Lock
from typing import TypeVar

import httpx

from sandbox.client import Client, Initiation, Manual, Refused, Signer, Tokens, Unreadable
from sandbox.machine import machine_time, stopwatch

T = TypeVar("T")

TIMEOUT = 10.0  # seconds that a visitor waits for the bank
BUSY = (429, 503)
BROKEN = (408, 500, 502, 504)
BUSY_SECONDS = 30  # when the bank does not say how long
BUSY_SECONDS_MAX = 3600
TOKEN_REFUSED = "FAILED_SECURITY_VALIDATION"
CONSENT_ENDED = "NO_ACTIVE_CONSENT"
RENEW_BEFORE = timedelta(seconds=30)  # of the access token's life


class BankBusy(Exception):
    """Raised if the bank has asked the shop to wait. The shop does not call the same operation again until the
    `seconds` have passed."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        super().__init__(f"the bank asks to be left alone for {seconds} s")


class BankSilent(Exception):
    """Raised if no usable reply came. The shop then does not know whether the call had an effect."""


class AccessEnded(Exception):
    """Raised if the bank refuses the shop's tokens for good, because the consent expired or was withdrawn. Only the
    customer can give a new consent."""


@dataclass
class DatedTokens:
    """The tokens of one consent, and when the shop received them."""

    tokens: Tokens
    since: datetime


def read_machine_time() -> datetime:
    return datetime.fromtimestamp(machine_time(), UTC)


@dataclass
class BankClient:
    """The shop as a registered client of one bank. All visitors share it."""

    base_url: str
    client_id: str
    secret: str = field(repr=False)
    redirect_uri: str
    now: Callable[[], datetime] = read_machine_time
    ticks: Callable[[], float] = stopwatch  # seconds of real time, for patience
    manual: Manual = Manual()  # what the bank's manual says
    signer: Signer | None = None  # where the bank demands signatures
    http: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=TIMEOUT, trust_env=False))
    send_back: Callable[[Initiation], bool] | None = None  # a refund by the shop's own bank; None: it gives none
    _busy_until: dict[str, float] = field(default_factory=dict)  # by operation
    _busy_lock: Lock = field(default_factory=Lock)

    def make_tpp(self, language: str = "fr") -> Client:
        """Returns a reference client (`sandbox.client.Client`) with the shop's credentials. `language` is the language
        of the bank's pages, French or Dutch."""
        own = self.base_url, self.client_id, self.secret, self.redirect_uri
        return Client(*own, language, http=self.http, manual=self.manual, signer=self.signer)

    def ask(self, operation: str, call: Callable[[], T]) -> T:
        """Makes a call once. If the bank has asked the shop to wait before the next call of this operation, raises
        BankBusy without a call until that time is over. Also raises BankBusy if the bank now asks to wait, BankSilent
        if no usable reply comes, and Refused if the bank refuses the call for another reason."""
        with self._busy_lock:
            wait = self._busy_until.get(operation, 0.0) - self.ticks()
        if wait > 0:
            raise BankBusy(ceil(wait))
        try:
            return call()
        except Refused as refused:
            if refused.status in BUSY:
                seconds = read_seconds(refused.retry_after, self.now())
                with self._busy_lock:
                    self._busy_until[operation] = self.ticks() + seconds
                raise BankBusy(seconds) from None
            if refused.status in BROKEN:
                raise BankSilent from refused
            raise
        except (httpx.TransportError, Unreadable) as error:
            raise BankSilent from error

    def ask_with(self, dated: DatedTokens, operation: str, call: Callable[[Tokens], T]) -> T:
        """Makes a call with an access token. Renews the token shortly before it expires, or if the bank refuses it.
        Raises AccessEnded if the bank refuses the renewal or the new token too, or if the consent has ended."""
        try:
            if self.now() >= dated.since + timedelta(seconds=dated.tokens.expires_in) - RENEW_BEFORE:
                self.renew(dated)
            try:
                return self.ask(operation, lambda: call(dated.tokens))
            except Refused as refused:
                if not refused.says(TOKEN_REFUSED):
                    raise
            self.renew(dated)
            return self.ask(operation, lambda: call(dated.tokens))
        except Refused as refused:
            if refused.says(TOKEN_REFUSED, CONSENT_ENDED):
                raise AccessEnded from None
            raise

    def renew(self, dated: DatedTokens) -> None:
        """Replaces the tokens by a new pair. The caller holds the visitor's lock, because the old pair is invalid
        afterwards and a second renewal with it would fail."""
        dated.tokens = self.ask("token", lambda: self.make_tpp().refresh(dated.tokens))
        dated.since = self.now()


def read_seconds(retry_after: str | None, now: datetime) -> int:
    """Reads the header Retry-After, a number of seconds or an HTTP date. Returns how many seconds to wait, at most
    BUSY_SECONDS_MAX. If the header is missing or cannot be read, returns BUSY_SECONDS."""
    text = retry_after or ""
    if text.isascii() and text.isdigit():
        return min(int(text[:9]), BUSY_SECONDS_MAX)
    try:
        seconds = ceil((parsedate_to_datetime(text) - now).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return BUSY_SECONDS
    return min(max(seconds, 1), BUSY_SECONDS_MAX)
