"""The HTTP server of the application, with TLS, bounds on connections, and the access log."""
