"""Close the network: whatever is not on this machine is unreachable, as it would be with the cable pulled.

conftest.py runs this file in the test process, and puts its folder on PYTHONPATH, so that Python runs it at the start
of every subprocess too. It changes the standard library, not the code under test.
"""

import errno
import functools
import ipaddress
import socket

_connect = socket.socket.connect
_connect_ex = socket.socket.connect_ex
_getaddrinfo = socket.getaddrinfo


def _refusal(host):
    """The sentence that says what a test tried to reach."""
    return f"tests may reach this machine only, and this one tried {host}"


def _is_address(host):
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_near(host):
    """Whether a name or an address is this machine's own."""
    return host == "localhost" or (_is_address(host) and (ipaddress.ip_address(host).is_loopback or _is_ours(host)))


@functools.cache
def _is_ours(host):
    """Whether an address is one of this machine's network cards: no other can be bound."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((host, 0))
    except OSError:
        return False
    return True


def _check(address):
    # Other families than the internet's (Unix sockets) have addresses that are no tuples.
    if isinstance(address, tuple) and not _is_near(address[0]):
        raise OSError(errno.ENETUNREACH, _refusal(address[0]))


def _closed_connect(self, address):
    _check(address)
    return _connect(self, address)


def _closed_connect_ex(self, address):
    _check(address)
    return _connect_ex(self, address)


def _closed_getaddrinfo(host, *args, **kwargs):
    name = host.decode() if isinstance(host, bytes) else host
    # No name means this machine; an address needs no look-up, and connecting to it is refused above.
    if name and not _is_near(name) and not _is_address(name):
        raise socket.gaierror(socket.EAI_NONAME, _refusal(name))
    return _getaddrinfo(host, *args, **kwargs)


socket.socket.connect = _closed_connect
socket.socket.connect_ex = _closed_connect_ex
socket.getaddrinfo = _closed_getaddrinfo
