"""Where a request begins and ends (RFC 9112).

A proxy before the bank may read an ambiguous request differently. What it takes for a body may be a second request to
the bank, which passed no check of the proxy (request smuggling). So an ambiguous request is refused, and its connection
ends.
"""

from collections import Counter

from sandbox.contract.errors import Error, Refusal

CONTINUE = "100-continue"


def demand_known_expectation(value: str) -> None:
    """Refuses all expectations but 100-continue (RFC 9110, 10.1.1)."""
    if value and any(part.strip().lower() not in ("", CONTINUE) for part in value.split(",")):
        raise Refusal(Error.EXPECTATION_FAILED)


def demand_framing(head: bytes, version: str) -> None:
    """Refuses an ambiguous head: the request line and the headers, as they were sent."""
    lower = head.lower()
    if version == "1.1" and lower.count(b"\nhost:") == 1 and b"\ntransfer-encoding:" not in lower:
        return  # nearly all requests
    # A line that begins with a space belongs to the one before.
    lines = [line for line in lower.split(b"\r\n")[1:] if line and line[:1] not in b" \t"]
    sent = Counter(line.partition(b":")[0] for line in lines)
    if version not in ("1.0", "1.1"):
        raise Refusal(Error.INPUT_INVALID, input="request", why="its version is neither HTTP/1.1 nor HTTP/1.0")
    if sent[b"transfer-encoding"] and (sent[b"content-length"] or version == "1.0"):
        why = "beside Content-Length" if sent[b"content-length"] else "HTTP/1.0 knows none"
        raise Refusal(Error.HEADER_INVALID, input="Transfer-Encoding", why=why)  # RFC 9112, 6.1
    if sent[b"host"] > 1:
        raise Refusal(Error.HEADER_INVALID, input="Host", why="it is there twice")  # RFC 9112, 3.2
    if not sent[b"host"] and version != "1.0":
        raise Refusal(Error.HEADER_MISSING, input="Host")
