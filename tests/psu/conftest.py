"""One app for all tests of this folder; each has fresh worlds in it."""

from tests.spec.conftest import app, register, shared_app, worlds

__all__ = ["app", "register", "shared_app", "worlds"]
