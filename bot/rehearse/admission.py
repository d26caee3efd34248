"""Who may read a registry on loopback: anyone with a token for one repository; what is private, with a login beside it."""

from __future__ import annotations

import base64
from collections.abc import Mapping

from bot.rehearse.loopback import Reply, Request, json_reply


class Admission:
    """Tokens are numbered, being secret from nobody on a loopback port; each is good for one scope until `run_out`.

    `logins` maps users to passwords; `private` begins the names of repositories that an anonymous token does not open.
    """

    def __init__(self, logins: Mapping[str, str] | None = None, private: tuple[str, ...] = ()) -> None:
        self.given = 0
        self._private = private
        self._logins = {base64.b64encode(f"{user}:{word}".encode()).decode() for user, word in (logins or {}).items()}
        self._scopes: dict[str, str] = {}

    def run_out(self) -> None:
        """Every token given so far is refused from now on."""
        self._scopes.clear()

    def token(self, request: Request) -> Reply:
        """A token for the scope asked for; a login that is not known is refused rather than taken for nobody's."""
        sent = request.headers.get("authorization", "")
        if sent and self._logins and sent.removeprefix("Basic ") not in self._logins:
            return refusal("incorrect username or password")
        token = base64.urlsafe_b64encode(f"loopback-{self.given}".encode()).decode().rstrip("=")
        self.given += 1
        scope = request.query.get("scope", "")
        closed = scope.removeprefix("repository:").startswith(self._private) if self._private else False
        self._scopes[token] = "nothing" if closed and not sent else scope
        return json_reply({"token": token, "access_token": token, "expires_in": 300})

    def admits(self, request: Request, scope: str) -> bool:
        """Whether a request's token opens `scope`; any token opens the empty one."""
        held = self._scopes.get(request.headers.get("authorization", "").removeprefix("Bearer "))
        return held is not None and (not scope or held == scope)


def refusal(message: str, headers: Mapping[str, str] | None = None) -> Reply:
    """A 401 in the distribution protocol's words."""
    return json_reply({"errors": [{"code": "UNAUTHORIZED", "message": message, "detail": None}]}, status=401, headers=headers)
