"""A bank in a container, for the whole run; `docker build --tag bank-sandbox .` makes its image."""

import secrets
from collections.abc import Iterator

import pytest
from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import HttpWaitStrategy

PORT = 8080


@pytest.fixture(scope="session")
def bank_key() -> str:
    """The port is published on all addresses of this machine, so the controls are locked."""
    return secrets.token_hex()


@pytest.fixture(scope="session")
def bank_url(bank_key: str) -> Iterator[str]:
    container = (
        DockerContainer("bank-sandbox")
        .with_envs(SANDBOX_KEY=bank_key, SANDBOX_SEED="1", SANDBOX_AT="2027-03-01T09:00", SANDBOX_FROZEN="1")
        .with_exposed_ports(PORT)
        .waiting_for(HttpWaitStrategy(PORT, "/_sandbox/health").with_header("X-Sandbox-Key", bank_key))
    )
    with container:
        yield f"http://{container.get_container_host_ip()}:{container.get_exposed_port(PORT)}"
