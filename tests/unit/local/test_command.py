"""What a user types wrongly is answered in one sentence."""

import socket

import pytest

from local.__main__ import arguments, template_parameters
from local.deployment import parameters_for
from local.errors import LocalStackError
from local.stack import free_ports, refuse_used


def test_parameters_are_read() -> None:
    options = arguments(["--delayer-period", "60", "--parameter", "Shards=2", "--parameter", "Pattern=a=b"])
    assert template_parameters(options) == {"DelayerPeriod": "60", "Shards": "2", "Pattern": "a=b"}


@pytest.mark.parametrize("given", ["Shards", "=2"])
def test_a_parameter_without_a_value_is_refused(given: str) -> None:
    with pytest.raises(LocalStackError, match="NAME=VALUE"):
        template_parameters(arguments(["--parameter", given]))


def test_an_unknown_parameter_names_those_there_are() -> None:
    with pytest.raises(LocalStackError, match=r"no parameter Shrads; it has: LogLevel, Shards\."):
        parameters_for({"Shards": {}, "LogLevel": {}}, {"Shrads": "2"})


def test_one_machines_parameters_are_given_where_the_template_has_them() -> None:
    given = parameters_for({"AllowPrivateTargets": {}, "Shards": {}}, {"Shards": "2"})
    assert given == [
        {"ParameterKey": "AllowPrivateTargets", "ParameterValue": "true"},
        {"ParameterKey": "Shards", "ParameterValue": "2"},
    ]


def test_a_used_port_is_named_with_a_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(LocalStackError, match=rf"Port {port} cannot be used .*make local PORT=9090"):
            refuse_used(port)


def test_an_impossible_port_is_named() -> None:
    with pytest.raises(LocalStackError, match="no port 70000"):
        refuse_used(70000)


def test_free_ports_can_be_used() -> None:
    for port in free_ports():
        refuse_used(port)
