"""The commands of the broker without a broker of their own: export, health and kafka-topics."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from ... import ConfigError
from ...storage.checkpoints.properties_file import read_properties_file
from .. import lifecycle
from ..config.config_sources import assignment_of
from . import export as exporting

EXIT_UNHEALTHY = 1
# The exit code of Kafka's own command.
EXIT_TOPICS_FAILED = 1
HEALTH_TIMEOUT_SECONDS = 3.0
# Shared by all options, because each instance looks up a translation.
PATH = click.Path()
COMMAND_CONFIG = click.option(
    "--command-config", type=PATH, metavar="FILE", help="Properties of Kafka's clients, such as security.protocol."
)


@click.group()
def commands() -> None:
    """Commands without a broker of their own."""


def one_line(text: str) -> str:
    """Return text without line breaks."""
    return " ".join(text.split())


def read_command_config(file: str | None) -> dict[str, str]:
    """Return the properties in the file of --command-config; none without it."""
    try:
        return {} if file is None else read_properties_file(file)
    except ConfigError as error:
        raise click.BadParameter(str(error), param_hint="--command-config") from error


@commands.command()
@click.option("--host", help="Address of the broker.  [default: of KAFKA_LISTENERS, or 127.0.0.1]")
@click.option(
    "--port", type=click.IntRange(1, 65535), help="Port of the broker.  [default: of KAFKA_LISTENERS, or 9092]"
)
@click.option(
    "--timeout",
    "timeout_seconds",
    type=float,
    default=HEALTH_TIMEOUT_SECONDS,
    show_default=True,
    help="Seconds to wait for a response.",
)
def health(host: str | None, port: int | None, timeout_seconds: float) -> None:
    """Send ApiVersions to a broker: exit code 0 if it responds, else 1 and the reason.

    Of several nodes (FAUXKA_NODES) without --port, one has to respond.
    """
    found = lifecycle.health_addresses.addresses_from_environment(os.environ, port)
    addresses = [each if host is None else each._replace(host=host) for each in found]
    try:
        lifecycle.health.check_any_health(addresses, timeout_seconds)
    except lifecycle.health.UnhealthyError as error:
        click.echo(f"fauxka: {one_line(str(error))}", err=True)
        sys.exit(EXIT_UNHEALTHY)


@commands.command("kafka-topics", hidden=True)
@click.option("bootstrap", "--bootstrap-server", required=True, metavar="HOST:PORT", help="Address of the broker.")
@click.option("actions", "--list", flag_value="list", multiple=True, help="List the topics.")
@click.option("actions", "--describe", flag_value="describe", multiple=True, help="Describe topics and partitions.")
@click.option("actions", "--create", flag_value="create", multiple=True, help="Create a topic.")
@click.option("actions", "--alter", flag_value="alter", multiple=True, help="Add partitions.")
@click.option("actions", "--delete", flag_value="delete", multiple=True, help="Delete topics.")
@click.option("--topic", help="The name for --create, else a regular expression.")
@click.option("--partitions", type=int, help="The number of partitions.  [default: num.partitions]")
@click.option(
    "--replication-factor", type=int, help="Replicas of each partition.  [default: default.replication.factor]"
)
@click.option("assignments", "--config", multiple=True, metavar="KEY=VALUE", help="Config of the topic. Repeatable.")
@click.option("--if-exists", is_flag=True, help="A topic that does not exist is no error.")
@click.option("--if-not-exists", is_flag=True, help="A topic that exists is no error.")
@click.option("--exclude-internal", is_flag=True, help="Leave internal topics out.")
@COMMAND_CONFIG
def kafka_topics(
    bootstrap: str,
    actions: tuple[str, ...],
    assignments: tuple[str, ...],
    command_config: str | None,
    **options: Any,
) -> None:
    """List, describe, create, alter or delete topics, as Kafka's command does. For the image."""
    if len(actions) != 1:
        raise click.UsageError(
            "Command must include exactly one action: --list, --describe, --create, --alter or --delete"
        )
    try:
        configs = [assignment_of(assignment) for assignment in assignments]
    except ConfigError as error:
        raise click.BadParameter(str(error), param_hint="--config") from error
    try:
        properties = read_command_config(command_config)
        topics = lifecycle.topic_command.TopicOptions(configs=configs, **options)
        lifecycle.topic_command.run(actions[0], bootstrap, topics, click.echo, properties)
    except lifecycle.topic_command.TopicCommandError as error:
        click.echo(one_line(str(error)), err=True)
        sys.exit(EXIT_TOPICS_FAILED)


@commands.command()
@click.argument("folder", metavar="DIR", type=PATH)
@click.option("--data-dir", "data_folder", type=PATH, help="Export the topics of this data folder.")
@click.option("--from", "bootstrap", metavar="HOST:PORT", help="Export the topics of this running broker.")
@COMMAND_CONFIG
def export(folder: str, data_folder: str | None, bootstrap: str | None, command_config: str | None) -> None:
    """Write all topics to the new folder DIR, as a data folder for a real Kafka, 4.3 or later."""
    properties = read_command_config(command_config)
    broker = None if bootstrap is None else exporting.log_export.BrokerSource(bootstrap, properties)
    try:
        exporting.log_export.export(folder, data_folder=data_folder, broker=broker, report=click.echo)
    except exporting.kafka_folder.ExportError as error:
        raise click.ClickException(str(error)) from error
