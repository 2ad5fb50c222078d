"""The encoding of an XML file: found by its first bytes and its declaration, and read as UTF-8 from then on."""

import codecs
import re
from encodings import normalize_encoding
from encodings.aliases import aliases

UTF_8 = frozenset({"utf_8", "ascii"})
HEAD = 1000  # bytes in which the declaration stands
DECLARED = re.compile(r"""\A\ufeff?<\?xml[^>]*?\sencoding\s*=\s*["']([^"'>]*)["']""")
NAME_MAX = 40
# The first bytes of a file, longest first: a byte order mark, or the sign < in wide characters.
MARKS = (
    (b"\xff\xfe\0\0", "utf_32_le"), (b"\0\0\xfe\xff", "utf_32_be"),
    (b"<\0\0\0", "utf_32_le"), (b"\0\0\0<", "utf_32_be"),
    (b"\xff\xfe", "utf_16_le"), (b"\xfe\xff", "utf_16_be"), (b"<\0", "utf_16_le"), (b"\0<", "utf_16_be"),
    (b"\xef\xbb\xbf", "utf_8"),
)  # fmt: skip
# Codecs of the language that are no encodings of texts, or that hide what the bounds of a file look for.
NO_TEXTS = frozenset({"mbcs", "rot_13", "utf_7", "tactis"})
# Only these are looked up: each name that is asked of the codecs would be remembered for ever.
READABLE = {
    alias: name
    for alias, name in (aliases | {name: name for name in aliases.values()}).items()
    if name not in NO_TEXTS and not name.endswith("_codec")
}


class UndecodableError(ValueError):
    """Why the bytes of a file cannot be read as text."""


class Utf8:
    """Converts a file to UTF-8 piece by piece."""

    def __init__(self) -> None:
        self._name = ""
        self._decoder: codecs.IncrementalDecoder | None = None

    @property
    def is_rewritten(self) -> bool:
        """Tells whether the declaration no longer matches the bytes."""
        return self._decoder is not None

    def take(self, piece: bytes, final: bool = False) -> bytes:
        is_first = not self._name
        if is_first:
            self._name = encoding_of(piece[:HEAD])
            if self._name not in UTF_8:
                self._decoder = codecs.getincrementaldecoder(self._name)()
        if self._decoder is None:
            return piece
        try:
            text = self._decoder.decode(piece, final)
            return (text.removeprefix("\ufeff") if is_first else text).encode()
        except UnicodeError:
            raise UndecodableError(f"the XML has bytes that are not {self._name.replace('_', '-')}") from None


def encoding_of(head: bytes) -> str:
    """The name of a codec for an encoding that is known and is that of the bytes."""
    marked = next((name for mark, name in MARKS if head.startswith(mark)), None)
    found = DECLARED.match(head.decode(marked or "latin_1", "replace"))
    if found is None:
        return marked or "utf_8"
    declared = READABLE.get(normalize_encoding(found[1].lower())) if found[1].isascii() else None
    if declared is None:
        taken = "UTF-8, UTF-16, ISO-8859-1 and windows-1252 are some that are"
        raise UndecodableError(f"the XML declares the encoding {found[1][:NAME_MAX]!r}, which is not known; {taken}")
    if family(declared) != family(marked or "") or (marked == "utf_8" and declared not in UTF_8):
        what = (marked or "one byte a character").replace("_", "-")
        raise UndecodableError(f"the XML declares the encoding {found[1]}, and its first bytes are those of {what}")
    return marked or declared


def family(name: str) -> str:
    """UTF-16 of any byte order is one; what needs no mark has none."""
    if name in UTF_8:
        return ""
    return name[:6] if name.startswith(("utf_16", "utf_32")) else ""
