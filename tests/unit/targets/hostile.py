"""What somebody would name to reach inside the account: addresses, spellings of them, names, places to redirect to."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

# Written down once more, and not taken from the code: each network, from the registries of IANA.
NETWORKS = (
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"),
    *("192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
    *("224.0.0.0/4", "240.0.0.0/4", "255.255.255.255/32"),
    *("::/128", "::1/128", "::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001::/32"),
    *("2001:2::/48", "2001:10::/28", "2001:20::/28", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16"),
    *("fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8", "4000::/3", "8000::/1", "1000::/4"),
)
KNOWN = (
    "127.0.0.1",  # loopback
    "169.254.169.254",  # the metadata of EC2
    "169.254.170.2",  # the credentials of a container
    "169.254.170.23",  # the credentials of a pod
    "169.254.100.5",  # Lambda's own
    "169.254.78.1",
    "169.254.169.253",  # the resolver of a VPC
    "169.254.169.123",  # its clock
    "10.0.0.2",
    "172.17.0.1",  # the host of a container
    "192.168.0.1",
    "100.100.100.200",  # the metadata of another cloud
    "192.0.0.192",  # and of another
    "192.0.0.9",  # an exception that some tables make within 192.0.0.0/24
    "192.0.0.10",
    "192.88.99.1",
    "224.0.0.251",
    "239.255.255.250",
    "0.0.0.0",
    "255.255.255.255",
    "::1",
    "::",
    "fe80::1",
    "fe80::1%eth0",
    "fe80::a9fe:a9fe",
    "fd00:ec2::254",  # the metadata of EC2
    "fd00:ec2::253",
    "fd00:ec2::23",
    "fd20:ce::254",
    "ff02::1",
    "ff0e::1",  # multicast of global scope
    "::127.0.0.1",
    "::ffff:0:127.0.0.1",
    "2001:1::1",  # exceptions that some tables make within 2001::/23
    "2001:1::2",
    "2001:4:112::1",
    "2001:20::1",
    "2001:30::1",
    "3fff:fff::1",
    "2606:4700:4700::1111%eth0",  # public, on an interface that the answer names
)


def inside(text: str) -> set[str]:
    """The ends of a network, their neighbours inside it, and its middle."""
    network = ip_network(text)
    first, last = int(network.network_address), int(network.broadcast_address)
    of = IPv4Address if network.version == 4 else IPv6Address
    return {
        str(of(number)) for number in (first, min(first + 1, last), (first + last) // 2, max(last - 1, first), last)
    }


def containing(address: IPv4Address) -> list[str]:
    """Addresses of IPv6 that lead, or once led, to one of IPv4."""
    number = int(address)
    high, low = number >> 16, number & 0xFFFF
    teredo = number ^ 0xFFFF_FFFF
    return [
        f"::ffff:{address}",
        f"::ffff:{high:x}:{low:x}",
        f"64:ff9b::{address}",
        f"64:ff9b:1::{address}",
        f"2002:{high:x}:{low:x}::1",
        f"2001:0:5ef5:79fb:0:0:{teredo >> 16:x}:{teredo & 0xFFFF:x}",
        f"::{address}",
        f"::ffff:0:{address}",
    ]


def addresses() -> list[str]:
    """What a resolver may answer, each of which is refused."""
    plain = {address for network in NETWORKS for address in inside(network)} | set(KNOWN)
    inner = [IPv4Address(text) for text in KNOWN if ":" not in text]
    return sorted(plain | {outer for address in inner for outer in containing(address)})


def spellings(text: str) -> list[str]:
    """How else an address of IPv4 can be written in a URL. What a resolver makes of it is what counts."""
    address = IPv4Address(text)
    number, parts = int(address), [int(part) for part in text.split(".")]
    wide = str.maketrans("0123456789.", "\uff10\uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18\uff19\u3002")
    return [
        text,
        f"{text}.",
        str(number),
        hex(number),
        oct(number).replace("0o", "0"),
        ".".join(hex(part) for part in parts),
        ".".join(f"0{part:o}" for part in parts),
        ".".join(f"{part:03o}".zfill(6) for part in parts),
        f"{parts[0]}.{number & 0xFFFFFF}",
        f"{parts[0]}.{parts[1]}.{number & 0xFFFF}",
        f"0x{parts[0]:x}.{number & 0xFFFFFF}",
        f"0X{parts[0]:X}.0{parts[1]:o}.{parts[2]}.{parts[3]}",
        text.translate(wide),
        text.replace(".", "%2E"),
        "".join(f"%{ord(letter):02x}" for letter in text),
        *(f"[{outer}]" for outer in containing(address)),
        f"[{ip_address(f'::ffff:{text}').exploded}]",
    ]


# Names that lead inside, and what their name servers answer.
NAMES = {
    "localhost": ["127.0.0.1", "::1"],
    "LOCALHOST": ["127.0.0.1"],
    "localhost.": ["127.0.0.1"],
    "localhost.localdomain": ["127.0.0.1"],
    "ip6-localhost": ["::1"],
    "app.localhost": ["::1"],
    "localtest.me": ["127.0.0.1"],
    "127.0.0.1.nip.io": ["127.0.0.1"],
    "169-254-169-254.sslip.io": ["169.254.169.254"],
    "metadata.google.internal": ["169.254.169.254"],
    "instance-data.ec2.internal": ["169.254.169.254"],
    "host.docker.internal": ["192.168.65.254"],
    "kubernetes.default.svc": ["10.96.0.1"],
    "sandbox": ["169.254.100.5"],
    "xn--fiqs8s.example": ["10.0.0.1"],
    "_service.example": ["172.31.0.1"],
}
# Where a URL ends and what belongs to its host has been read in different ways; `{}` is an address inside.
TRICKS = (
    "http://public.example@{}/",
    "http://public.example:80@{}/",
    "http://{}#@public.example/",
    "http://{}?@public.example/",
    "http://{}\\@public.example/",
    "http://public.example\\@{}/",
    "http://{}:80#public.example",
    "http:{}/",
    "http:///{}/",
    "http://{}:080/",
    "http://{}%00.public.example/",
    "http://{}%23.public.example/",
    "http://{}\t/",
    "http://\t{}/",
    "http://{}\r\n/",
    " http://{}/",
    "HTTP://{}/",
    "hTTps://{}/",
    "http://{}:443/",
    "http://{}:65536/",
    "http://[{}]/",
    "http://[::ffff:{}]:80/",
    "http://[::ffff:{}%25eth0]/",
    "ftp://{}/",
    "gopher://{}:25/_HELO",
    "file://{}/etc/passwd",
    "dict://{}:11211/stats",
    "//{}/",
    "ws://{}/",
    "unix://{}/",
    "http+unix://{}/",
    "jar:http://{}!/",
    "http://{}/../@public.example",
)


def urls() -> list[str]:
    """URLs that lead inside, or nowhere."""
    spelled = [f"http://{host}/" for text in KNOWN if ":" not in text for host in spellings(text)]
    inner = [f"http://[{text}]/" for text in addresses() if ":" in text and "%" not in text]
    tricks = [trick.format(address) for trick in TRICKS for address in ("127.0.0.1", "169.254.169.254")]
    return list(dict.fromkeys(spelled + inner + tricks + [f"https://{name}/" for name in NAMES]))


def locations() -> list[str]:
    """Where an answer may try to lead."""
    local = [f"http://{text}/latest/meta-data/" for text in KNOWN if ":" not in text]
    names = [f"https://{name}:8443/" for name in NAMES]
    relative = ["/", "//127.0.0.1/", "?x", "#x", "", "../..", "http:", "\\\\127.0.0.1\\share", "javascript:alert(1)"]
    return [*local, *names, *relative, *(trick.format("127.0.0.1").strip() for trick in TRICKS[:12])]
