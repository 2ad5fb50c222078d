"""Absolute addresses: the host that the caller used, and the world's prefix (choice 1)."""

from sandbox.wire.gate import Call


def root_of(call: Call) -> str:
    return call.request.host_url.rstrip("/") + str(call.request.environ.get("SCRIPT_NAME", ""))


def sca_address(call: Call, token: str) -> str:
    return f"{root_of(call)}/psu/sign/{token}"
