"""A certificate for this machine alone, for functions that are to reach AWS over TLS (ADR 0169)."""

from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from typing import Final

from attrs import frozen
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

VALID_FOR: Final = timedelta(days=30)
ADDRESS: Final = "127.0.0.1"


@frozen
class Certificate:
    """Its file, which is also that of its authority, and the file of its key."""

    certificate: Path
    key: Path


def certificate_in(folder: Path) -> Certificate:
    """A new one, which nobody trusts who is not told to. Its key never leaves the folder."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Delayer on this machine")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(
            name, name, key.public_key(), x509.random_serial_number(), now - timedelta(days=1), now + VALID_FOR
        )
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address(ADDRESS))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    found = Certificate(folder / "certificate.pem", folder / "key.pem")
    found.certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    found.key.touch(mode=0o600)
    found.key.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return found
