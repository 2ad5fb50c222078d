"""The common parts of all HTML pages: templates, headers, static files, reports, and hidden fields that prove that a
form was made for its session."""
