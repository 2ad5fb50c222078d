"""One kit for every HTML page: templates, headers, cookies, form proofs, static files and the design tokens."""
