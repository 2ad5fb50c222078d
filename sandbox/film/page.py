"""The film as one self-contained HTML file: no other file, no address, nothing is loaded."""

from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

import orjson

from sandbox.client import Controls
from sandbox.film.frames import frames_of


def render_film(controls: Controls, title: str) -> str:
    """The film of a world."""
    return page_of(title, frames_of(controls))


def page_of(title: str, content: dict[str, Any]) -> str:
    style = text_of("sandbox.web.html", "tokens.css") + text_of("sandbox.film", "film.css")
    script = text_of("sandbox.film", "film.js")
    # Within a script element nothing may look like its end; the rest of JSON is inert there.
    data = orjson.dumps(content).decode().replace("<", "\\u003c")
    policy = f"default-src 'none'; style-src {hash_of(style)}; script-src {hash_of(script)}; img-src data:"
    left_out = (
        f"<p class='quiet'>{content['left_out']:,} earlier events are left out.</p>" if content["left_out"] else ""
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">\n'
        f"<title>Film: {escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"<header><h1>{escape(title)}</h1>{left_out}</header>\n"
        f"{text_of('sandbox.film', 'film.html')}\n"
        f'<script type="application/json" id="content">{data}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def text_of(package: str, name: str) -> str:
    return (files(package) / "static" / name).read_text(encoding="utf-8")


def hash_of(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
