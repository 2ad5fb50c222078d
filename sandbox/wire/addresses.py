"""Absolute addresses: the host that the caller used, and the world's prefix (choice 1)."""

from functools import lru_cache

from flask import Request
from werkzeug.sansio.utils import get_current_url


def root_of(request: Request) -> str:
    return _host_url(request.scheme, request.host) + str(request.environ.get("SCRIPT_NAME", ""))


@lru_cache(maxsize=64)
def _host_url(scheme: str, host: str) -> str:
    """As the request's own `host_url`, worked out once for a host."""
    return get_current_url(scheme, host).rstrip("/")


def sca_address(request: Request, token: str) -> str:
    return f"{root_of(request)}/psu/sign/{token}"


def consent_address(request: Request, token: str) -> str:
    return f"{root_of(request)}/psu/consent/{token}"
