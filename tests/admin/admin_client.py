"""HTTP client of the admin API."""

import http.client
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

# Longer than any call takes on a machine that does much else.
ANSWER_SECONDS_MAX = 20


@dataclass(frozen=True)
class Answer:
    """A response."""

    status: int
    content: bytes
    headers: dict[str, str]

    @property
    def json(self) -> Any:
        return json.loads(self.content)

    @property
    def error(self) -> dict[str, Any]:
        """The error of the response."""
        error: dict[str, Any] = self.json["error"]
        return error


class AdminClient:
    """Calls one broker, each call on its own connection."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self.address = urlsplit(url).netloc
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    def call(
        self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None, **query: object
    ) -> Answer:
        """Send a call. A body that is not bytes is sent as JSON."""
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        target = f"{path}?{urlencode(query)}" if query else path
        connection = http.client.HTTPConnection(self.address, timeout=ANSWER_SECONDS_MAX)
        try:
            connection.request(method, target, content, {**self._headers, **(headers or {})})
            response = connection.getresponse()
            return Answer(
                response.status, response.read(), {name.lower(): text for name, text in response.getheaders()}
            )
        finally:
            connection.close()

    def get(self, path: str, **query: object) -> Any:
        """Return the body of a successful call."""
        target = f"{path}?{urlencode(query)}" if query else path
        return self._succeeded(self.call("GET", target))

    def post(self, path: str, body: object = None) -> Any:
        return self._succeeded(self.call("POST", path, body))

    def put(self, path: str, body: object = None) -> Any:
        return self._succeeded(self.call("PUT", path, body))

    def delete(self, path: str) -> Any:
        return self._succeeded(self.call("DELETE", path))

    def _succeeded(self, answer: Answer) -> Any:
        assert answer.status in (200, 201), f"{answer.status}: {answer.content.decode()}"
        return answer.json
