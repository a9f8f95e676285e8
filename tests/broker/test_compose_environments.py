"""Variables of compose files in public repositories: each one has its effect, or one line in the log."""

import pytest

from fauxka.broker.config.config_sources import gather_config
from fauxka.broker.lifecycle.listener_options import listeners_of_keys

from .compose_environments import ENVIRONMENTS, ComposeEnvironment

WITHOUT_EFFECT = "accepted, and without effect here: "


@pytest.mark.parametrize("service", ENVIRONMENTS, ids=lambda service: service.name)
def test_variables_of_compose_files_have_their_effect_or_one_line_in_the_log(service: ComposeEnvironment) -> None:
    gathered = gather_config({}, service.environment, [])

    listeners = listeners_of_keys(gathered.config, "0.0.0.0")
    assert [f"{listener.name}://{listener.host}:{listener.port}" for listener in listeners] == service.listeners
    assert [note for note in gathered.notes if not note.startswith(WITHOUT_EFFECT)] == service.ignored
    assert gathered.warnings == service.warnings
    assert sum(note.startswith(WITHOUT_EFFECT) for note in gathered.notes) <= 1
