"""Request handlers: one module per API, in the folder of its subject. The broker serves the APIs of protocol.apis."""

from ...protocol.api_keys import SUBJECTS, ApiKey

# The module of each served API, relative to this package. It is imported for the first request.
HANDLERS: dict[ApiKey, str] = {api.key: f"{folder}.{api.module}" for folder, apis in SUBJECTS.items() for api in apis}
