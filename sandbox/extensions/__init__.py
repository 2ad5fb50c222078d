"""The extensions that the sandbox ships with. The core imports none of them."""
