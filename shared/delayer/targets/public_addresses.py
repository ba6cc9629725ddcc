"""Which addresses `http-request` may reach: public ones, by tables of our own (ADR 0025).

Python's tables differ from one version to the next, and count some addresses as global that lead back to private ones.
So an address must pass these tables, and those of Python as well.
"""

from ipaddress import IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

GLOBAL_UNICAST: Final = IPv6Network("2000::/3")  # all that IANA has assigned for it; nothing else of IPv6 is a target

# From the registries of IANA for special-purpose addresses, with what was withdrawn and what is not for web servers.
REFUSED: Final = tuple(
    ip_network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # behind the NAT of a carrier; some clouds have their metadata here
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local: metadata, credentials of containers, Lambda's own runtime
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112: answers for private names
        "192.52.193.0/24",  # AMT relays
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
        "::/96",  # unspecified, loopback, and IPv4-compatible
        "::ffff:0:0:0/96",  # IPv4-translated
        "64:ff9b::/96",  # NAT64: holds any IPv4 address
        "64:ff9b:1::/48",  # NAT64 of one network
        "100::/64",  # discard
        "2001::/23",  # protocol assignments: Teredo, benchmarks, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: holds any IPv4 address
        "2620:4f:8000::/48",  # AS112
        "3ffe::/16",  # 6bone, withdrawn
        "3fff::/20",  # documentation
        "5f00::/16",  # segment routing
        "fc00::/7",  # unique local
        "fe80::/10",  # link-local
        "fec0::/10",  # site-local
        "ff00::/8",  # multicast
    )
)


def public_address(text: str) -> str | None:
    """The address to connect to, that of IPv4 if it was mapped into IPv6. None if it is not public, or no address."""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    if not address.is_global or address.is_multicast or any(address in network for network in REFUSED):
        return None
    if isinstance(address, IPv6Address) and (address not in GLOBAL_UNICAST or address.scope_id):
        return None
    return str(address)
