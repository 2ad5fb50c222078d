"""Absolute addresses: the host that the caller used, and the world's prefix (choice 1)."""

from functools import lru_cache

from werkzeug.sansio.utils import get_current_url

from sandbox.wire.gate import Call


def root_of(call: Call) -> str:
    return _host_url(call.request.scheme, call.request.host) + str(call.request.environ.get("SCRIPT_NAME", ""))


@lru_cache(maxsize=64)
def _host_url(scheme: str, host: str) -> str:
    """As the request's own `host_url`, worked out once for a host."""
    return get_current_url(scheme, host).rstrip("/")


def sca_address(call: Call, token: str) -> str:
    return f"{root_of(call)}/psu/sign/{token}"
