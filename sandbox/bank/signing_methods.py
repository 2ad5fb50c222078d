"""How a customer signs: by card reader, in the bank's app, or by biometrics (service 5.7)."""

METHODS = ("card_reader", "app", "biometrics")
