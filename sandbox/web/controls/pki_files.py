"""The public files of the PKI, for checks of certificates: no key is needed, also where the controls are off."""

from typing import TYPE_CHECKING

from flask import Flask, Response

from sandbox.contract.errors import Error, Refusal
from sandbox.pki import PLACE
from sandbox.web.html.pages import add_route

if TYPE_CHECKING:
    from sandbox.pki.folder import Folder


def route(app: Flask, folder: "Folder") -> None:
    """Lists and authorities at the addresses that the certificates name."""

    def file(name: str) -> Response:
        found = folder.public_file(name)
        if found is None:
            raise Refusal(Error.NOT_FOUND, input=name[:100])
        content, media_type = found
        return Response(content, content_type=media_type)

    add_route(app, "GET", f"{PLACE}<name>", "file of the PKI", file)
