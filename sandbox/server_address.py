"""The address of a server: its default, how it is written, and how a browser on the same machine opens it."""

HOST = "127.0.0.1"
PORT = 8080
# Hosts that stand for every address of the machine, and the address that a browser can open instead.
EVERYWHERE = {"//0.0.0.0:": "//127.0.0.1:", "//[::]:": "//[::1]:", "//*:": "//127.0.0.1:"}


def write_address(scheme: str, host: str, port: int) -> str:
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def make_openable(address: str) -> str:
    """Returns the address at which this machine reaches a server that listens on `address`."""
    for listens, here in EVERYWHERE.items():
        address = address.replace(listens, here)
    return address


URL = write_address("http", HOST, PORT)
