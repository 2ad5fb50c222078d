"""What our company adds to the sandbox. Nothing is imported here but the object that names it."""

from sandbox.extension_registry import Extension

EXTENSION = Extension(
    name="company",
    commands={"invoices": "company_bank.commands:invoices"},
    controls="company_bank.controls:CONTROLS",
    settings="company_bank.rules:SETTINGS",
    extends={"referee": "company_bank.rules"},
)
