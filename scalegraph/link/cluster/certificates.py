"""Certificates of one cluster: without them nobody can run code there or pose as its scheduler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from scalegraph.base.private import write_private


@dataclass(frozen=True)
class Certificates:
    """A self-signed *certificate* and its *key*, in PEM, shared by scheduler, workers and clients.

    Each side of a connection demands exactly this certificate of the other.
    """

    certificate: str
    key: str

    @classmethod
    def made(cls) -> Self:
        """Make new certificates; takes a tenth of a second."""
        from distributed.security import Security

        made = Security.temporary()
        return cls(made.tls_ca_file, made.tls_client_key)

    def values(self) -> dict[str, str]:
        """Return them as JSON."""
        return {"certificate": self.certificate, "key": self.key}

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self | None:
        """Return the certificates in `values`; None if they are missing."""
        texts = [values.get(name) for name in ("certificate", "key")]
        return cls(*map(str, texts)) if all(isinstance(text, str) and "\n" in text for text in texts) else None

    def security(self) -> Any:
        """Return Dask's security settings for every role: connections without the certificate are refused."""
        return _security(self.certificate, self.key)

    def written(self, place: Path) -> Any:
        """Return Dask's security settings with the files in *place*, a directory that only this user can read."""
        files = place / "certificate.pem", place / "key.pem"
        for file, text in zip(files, (self.certificate, self.key), strict=True):
            write_private(file, text)
        return _security(*map(str, files))


def _security(certificate: str, key: str) -> Any:
    from distributed.security import Security

    pairs = {
        f"tls_{role}_{what}": text
        for role in ("client", "scheduler", "worker")
        for what, text in (("cert", certificate), ("key", key))
    }
    return Security(require_encryption=True, tls_ca_file=certificate, **pairs)
