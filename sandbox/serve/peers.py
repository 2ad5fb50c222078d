"""Any address answers: a call of a world that another server has is handed on to that one (choice 12).

The door stands before everything else of an application. It finds the world that a call is of, and who has it: this
server answers, or the call goes on as it came, one hop at the most. A server that it was handed to answers it, or says
that it has not the world; then nothing was done, and the call goes where the world is now.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext, suppress
from functools import partial
from http.client import HTTPException
from typing import Any
from urllib.parse import unquote

from flask import Flask, Response
from werkzeug.routing import Map
from werkzeug.wsgi import ClosingIterator

from sandbox.banking.names import is_world_name
from sandbox.contract.errors import Error, Refusal
from sandbox.serve.relay import HEADER, NOT_HERE, Answer, LostError, Relay, UnreachedError, hop_of, take_hop
from sandbox.web.api.call_record import asked_as
from sandbox.web.api.failures import refusal_response
from sandbox.web.api.target import raw_path, text_of, world_and_path
from sandbox.world.beginning import nth_id
from sandbox.world.log.format import StateFileError
from sandbox.world.ownership import Peer
from sandbox.world.placement import AGAIN, HERE, Placement, Wakes

PAUSE = 0.05  # seconds between two looks for a world that is on its way
AFTER_LEASE = 1.0  # seconds: a dead server's worlds answer at the latest so long after its lease
LINGERS, LINGERS_MAX = 0.3, 5.0  # seconds without a call, after the last world was given up
GIVE = "give"  # the door of a server's own call: to give a world up
GIVES_WITHIN = 5.0  # seconds for the calls of the world that are under way
SAFE = ("GET", "HEAD", "OPTIONS")  # may be sent again though the first one may have been answered
OF_THIS_SERVER = ("/_sandbox/health", "/_sandbox/metrics", "/_sandbox/worlds")

Application = Callable[..., Iterable[bytes]]


class Peers:
    """This server's doors, and the other servers behind them."""

    def __init__(self, placement: Placement, relay: Relay, key: str | None, elapsed: Callable[[], float]) -> None:
        self.placement = placement
        self.relay = relay
        self._key = key
        self._elapsed = elapsed
        self._behind: dict[str, Application] = {}
        self._routes: dict[str, Map] = {}
        self._counted = threading.Condition()
        self._under_way = 0  # calls
        placement.worlds.fetch = self.fetch

    def stand_before(self, app: Flask, door: str) -> None:
        self._behind[door], self._routes[door] = app.wsgi_app, app.url_map
        app.wsgi_app = partial(self.answer, door)  # type: ignore[method-assign]

    def answer(self, door: str, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """A call from its first look to the last byte of its answer."""
        self._count(+1)
        return _ending(lambda: self._answer(door, environ, start_response), partial(self._count, -1))

    def _count(self, change: int) -> None:
        with self._counted:
            self._under_way += change
            self._counted.notify_all()

    def drain(self, stop_listening: Callable[[], None] = lambda: None) -> None:
        """Gives up all worlds while calls are handed on, and ends once none is under way.

        The server refuses new connections before it ends: callers retry a refused one elsewhere, not a reset one."""
        self.placement.drain()
        stop_listening()
        with self._counted:
            while self._counted.wait(LINGERS) or self._under_way:
                if self._elapsed() - self.placement.drained_at > LINGERS_MAX:
                    return

    def _answer(self, door: str, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        hop = take_hop(environ, self._key)
        if hop is not None and hop.door == GIVE:
            return self._gives(environ, start_response)
        if hop is not None:
            door = hop.door if hop.door in self._behind else door
            hop.apply_to(environ)
        inner, (name, wakes) = self._behind[door], world_of(environ)
        if self.placement.ownership.drains:
            environ.get("sandbox.close", lambda: None)()  # the caller's next call takes another line
        if name is None:
            return inner(environ, start_response)
        try:
            found = self._found(name, lambda: wakes and self._is_routed(door, environ), door, environ, hop is not None)
        except StateFileError:
            return self._refused(environ, start_response)
        if isinstance(found, Answer):
            if found.closes:
                environ.get("sandbox.close", lambda: None)()
            start_response(found.status, found.headers)
            return _whole(found.body, environ.get("sandbox.cut", ConnectionResetError))
        if found is not HERE:
            return self._refused(environ, start_response, not_here=hop is not None)
        return _ending(lambda: inner(environ, start_response), partial(self.placement.leave, name))

    def _is_routed(self, door: str, environ: dict[str, Any]) -> bool:
        """A path that is none makes no world."""
        _, path = world_and_path(raw_path(environ))
        routes = self._routes[door].bind("", script_name="/")
        return bool(routes.allowed_methods(text_of(path)))

    def _found(self, name: str, wakes: Wakes, door: str, environ: dict[str, Any], handed: bool) -> Any:
        """HERE, or the answer of the server that has the world; AGAIN where nobody had it for too long."""
        ends = self._elapsed() + self.placement.ownership.lease + AFTER_LEASE
        dead: set[int] = set()
        wait = environ.get("sandbox.wait") or threading.Event().wait
        reserve = environ.get("sandbox.reserve", lambda world: nullcontext())
        while True:
            where = self.placement.enter(name, handed, wakes, dead)
            if where is HERE:
                return where
            if handed or (self._key is None and where is not AGAIN):
                return AGAIN
            if isinstance(where, Peer):
                answer = self._handed_on(where, door, environ, dead)
                if answer is not None:
                    return answer
                self.placement.forget_owner(name)
            if self._elapsed() >= ends:
                return AGAIN
            with reserve(""):
                wait(PAUSE)

    def fetch(self, name: str, owner: Peer | None) -> bool:
        """Asks the server that has a world to give it up; False where it cannot be had, or not for now."""
        if owner is None or self._key is None or owner.id == self.placement.ownership.id:
            return False
        target, host = f"/worlds/{name}/", owner.url.partition("//")[2]
        asked = {"REQUEST_METHOD": "POST", "REQUEST_URI": target, "HTTP_HOST": host, "wsgi.url_scheme": "http"}
        self.placement.forget_owner(name)
        try:
            answer = self._send(owner, GIVE, asked)
        except (UnreachedError, LostError):
            return False
        _drop(answer)
        return answer.status.startswith("204")

    def _gives(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Another server needs the name of a world: it replaces it, or makes it at the same moment."""
        name, _ = world_of(environ)
        world = self.placement.worlds.held(name or "")
        given = world is None or not world.is_here or self.placement.give_up(world, GIVES_WITHIN)
        start_response("204 No Content" if given else "409 Conflict", [])
        return []

    def _handed_on(self, peer: Peer, door: str, environ: dict[str, Any], dead: set[int]) -> Any:
        """None where nothing was done, or nothing that must not be done twice."""
        try:
            with environ.get("sandbox.beside", partial(nullcontext, True))() as has_room:
                if not has_room:
                    return AGAIN
                answer = self._send(peer, door, environ)
        except UnreachedError:
            dead.add(peer.id)
            return None
        except LostError:
            if self._lives(peer) and self.relay.reaches(peer.url) and "sandbox.cut" in environ:
                return Answer("502 Bad Gateway", [], map(_cut, [environ["sandbox.cut"]]), True, "")  # as ordered there
            dead.add(peer.id)
            return None if environ["REQUEST_METHOD"] in SAFE else AGAIN
        if answer.note == NOT_HERE:
            _drop(answer)
            return None
        self.placement.ownership.handed_on += 1
        return answer

    def _send(self, peer: Peer, door: str, environ: dict[str, Any]) -> Answer:
        hop = hop_of(door, environ).header_value(self._key or "")
        return self.relay.send(peer.url, environ, hop, lambda: self._lives(peer))

    def _lives(self, peer: Peer) -> bool:
        try:
            return any(one.id == peer.id for one in self.placement.live_peers())
        except StateFileError:
            return True

    def _refused(self, environ: dict[str, Any], start_response: Any, not_here: bool = False) -> Iterable[bytes]:
        """503 with Retry-After, as whatever the bank cannot answer for the moment."""
        response: Response = refusal_response(Refusal(Error.UNAVAILABLE))
        response.headers["Response-ID"] = asked_as(environ) or nth_id(self.placement.worlds.beginning, 0)
        if not_here:
            response.headers[HEADER] = NOT_HERE
        return response(environ, start_response)


def _ending(answer: Callable[[], Iterable[bytes]], end: Callable[[], None]) -> Iterable[bytes]:
    """An answer after whose last byte, or failure, something is done."""
    try:
        return ClosingIterator(answer(), end)
    except BaseException:
        end()
        raise


def _drop(answer: Answer) -> None:
    """Reads an answer that nobody needs, so that its line can be used again."""
    with suppress(OSError, HTTPException):
        for _ in answer.body:
            pass


def _whole(body: Iterable[bytes], error: type[Exception]) -> Iterator[bytes]:
    """What the other server does not end, this one does not end either."""
    try:
        yield from body
    except (OSError, HTTPException) as broken:
        raise error(str(broken)) from None


def _cut(error: type[Exception]) -> bytes:
    raise error("the other server cut the connection")


def world_of(environ: dict[str, Any]) -> tuple[str | None, bool]:
    """The world that a call is of, and whether the call wakes it; None where any server answers alike."""
    name, path = world_and_path(raw_path(environ))
    wakes = True
    if path.startswith("/_sandbox/worlds/"):  # the controls of a world by its name
        name, _, rest = unquote(path[17:]).partition("/")
        wakes = bool(rest)
    elif path in OF_THIS_SERVER:
        return None, False
    return (name, wakes) if is_world_name(name) else (None, False)
