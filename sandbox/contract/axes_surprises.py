"""Axes of what JSON, HTTP and the network always allow, whatever the service says.

Both languages of a consent address at once are a value of `consent_languages`: where one language is asked for and
matches, the service gives that one (4.7).
"""

from sandbox.contract.axis import Axis, axes_of

axis = axes_of("surprises")

ROWS: tuple[Axis, ...] = (
    axis(
        "unknown_fields", "service 2.4", "Fields of a reply that nobody documented.", "a parser that knows every field",
        ("none", "None."), ("everywhere", "x_new_field and x_new_object in every object."),
    ),
    axis(
        "key_order", "service 4", "The order of the keys of an object.", "a parser that goes by position",
        ("usual", "As documented."), ("reversed", "The other way round."),
    ),
    axis(
        "json_layout", "service 4", "White space between the tokens of JSON.", "a comparison of whole bodies",
        ("compact", "None."), ("indented", "Lines and blanks."),
    ),
    axis(
        "json_escapes", "service 4", "How a string of JSON writes its characters.", "a search in the raw body",
        ("utf8", "As they are."), ("ascii", r"Escapes: \u00e9 for é, \/ for a slash."),
    ),
    axis(
        "number_digits", "service 2.7", "How a number of JSON writes its digits.", "digits that are counted",
        ("all", "All decimals: 12.50."), ("shortest", "No zeros at the end: 12.5."), ("exponent", "1.25e1."),
    ),
    axis(
        "absent_fields", "service 2.4", "How a reply says that a field has nothing.", "a test for the key alone",
        ("absent", "The field is left out."), ("null", "The field is null."),
    ),
    axis(
        "header_case", "service 4", "The case of the names of headers.", "a search for Response-ID by case",
        ("title", "Response-ID."), ("lower", "response-id."),
    ),
    axis(
        "body_pieces", "service 4", "How the body of a reply comes.", "taking the first piece for the whole",
        ("whole", "In one piece."), ("pieces", "In small pieces, with pauses between them."),
    ),
    axis(
        "connection", "service 5.1", "Whether a connection goes on after a reply.", "a pool that reuses it blindly",
        ("kept", "It goes on."), ("closed", "It is closed after each reply."),
    ),
    axis(
        "unavailable", "service 7.2", "Whether the service is unavailable for a moment.", "no second try",
        ("never", "Never."),
        ("first_call", "The first call of each operation is 503, without Retry-After; nothing was done."),
    ),
    axis(
        "gateway", "service 7.2", "What a gateway in front of the bank answers.", "HTML that is parsed as JSON",
        ("silent", "Nothing of its own."),
        ("502", "The first call of each operation is 502, in HTML; nothing was done."),
        ("504", "The first call of each operation is 504, in HTML; it was done, and its reply is lost."),
    ),
)  # fmt: skip
