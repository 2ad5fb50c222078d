"""Brings the calls of libraries that are built on requests to an app in this program."""

from typing import Any

import requests
from flask import Flask
from requests.adapters import BaseAdapter
from requests.structures import CaseInsensitiveDict

BANK = "https://localhost"  # the library wants TLS; nothing leaves this program


class InProcess(BaseAdapter):
    """Brings a request of that library's HTTP client to an app in this program."""

    def __init__(self, app: Flask) -> None:
        super().__init__()
        self.http = app.test_client()

    def send(self, request: requests.PreparedRequest, *args: Any, **more: Any) -> requests.Response:
        sent = self.http.open(
            request.url, method=request.method, headers=dict(request.headers), data=request.body, base_url=BANK
        )
        reply = requests.Response()
        reply.status_code, reply.url, reply.request = sent.status_code, str(request.url), request
        reply.headers = CaseInsensitiveDict(sent.headers)
        reply._content = sent.data
        return reply

    def close(self) -> None:
        pass
