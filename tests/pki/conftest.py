"""A PKI made on the spot, and a bank that believes it."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from flask import Flask

from sandbox.app import assemble, make_first_beginning
from sandbox.contract.decisions import Decisions
from sandbox.pki.certificates import QSEAL, QWAC, CertificateRequest, Qualified
from sandbox.pki.folder import Folder
from sandbox.pki.trust import Trust
from sandbox.worlds.registry import WorldRegistry
from tests.tpp import Tpp

REAL = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)  # the machine's time in these tests
DEMO = "PSDBE-SBX-DEMO01"

Issue = Callable[..., Path]


@pytest.fixture(scope="session")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trust") / "pki"
    Folder(path).init(REAL)
    return path


@pytest.fixture(scope="session")
def issue(pki: Path) -> Issue:
    """Makes a certificate of demo-tpp, or one that is wrong in one way."""

    def issued(
        fault: str | None = None,
        kind: str = QWAC,
        roles: tuple[str, ...] = ("PSP_PI", "PSP_AI"),
        organisation: str = DEMO,
        key: str = "ec",
    ) -> Path:
        assert kind in (QWAC, QSEAL)
        name = f"{fault or 'sound'}-{'-'.join(roles)}-{organisation}-{key}"
        said = Qualified(kind, roles, "Authority", "BE-SBX")
        wanted = CertificateRequest(name, organisation, said, REAL - timedelta(days=1), REAL + timedelta(days=365), key)
        return Folder(pki).issue(wanted, fault, REAL)

    return issued


Bank = Callable[..., Tpp]


@pytest.fixture
def bank(pki: Path) -> Bank:
    """A client of a bank with settings of its own, whose machine stands at REAL."""

    def opened(trusting: bool = True, frozen_at: datetime | None = REAL, pki: Path = pki, **settings: object) -> Tpp:
        beginning = make_first_beginning(seed=7, at=frozen_at, rate=0)
        beginning = replace(beginning, settings=replace(Decisions(), **settings))  # type: ignore[arg-type]
        app: Flask = assemble(WorldRegistry(beginning, REAL.timestamp), trust=Trust(pki) if trusting else None)
        app.testing = True
        return Tpp(app)

    return opened
