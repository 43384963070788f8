"""A provider of OpenID Connect in a thread: it signs in whom a test names, and can be wrong on purpose."""

from __future__ import annotations

import json
import re
import threading
import time
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from django.http import HttpResponse
from django.test import Client

KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EVE = {"sub": "subject-7", "preferred_username": "eve", "email": "eve@example.org", "email_verified": True}


class Provider:
    """Claims of the person at the browser; `wrong` replaces claims of the ID token, `key` signs it."""

    def __init__(self) -> None:
        self.person: dict[str, object] = dict(EVE)
        self.wrong: dict[str, object] = {}
        self.key: Any = KEY
        self.algorithm = "RS256"
        self.key_id: object = "1"
        self.asked: dict[str, str] = {}
        self.sent: dict[str, str] = {}
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.answer(self)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                provider.sent = {name: values[0] for name, values in parse_qs(body).items()}
                provider.answer(self)

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self) -> Provider:
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *args: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        parts = {
            "/.well-known/openid-configuration": self.configuration,
            "/token": self.token,
            "/keys": self.keys,
            "/person": lambda: self.person,
        }
        told = json.dumps(parts[handler.path]()).encode()
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(told)))
        handler.end_headers()
        handler.wfile.write(told)

    def configuration(self) -> dict[str, object]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "userinfo_endpoint": f"{self.issuer}/person",
        }

    def keys(self) -> dict[str, object]:
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(KEY.public_key()))
        return {"keys": [public | {"kid": "1", "alg": "RS256", "use": "sig"}]}

    def token(self) -> dict[str, object]:
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": "soundings",
            "sub": self.person["sub"],
            "iat": now,
            "exp": now + 300,
            "nonce": self.asked["nonce"],
            **self.wrong,
        }
        signed = jwt.encode(claims, self.key, algorithm=self.algorithm, headers={"kid": self.key_id})
        return {"access_token": "access", "token_type": "Bearer", "expires_in": 300, "id_token": signed}

    def way_back(self, page: HttpResponse) -> str:
        """Where the provider sends somebody who came by this page of the site and signed in."""
        found = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', page.content.decode())
        assert found
        address = urlsplit(unescape(found[1]))
        assert f"{address.scheme}://{address.netloc}{address.path}" == f"{self.issuer}/authorize"
        self.asked = {name: values[0] for name, values in parse_qs(address.query).items()}
        back = urlsplit(self.asked["redirect_uri"])
        return f"{back.path}?{urlencode({'code': 'code-1', 'state': self.asked['state']})}"

    def sign_in(self, client: Client, next_page: str = "") -> HttpResponse:
        """From the button to the page of the site that one ends up on."""
        page = client.post("/sign-in/provider/", {"next": next_page})
        return client.get(self.way_back(page), follow=True)  # type: ignore[arg-type, return-value]
