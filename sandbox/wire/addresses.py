"""Absolute addresses: the host that the caller used, and the world's prefix (choice 1)."""

from flask import Request


def root_of(request: Request) -> str:
    return request.host_url.rstrip("/") + str(request.environ.get("SCRIPT_NAME", ""))


def sca_address(request: Request, token: str) -> str:
    return f"{root_of(request)}/psu/sign/{token}"


def consent_address(request: Request, token: str) -> str:
    return f"{root_of(request)}/psu/consent/{token}"
