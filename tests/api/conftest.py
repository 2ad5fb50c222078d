"""One app for all tests of the wire; each has fresh worlds in it."""

from tests.spec.conftest import app, register, shared_app, worlds

__all__ = ["app", "register", "shared_app", "worlds"]
