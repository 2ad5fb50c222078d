"""Axes of headers, versions, bodies and errors (service 2.9, 4.0, 7, 8, 9)."""

from sandbox.contract.axis import Axis, Exclusion, axes_of

axis = axes_of("headers")

ROWS: tuple[Axis, ...] = (
    axis(
        "accept_without_version", "service 9.1", "An Accept that names no version.", "a version that changes by itself",
        ("406", "406."), ("newest", "The newest version of the operation."),
        lenient=("newest",),
    ),
    axis(
        "silent_versions", "service 9.4", "The versions of the endpoints for which the service names none.",
        "an earlier version where 406 is not handled",
        ("table", "All that the table of versions has."), ("newest_only", "The newest alone."),
    ),
    axis(
        "redirect_uri_elsewhere", "service 4.0", "Redirect-URI on reads of accounts and on the status of a file.",
        "a header that is sent on POST only",
        ("optional", "It may be left out."), ("required", "Without it 400."),
    ),
    axis(
        "client_id_elsewhere", "service 4.0", "Client-ID beside an access token.", "a header that nobody misses",
        ("required", "Without it 400."), ("optional", "It may be left out: the token says who calls."),
        lenient=("optional",),
    ),
    axis(
        "language_region", "service 4.0", "An Accept-Language with a region, such as fr-BE.", "a locale for a language",
        ("accepted", "It counts as its language."), ("406", "It is no ISO 639-1 language."),
    ),
    axis(
        "content_type_reply", "service 4.0", "The Content-Type of replies.", "a comparison of whole strings",
        ("charset", "application/json;charset=utf-8."), ("plain", "application/json."),
        ("vendor", "The media type of the Accept header."),
    ),
    axis(
        "error_description", "service 2.9", "The language of error_description.", "a match on the text of an error",
        ("english", "English."), ("callers_language", "French or Dutch where Accept-Language asks for it."),
    ),
    axis(
        "error_codes", "service 7.8", "The values of error_code.", "a match on codes that the service never named",
        ("table", "Those of the catalogue."), ("other", "E01, E02 and so on."),
    ),
    axis(
        "error_words", "service 7.8", "How the fixed-form token of an error is written.", "a comparison by case",
        ("upper", "MISSING_INPUT."), ("lower", "missing_input."),
    ),
    axis(
        "insufficient_funds", "service 7.5", "The status of an initiation for which funds are missing.",
        "a branch on the status",
        ("403", "403."), ("400", "400."),
    ),
    axis(
        "consent_gone", "service 7.2", "The status of a call whose consent was withdrawn or is over.",
        "refreshing a token without end",
        ("403", "403."), ("401", "401."),
    ),
    axis(
        "foreign_id", "service 7.2", "The status for an initiation of another client.", "a branch on the status",
        ("404", "404."), ("403", "403."),
    ),
    axis(
        "wrong_scope", "service 7.2", "The status for a token of another scope.", "refreshing a token without end",
        ("403", "403."), ("401", "401."),
    ),
    axis(
        "retry_after", "service 7.2", "Retry-After beside 429 and 503.", "a date that is read as a number",
        ("seconds", "Seconds."), ("date", "A date of HTTP, by the bank's clock."), ("absent", "None."),
    ),
    axis(
        "limits_count", "service 8", "What is counted for 429, where calls are limited.", "a storm of one user",
        ("client", "The calls of a client."), ("psu", "The calls of a client for one PSU, by its token."),
        ("address", "The calls from an address."),
        excludes=tuple(
            Exclusion(value, "limits", other) for value in ("psu", "address") for other in ("none", "day")
        ),
        lenient=("psu",),
    ),
    axis(
        "unknown_field", "service 2.1", "A field of a body that the bank does not know.", "a typing error",
        ("refused", "400."), ("ignored", "It is left out."),
        lenient=("ignored",),
    ),
    axis(
        "amount_as_number", "service 2.1", "An amount that is a JSON number.", "money as a float",
        ("refused", "400."), ("accepted", "It is read as the decimal string that it is."),
        lenient=("accepted",),
    ),
    axis(
        "names", "service 2.1", "Characters of creditor_name outside the SEPA set, such as é.",
        "names that are sent as they were typed",
        ("free", "They are taken."), ("sepa", "400."),
        ("late", "They are taken, and the payment is RJCT with RR03 when it settles."),
    ),
)  # fmt: skip
