"""Who gives out tokens for a docker-registry: RS256 with the certificate in the header, as its `auth.token` wants them."""

from __future__ import annotations

import base64
import time
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding

from bot.rehearse.loopback import Loopback, Reply, Request, json_reply

SERVICE, ISSUER = "registry-of-tests", "issuer-of-tests"
# The registry forgives a clock that is a minute off; a token of this age is forgiven by nobody.
LONG_OVER_S = 600
# Repositories below it are only for who has logged in; the loopback registry is told the same.
PRIVATE = "closed/"


class Issuer:
    """Anyone may pull, but not below `PRIVATE`; a login may do what it asks for; a wrong one is refused.

    `given` holds whom each token was for, "" for nobody in particular. The next `stale` tokens have run out already.
    """

    def __init__(self, folder: Path, logins: Mapping[str, str], life_s: int = 300) -> None:
        self.given: list[str] = []
        self.stale = 0
        self._life_s, self._folder = life_s, folder
        self._logins = {base64.b64encode(f"{user}:{word}".encode()).decode(): user for user, word in logins.items()}
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self._certificate = _certificate(self._key)
        self._server = Loopback(self._answer)

    def __enter__(self) -> Issuer:
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / "issuer.crt").write_bytes(self._certificate.public_bytes(Encoding.PEM))
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()

    @property
    def auth(self) -> str:
        """The `auth` section of a registry that believes this issuer."""
        return (f"auth: {{token: {{realm: '{self._server.url}/token', service: {SERVICE}, issuer: {ISSUER}, "
                f"rootcertbundle: {self._folder}/issuer.crt}}}}")

    def push_headers(self, repository: str) -> dict[str, str]:
        """What a push of ours sends, without asking over HTTP."""
        return {"Authorization": f"Bearer {self._sign('us', f'repository:{repository}:pull,push', over=False)}"}

    def _answer(self, request: Request) -> Reply:
        sent = request.headers.get("authorization", "")
        user = self._logins.get(sent.removeprefix("Basic "), "")
        if sent and not user:
            return json_reply({"details": "incorrect username or password"}, status=401)
        over, self.stale = self.stale > 0, max(0, self.stale - 1)
        self.given.append(user)
        token = self._sign(user, request.query.get("scope", ""), over=over)
        return json_reply({"token": token, "access_token": token, "expires_in": self._life_s})

    def _sign(self, user: str, scopes: str, *, over: bool) -> str:
        access = []
        for scope in scopes.split():
            kind, _, rest = scope.partition(":")
            name, _, actions = rest.rpartition(":")
            allowed = [action for action in actions.split(",") if user or (action == "pull" and not name.startswith(PRIVATE))]
            access.append({"type": kind, "name": name, "actions": allowed})
        now = int(time.time())
        ends = now - LONG_OVER_S if over else now + self._life_s
        claims = {"iss": ISSUER, "sub": user, "aud": SERVICE, "iat": now, "nbf": now - 2 * LONG_OVER_S, "exp": ends,
                  "jti": uuid.uuid4().hex, "access": access}
        chain = [base64.b64encode(self._certificate.public_bytes(Encoding.DER)).decode()]
        return jwt.encode(claims, self._key, algorithm="RS256", headers={"x5c": chain})


def _certificate(key: rsa.RSAPrivateKey) -> x509.Certificate:
    name, now = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, ISSUER)]), datetime.now(UTC)
    made = x509.CertificateBuilder(subject_name=name, issuer_name=name, public_key=key.public_key(),
                                   serial_number=x509.random_serial_number(), not_valid_before=now - timedelta(days=1),
                                   not_valid_after=now + timedelta(days=1))
    return made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True).sign(key, hashes.SHA256())
