"""The sockets of a host: wildcards stand for both families, and all sockets of a listener have one port."""

import socket

import pytest

from fauxka.broker.network import bound_sockets
from fauxka.broker.network.bound_sockets import bind, bind_address


@pytest.mark.asyncio
@pytest.mark.parametrize("host", ["", "0.0.0.0", "::"])
async def test_wildcard_of_either_family_has_one_port_on_both(host: str) -> None:
    sockets = await bind(host, 0)

    try:
        assert {each.family for each in sockets} == {socket.AF_INET, socket.AF_INET6}
        assert len({each.getsockname()[1] for each in sockets}) == 1
    finally:
        close(sockets)


@pytest.mark.asyncio
async def test_free_port_is_chosen_again_if_it_is_in_use_on_another_address(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[socket.socket] = []

    def taking_the_first_port(family: int, address: tuple[object, ...]) -> socket.socket:
        bound = bind_address(family, address)
        if not taken:
            taken.append(bind_address(socket.AF_INET6, ("::", bound.getsockname()[1])))
            taken[0].listen()
        return bound

    monkeypatch.setattr(bound_sockets, "bind_address", taking_the_first_port)

    sockets = await bind("", 0)

    try:
        ports = {each.getsockname()[1] for each in sockets}
        assert len(ports) == 1
        assert ports != {taken[0].getsockname()[1]}
    finally:
        close([*sockets, *taken])


@pytest.mark.asyncio
async def test_port_that_is_in_use_on_one_of_the_addresses_is_refused() -> None:
    (taken,) = await bind("::1", 0)
    taken.listen()

    try:
        with pytest.raises(OSError, match=r"cannot bind \[::1\]:\d+: address already in use"):
            await bind("::1", taken.getsockname()[1])
    finally:
        close([taken])


def close(sockets: list[socket.socket]) -> None:
    for each in sockets:
        each.close()
