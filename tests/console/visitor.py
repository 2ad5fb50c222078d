"""Somebody at the console in a test, as a browser without JavaScript would be."""

import re
from urllib.parse import quote

from flask import Flask
from werkzeug.test import TestResponse

PROOF = re.compile(r'name="proof" value="([0-9a-f]+)"')


class Visitor:
    """One browser: its cookies, and the page it looks at."""

    def __init__(self, app: Flask) -> None:
        self.http = app.test_client()
        self.page: TestResponse

    def open(self, address: str) -> TestResponse:
        self.page = self.http.get(address)
        found = PROOF.search(self.page.text)
        if found:
            self.proof, self.root = found[1], address.partition("/_sandbox")[0] + "/_sandbox"
        return self.page

    def post(self, action: str, **fields: str) -> TestResponse:
        """A form of the page that is open, with the proof that stands there."""
        return self.http.post(f"{self.root}/console/do/{quote(action)}", data={"proof": self.proof, **fields})

    def press(self, action: str, **fields: str) -> TestResponse:
        """Presses a button, and says yes where the console asks before something is lost."""
        reply = self.post(action, **fields)
        if reply.status_code == 200 and 'name="sure"' in reply.text:
            reply = self.post(action, **fields, sure="yes")
        return self.open(reply.headers["Location"]) if reply.status_code == 303 else reply
