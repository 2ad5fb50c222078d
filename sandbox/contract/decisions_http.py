"""Decisions about the calls and replies of all operations: headers, versions, errors, proofs (signatures and client
certificates), surprises and callbacks.

A surprise is a form that JSON, HTTP or the network allows, and that a client may not expect. A reply with consent
addresses in both languages is not a surprise, but a decision of its own (`consent_languages`), because the service
gives one address if a client asks for one language (4.7).

The callback axes are the forms in which a browser may bring a callback (service 5.3, 6.1, RFC 6749). The values that
are marked ! come from a faulty bank, a forger or a browser. A right client refuses such a callback, or does without it.
There is no axis for a callback that comes before the reply to the POST, because the bank does not decide that."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from sandbox.contract.decision_rows import AxisTopic, Exclusion, Topic, setting

header, proof = AxisTopic("headers"), AxisTopic("proof")
surprise, callback = AxisTopic("surprises"), AxisTopic("callback")
NETWORK = (r"[0-9.]{7,15}(/[0-9]{1,2})?|[0-9a-fA-F:.]{2,45}(/[0-9]{1,3})?", "10.0.0.0/8")

RISK = (r"[a-z_]+ *: *\S.*", "consent: biometrics")


# fmt: off
@dataclass(frozen=True)
class HttpDecisions:
    vendor: str = setting(
        Topic.INTERFACE, "choice 2", "service", "The word in Accept: application/vnd.<word>.api+json.",
        form=(r"[a-z0-9][a-z0-9.-]{0,60}", "service"),
        axis=header.make_axis(
            "service 4.0", "The word in application/vnd.<vendor>.api+json.", "a hard-coded Accept",
            ("service", "Accept is application/vnd.service.api+json."),
            ("bank.example", "Accept is application/vnd.bank.example.api+json."), shown_by="pays shop",
        ),
    )
    request_id_reuse: Literal["replay", "refuse", "allow"] = setting(
        Topic.INTERFACE, "choice 2", "replay",
        "What a used Request-ID gets: the same reply again, a refusal, or a new initiation.",
        axis=header.make_axis(
            "service 4.0", "What a Request-ID does that was used before.", "a second payment when a POST is sent again",
            ("replay", "The identical initiation gets the first reply again."), ("refuse", "It is refused with 400."),
            ("allow", "It is a call like any other."), shown_by="loses_a_reply",
        ),
    )
    requests_per_minute: int = setting(
        Topic.LIMITS, "choice 13", 0, "Calls of a client in one minute; 0 is no limit.", least=0,
        axis=header.make_axis(
            "service 8", "How much a client may call.", "no back-off after 429",
            ("none", "As much as it likes."), ("minute", "20 calls a minute, then 429.", 20),
            ("day", "4 reads of an account a day without its PSU, then 429.", {"reads_per_day": 4}),
            name="limits", shown_by="waits_as_asked shop",
        ),
    )
    reads_per_day: int = setting(
        Topic.LIMITS, "choice 13", 0, "Reads of an account in one day without its customer; 0 is no limit.", least=0,
    )
    accept_without_version: Literal["406", "newest"] = header(
        "service 9.1", "An Accept that names no version.", "a version that changes by itself",
        ("406", "406."), ("newest+", "The newest version of the operation."),
        unfelt="The client names a version in each call.",
    )
    silent_versions: Literal["table", "newest_only"] = header(
        "service 9.4", "The versions of the endpoints for which the service names none.",
        "an earlier version where 406 is not handled",
        ("table", "All that the table of versions has."), ("newest_only", "The newest alone."), shown_by="shop",
        unfelt="The client asks for the newest version of each operation.",
    )
    redirect_uri_elsewhere: Literal["optional", "required"] = header(
        "service 4.0", "Redirect-URI on reads of accounts and on the status of a file.",
        "a header that is sent on POST only",
        ("optional", "It may be left out."), ("required", "Without it 400."),
        unfelt="The client sends Redirect-URI with each call.",
    )
    client_id_elsewhere: Literal["required", "optional"] = header(
        "service 4.0", "Client-ID beside an access token.", "a header that nobody misses",
        ("required", "Without it 400."), ("optional+", "It may be left out: the token says who calls."),
        unfelt="The client sends Client-ID with each call.",
    )
    language_region: Literal["accepted", "406"] = header(
        "service 4.0", "An Accept-Language with a region, such as fr-BE.", "a locale for a language",
        ("accepted", "It counts as its language."), ("406", "It is no ISO 639-1 language."),
        unfelt="The client sends the language beside its region: fr-BE, fr.",
    )
    content_type_reply: Literal["charset", "plain", "vendor"] = header(
        "service 4.0", "The Content-Type of replies.", "a comparison of whole strings",
        ("charset", "application/json;charset=utf-8."), ("plain", "application/json."),
        ("vendor", "The media type of the Accept header."), shown_by="pays shop",
    )
    error_description: Literal["english", "callers_language"] = header(
        "service 2.9", "The language of error_description.", "a match on the text of an error",
        ("english", "English."), ("callers_language", "French or Dutch where Accept-Language asks for it."),
        shown_by="asks_in_two_languages shop",
    )
    error_codes: Literal["table", "other"] = header(
        "service 7.8", "The values of error_code.", "a match on codes that the service never named",
        ("table", "Those of the catalogue."), ("other", "E01, E02 and so on."), shown_by="asks_in_two_languages shop",
    )
    error_words: Literal["upper", "lower"] = header(
        "service 7.8", "How the fixed-form token of an error is written.", "a comparison by case",
        ("upper", "MISSING_INPUT."), ("lower", "missing_input."), shown_by="asks_in_two_languages shop",
    )
    insufficient_funds: Literal["403", "400"] = header(
        "service 7.5", "The status of an initiation for which funds are missing.", "a branch on the status",
        ("403", "403."), ("400", "400."), shown_by="lacks_money",
    )
    consent_gone: Literal["403", "401"] = header(
        "service 7.2", "The status of a call whose consent was withdrawn or is over.", "refreshing a token without end",
        ("403", "403."), ("401", "401."), shown_by="loses_access",
    )
    foreign_id: Literal["404", "403"] = header(
        "service 7.2", "The status for an initiation of another client.", "a branch on the status",
        ("404", "404."), ("403", "403."), shown_by="loses_access",
    )
    wrong_scope: Literal["403", "401"] = header(
        "service 7.2", "The status for a token of another scope.", "refreshing a token without end",
        ("403", "403."), ("401", "401."), shown_by="loses_access",
    )
    retry_after: Literal["seconds", "date", "absent"] = header(
        "service 7.2", "Retry-After beside 429 and 503.", "a date that is read as a number",
        ("seconds", "Seconds."), ("date", "A date of HTTP, by the bank's clock."), ("absent", "None."),
        shown_by="waits_as_asked",
    )
    limits_count: Literal["client", "psu", "address"] = header(
        "service 8", "What is counted for 429, where calls are limited.", "a storm of one user",
        ("client", "The calls of a client."), ("psu+", "The calls of a client for one PSU, by its token."),
        ("address", "The calls from an address."),
        excludes=(
            Exclusion("psu", "limits", "none"), Exclusion("psu", "limits", "day"),
            Exclusion("address", "limits", "none"), Exclusion("address", "limits", "day"),
        ),
        shown_by="waits_as_asked",
    )
    unknown_field: Literal["refused", "ignored"] = header(
        "service 2.1", "A field of a body that the bank does not know.", "a typing error",
        ("refused", "400."), ("ignored+", "It is left out."),
        unfelt="The client sends no field that the service does not have.",
    )
    amount_as_number: Literal["refused", "accepted"] = header(
        "service 2.1", "An amount that is a JSON number.", "money as a float",
        ("refused", "400."), ("accepted+", "It is read as the decimal string that it is."),
        unfelt="The client sends amounts as strings.",
    )
    names: Literal["free", "sepa", "late"] = header(
        "service 2.1", "Characters of creditor_name outside the SEPA set, such as é.",
        "names that are sent as they were typed",
        ("free", "They are taken."), ("sepa", "400."),
        ("late", "They are taken, and the payment is RJCT with RR03 when it settles."), shown_by="writes_names",
    )
    signatures: Literal["lenient", "off", "strict"] = setting(
        Topic.SIGNATURES, "choice 2", "lenient",
        "off: not read. lenient: verified where they are sent. strict: required on each initiation.",
        axis=proof.make_axis(
            "service 5.8", "Whether initiations must be signed.", "an unsigned initiation",
            ("lenient", "Signature, Digest and Date are verified when they are there."),
            ("off+", "They are not looked at."), ("strict", "All three are required."), shown_by="proves shop",
            unfelt_values={"off": "A right signature is taken, whether or not it is looked at."},
        ),
    )
    # by_risk: the methods that the customer activated, without those that a risk excludes.
    sca_methods: Literal["by_risk", "card_reader", "app"] = setting(
        Topic.SIGNING, "service 5.7", "by_risk",
        "How customers approve: by card reader or app alone, or by the methods they activated.",
        axis=proof.make_axis(
            "service 5.7", "How customers sign and consent.", "a time-out too short",
            ("by_risk", "As the customer activated; a risk refuses some methods."),
            ("card_reader", "The card reader alone."), ("app", "The bank's app alone, for which a page waits."),
            shown_by="signs_by_another_method",
        ),
    )
    method_risks: tuple[str, ...] = setting(
        Topic.SIGNING, "service 5.7", (),
        "The methods that a risk refuses in place of its default, each as risk: methods, or risk: none.", form=RISK,
    )
    risky_amount: int = setting(
        Topic.SIGNING, "service 5.7", 500, "Over so many euros the risk `amount` holds.",
    )
    large_amount: int = setting(
        Topic.SIGNING, "service 5.7", 5_000, "Over so many euros the risk `large` holds.",
    )
    date_tolerance: timedelta = setting(
        Topic.SIGNATURES, "choice 9", timedelta(minutes=3),
        "How far the header Date of a signed call may be from bank time.",
        axis=proof.make_axis(
            "service 5.8", "How far Date may be from the bank's time.", "a clock that is wrong",
            ("long", "3 minutes."), ("short", "30 seconds.", timedelta(seconds=30)), shown_by="proves",
        ),
    )
    client_certificates: Literal["off", "proxy", "tls"] = setting(
        Topic.SIGNATURES, "choice 9", "off",
        "Where the client's certificate comes from: nowhere, a proxy's header, or the TLS handshake.",
        axis=proof.make_axis(
            "service 5.1", "Whether a client certificate is demanded.", "495, and a proxy that forwards no certificate",
            ("off", "None is looked at."), ("proxy", "A proxy passes it on in a header; without one 495."),
            ("tls", "It comes with the handshake; without one 495."), shown_by="shows_a_certificate",
        ),
    )
    certificate_clock: Literal["real", "bank"] = setting(
        Topic.SIGNATURES, "choice 9", "real", "Whose time a certificate must cover: the machine's or the bank's.",
        axis=proof.make_axis(
            "service 5.1", "Whose time a certificate must cover.", "a certificate that ends",
            ("real", "Real time."), ("bank", "The bank's time."), shown_by="shows_a_certificate",
        ),
    )
    signature_over: Literal["body", "attached", "detached", "headers"] = proof(
        "service 5.8", "What a signature is over.", "a proof that the bank cannot verify",
        ("body", "The body, in the payload part or detached."),
        ("attached", "The body, which stands in the payload part."), ("detached", "The body, detached."),
        ("headers", "The lines request-id, digest and date, in the payload part or detached."),
        excludes=(
            Exclusion("attached", "signatures", "off"), Exclusion("detached", "signatures", "off"),
            Exclusion("headers", "signatures", "off"),
        ),
        shown_by="proves",
        unfelt_values={
            "detached": "The client detaches the body where both forms are taken.",
            "headers": "The manual says what is signed, and the replies are alike.",
        },
    )
    unknown_fields: Literal["none", "everywhere"] = surprise(
        "service 2.4", "Fields of a reply that nobody documented.", "a parser that knows every field",
        ("none", "None."), ("everywhere", "x_new_field and x_new_object in every object."), shown_by="pays shop",
    )
    key_order: Literal["usual", "reversed"] = surprise(
        "service 4", "The order of the keys of an object.", "a parser that goes by position",
        ("usual", "As documented."), ("reversed", "The other way round."), shown_by="pays shop",
    )
    json_layout: Literal["compact", "indented"] = surprise(
        "service 4", "White space between the tokens of JSON.", "a comparison of whole bodies",
        ("compact", "None."), ("indented", "Lines and blanks."), shown_by="pays shop",
    )
    json_escapes: Literal["utf8", "ascii"] = surprise(
        "service 4", "How a string of JSON writes its characters.", "a search in the raw body",
        ("utf8", "As they are."), ("ascii", "Escapes: \\u00e9 for é, \\/ for a slash."), shown_by="pays shop",
    )
    number_digits: Literal["all", "shortest", "exponent"] = surprise(
        "service 2.7", "How a number of JSON writes its digits.", "digits that are counted",
        ("all", "All decimals: 12.50."), ("shortest", "No zeros at the end: 12.5."), ("exponent", "1.25e1."),
        shown_by="reads shop",
    )
    absent_fields: Literal["absent", "null"] = surprise(
        "service 2.4", "How a reply says that a field has nothing.", "a test for the key alone",
        ("absent", "The field is left out."), ("null", "The field is null."), shown_by="pays shop",
    )
    header_case: Literal["title", "lower"] = surprise(
        "service 4", "The case of the names of headers.", "a search for Response-ID by case",
        ("title", "Response-ID."), ("lower", "response-id."), shown_by="pays shop",
    )
    body_pieces: Literal["whole", "pieces"] = surprise(
        "service 4", "How the body of a reply comes.", "taking the first piece for the whole",
        ("whole", "In one piece."), ("pieces", "In small pieces, with pauses between them."), shown_by="pays shop",
    )
    connection: Literal["kept", "closed"] = surprise(
        "service 5.1", "Whether a connection goes on after a reply.", "a pool that reuses it blindly",
        ("kept", "It goes on."), ("closed", "It is closed after each reply."), shown_by="pays_on_lines_that_end shop",
    )
    unavailable: Literal["never", "first_call"] = surprise(
        "service 7.2", "Whether the service is unavailable for a moment.", "no second try",
        ("never", "Never."),
        ("first_call", "The first call of each operation is 503, without Retry-After; nothing was done."),
        shown_by="waits_as_asked shop",
    )
    gateway: Literal["silent", "502", "504"] = surprise(
        "service 7.2", "What a gateway in front of the bank answers.", "HTML that is parsed as JSON",
        ("silent", "Nothing of its own."),
        ("502", "The first call of each operation is 502, in HTML; nothing was done."),
        ("504", "The first call of each operation is 504, in HTML; it was done, and its reply is lost."),
        shown_by="waits_as_asked shop",
    )
    callback_state: Literal["kept", "missing", "altered", "other_flow"] = callback(
        "service 6.1", "The state that comes back.", "no guard against forgery",
        ("kept", "As the TPP gave it."), ("missing!", "It is left out."), ("altered!", "It is another."),
        ("other_flow!", "That of the client's flow before."), shown_by="refuses_forgeries shop",
    )
    callback_code: Literal["given", "twice", "foreign", "other_flow"] = callback(
        "service 6.1", "The code that comes back.", "a code that is exchanged without a look",
        ("given", "The code of this flow."), ("twice!", "The parameter stands there twice."),
        ("foreign!", "A code that the bank did not give to this client."),
        ("other_flow!", "That of the client's flow before."), shown_by="refuses_forgeries shop",
    )
    callback_arrival: Literal["once", "twice", "late", "never"] = callback(
        "service 6.1", "How the browser comes to the callback.", "a callback taken for granted",
        ("once", "Once, at once."), ("twice", "Twice, as after a reload."),
        ("late!", "After the end of its code's life."), ("never!", "The PSU closed the browser."),
        shown_by="is_called_back_twice shop",
    )
    refusal_callback: Literal["error", "none"] = callback(
        "service 6.1", "What follows when the PSU refuses.", "an order that hangs",
        ("error", "The callback has an error."), ("none", "The bank's page says so, and no callback follows."),
        shown_by="is_refused shop",
    )
    code_beside_token: Literal["no", "yes"] = callback(
        "service 6.1", "A code where an access token was used at the initiation.", "a wrong exchange",
        ("no", "None."), ("yes", "A code that cannot be exchanged, as no challenge was sent."),
        shown_by="pays_with_a_token",
    )
    callback_error: Literal["access_denied", "server_error"] = callback(
        "service 6.1", "The error after a refusal.", "one error taken for all",
        ("access_denied", "access_denied."), ("server_error", "server_error, which RFC 6749 has too."),
        shown_by="is_refused shop",
    )
    callback_outcome: Literal["one", "both"] = callback(
        "service 6.1", "Whether a callback says one thing.", "looking at code before error",
        ("one", "A code, or an error."), ("both!", "A code, and error=server_error."),
        shown_by="refuses_forgeries shop",
    )
    callback_parameters: Literal["known", "more"] = callback(
        "service 6.1", "Further parameters of the callback.", "a parser that expects no more",
        ("known", "None."), ("more", "iss and session_state, as other servers send."), shown_by="pays shop",
    )
    callback_encoding: Literal["plus", "percent"] = callback(
        "service 6.1", "How a blank in the callback is encoded.", "a decoder of its own",
        ("plus", "+."), ("percent", "%20."), shown_by="is_refused shop",
    )
    certificate_header: str = setting(
        Topic.SIGNATURES, "choice 9", "X-Client-Cert", "The header in which a proxy hands the certificate on.",
        form=(r"[A-Za-z0-9-]{1,64}", "X-Client-Cert"),
    )
    trusted_proxies: tuple[str, ...] = setting(
        Topic.SIGNATURES, "choice 9", ("127.0.0.0/8", "::1"), "The networks whose header is believed.", form=NETWORK,
    )
    body_size_max: int = setting(
        Topic.INTERFACE, "choice 2", 1_000_000, "Bytes of a JSON or form body.",
    )
