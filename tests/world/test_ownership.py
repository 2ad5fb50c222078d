"""One writer for a world: which server has it, under which epoch, and how long a lease is believed."""

from collections.abc import Iterator
from threading import Thread

import pytest

from sandbox.world.log.postgres_connection import open_database
from sandbox.world.log.postgres_line import DatabaseError, Line
from sandbox.world.ownership import ElsewhereError, LeaseLostError, Ownership

HEAD = "INSERT INTO heads VALUES (?, 'pace', NULL, 1, 0, 2, 3, NULL, 0)"


class Watch:
    """Seconds that pass in a test's hand: for a server alone, not for the database."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def line(database: str) -> Iterator[Line]:
    made = Line(database)
    open_database(made)
    made.run(lambda there: [there.execute(HEAD, (world,)) for world in (1, 2)])
    yield made
    made.close()


@pytest.fixture
def watch() -> Watch:
    return Watch()


def server(line: Line, watch: Watch, name: str = "one") -> Ownership:
    """Without a thread: the test renews."""
    made = Ownership(line, f"http://{name}:8080", 5.0, watch)
    made.renew()
    return made


def end_lease(line: Line, server: Ownership) -> None:
    """As if its length had passed by the database's clock."""
    line.run(lambda there: there.execute("UPDATE servers SET until = now() WHERE id = ?", (server.id,)))


def test_a_world_is_taken_under_an_epoch_that_grows_each_time(line: Line, watch: Watch) -> None:
    one = server(line, watch)
    assert [one.take(1).epoch, one.take(1).epoch] == [1, 2]
    assert one.has(1, 2) and not one.has(1, 1) and not one.has(2, 0)
    assert (one.epoch(1), one.epoch(2)) == (2, 0)


def test_a_world_of_a_server_that_lives_is_refused_with_its_address(line: Line, watch: Watch) -> None:
    one, two = server(line, watch), server(line, watch, "two")
    one.take(1)
    with pytest.raises(ElsewhereError, match="http://one:8080") as told:
        two.take(1)
    assert told.value.owner is not None and told.value.owner.id == one.id
    assert [peer.address for peer in two.peers()] == ["http://one:8080", "http://two:8080"]


def test_a_world_that_was_given_up_may_be_taken_at_once(line: Line, watch: Watch) -> None:
    one, two = server(line, watch), server(line, watch, "two")
    epoch = one.take(1).epoch
    one.give(1, epoch - 1)  # of an earlier time: nothing happens
    assert one.has(1, epoch)
    one.give(1, epoch)
    assert not one.has(1, epoch)
    assert two.take(1).epoch == epoch + 1


def test_worlds_of_a_server_that_ends_are_free(line: Line, watch: Watch) -> None:
    one, two = server(line, watch), server(line, watch, "two")
    one.take(1)
    one.close()
    assert two.take(1).epoch == 2
    with pytest.raises(LeaseLostError):
        one.demand()


def test_a_server_whose_lease_ended_loses_its_worlds_and_knows_before_it_believes_again(
    line: Line, watch: Watch
) -> None:
    one, two = server(line, watch), server(line, watch, "two")
    epoch, known = one.take(1).epoch, one.id
    end_lease(line, one)
    assert two.take(1).epoch == epoch + 1
    watch.now += 9
    one.renew()
    assert one.id != known and not one.has(1, epoch)
    with pytest.raises(ElsewhereError, match="http://two"):
        one.take(1)


def test_a_late_renewal_keeps_what_nobody_took(line: Line, watch: Watch) -> None:
    one = server(line, watch)
    epoch, known = one.take(1).epoch, one.id
    end_lease(line, one)
    watch.now += 9
    one.renew()
    assert one.id == known and one.has(1, epoch)
    one.demand()


def test_a_lease_is_believed_for_less_than_its_length_from_before_its_renewal(line: Line, watch: Watch) -> None:
    one = server(line, watch)
    watch.now += 3.9
    one.demand()
    watch.now += 0.2
    assert not one.is_fresh
    with pytest.raises(LeaseLostError):
        one.take(2)


def test_a_renewal_that_fails_is_not_believed_and_the_next_one_is(line: Line, watch: Watch) -> None:
    one = server(line, watch)
    watch.now += 4.5
    line.close()
    with pytest.raises(DatabaseError):
        one.renew()
    assert not one.is_fresh
    line.is_closed = False
    one.renew()
    assert one.is_fresh


def test_what_is_taken_while_a_server_loses_its_lease_is_not_its_own(line: Line, watch: Watch) -> None:
    one = server(line, watch)
    known = one.id
    one._forget_all()
    with pytest.raises(LeaseLostError):
        one.note(1, 7, known)
    assert one.epoch(1) == 0


def test_two_servers_that_open_an_empty_database_at_once_both_find_it_whole(database: str) -> None:
    lines = [Line(database) for _ in range(4)]
    errors: list[DatabaseError] = []

    def opens(line: Line) -> None:
        try:
            open_database(line)
        except DatabaseError as error:
            errors.append(error)

    threads = [Thread(target=opens, args=(line,)) for line in lines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for line in lines:
        line.close()
    assert errors == []
