"""How the application is served: the HTTP server, TLS, the access log and the machine's limits."""
