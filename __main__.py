"""The command line: serve, health, export, help, scenario; those of admin/client, testing/hunting and pipeline.

A usage error is one line on standard error and exit code 2. Each command imports its own package when it runs.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import click

from . import ConfigError, __version__, admin, pipeline, protocol, scenarios, testing
from .broker import config, lifecycle, runtime
from .broker.lifecycle import export as exporting
from .storage import checkpoints

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from .admin.admin_options import AdminOptions
    from .admin.content_decoder import ContentDecoder
    from .admin.scenarios import Scenarios
    from .broker.lifecycle.serve_command import ServeOptions
    from .faults.rules.fault_rules import FaultRule

EXIT_USAGE = 2
EXIT_UNHEALTHY = 1
# The exit code of Kafka's own command.
EXIT_TOPICS_FAILED = 1
# A scenario did not show its expected result.
EXIT_NOT_SEEN = 1
# The exit codes of shells for a process that ended by SIGINT or SIGTERM.
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143

HEALTH_TIMEOUT_SECONDS = 3.0
# Shared by all options, because each instance looks up a translation.
PATH = click.Path()
COMMAND_CONFIG = click.option(
    "--command-config", type=PATH, metavar="FILE", help="Properties of Kafka's clients, such as security.protocol."
)


def main() -> None:
    """Run the command line and exit."""
    # A command deletes its temporary files at its end.
    signal.signal(signal.SIGTERM, exit_terminated)
    try:
        commands.main(prog_name="fauxka", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(EXIT_USAGE)
    except click.ClickException as error:
        message = pipeline.repeated_command.message_without_secrets(one_line(error.format_message()))
        click.echo(f"fauxka: {message}", err=True)
        sys.exit(EXIT_USAGE)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(EXIT_INTERRUPTED)


def exit_terminated(number: int, frame: object) -> NoReturn:
    """Exit, as the handler of SIGTERM."""
    sys.exit(EXIT_TERMINATED)


def one_line(text: str) -> str:
    """Return text without line breaks."""
    return " ".join(text.split())


def read_command_config(file: str | None) -> dict[str, str]:
    """Return the properties in the file of --command-config; none without it."""
    try:
        return {} if file is None else checkpoints.properties_file.read_properties_file(file)
    except ConfigError as error:
        raise click.BadParameter(str(error), param_hint="--command-config") from error


HUNT = "hunt"
# The commands of admin/client. They are listed here so that no other command imports them.
ADMIN_COMMANDS = ("admin", "completion", "fault", "journal", "report", "reset", "verdict")


class _Commands(click.Group):
    """The commands of this module, of admin/client and of the pipeline; the others are imported on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands that are not hidden."""
        own = [name for name, command in self.commands.items() if not command.hidden]
        return sorted([*own, HUNT, *ADMIN_COMMANDS, *pipeline.command_line.commands.list_commands(ctx)])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            return command
        if cmd_name in ADMIN_COMMANDS:
            return admin.client.command_line.commands.get_command(ctx, cmd_name)
        if cmd_name == HUNT:
            return testing.hunting.command_line.hunt
        return pipeline.command_line.commands.get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of the first word. Raises UsageError for an unknown one, with the most similar name."""
        name = args[0]
        if not (name.startswith("-") or ctx.resilient_parsing or self.get_command(ctx, name)):
            raise click.UsageError(protocol.similar_names.unknown_name("command", name, self.list_commands(ctx)), ctx)
        return super().resolve_command(ctx, args)


def show_version(ctx: click.Context, parameter: click.Parameter, is_wanted: bool) -> None:
    """Print the version, and whether the installation has compiled modules, and exit."""
    if not is_wanted or ctx.resilient_parsing:
        return
    kind = "compiled" if protocol.compiled_modules.is_compiled() else "plain Python"
    click.echo(f"fauxka, version {__version__}, {kind}")
    ctx.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=True)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=show_version, help="Show the version."
)
def commands() -> None:
    """A mock broker for Apache Kafka clients: exact on the wire, and it fails on demand."""


@commands.command()
@click.option("--host", envvar="FAUXKA_HOST", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 is any free port.  [default: 9092]")
@click.option(
    "listeners",
    "--listener",
    envvar="FAUXKA_LISTENER",
    multiple=True,
    metavar="NAME://HOST:PORT[,HOST:PORT]",
    help="Listener, instead of --host and --port; the second address is advertised to clients. Repeatable. "
    "SSL, SASL_PLAINTEXT or SASL_SSL alone is that protocol on --host and --port.",
)
@click.option(
    "users",
    "--user",
    envvar="FAUXKA_USER",
    multiple=True,
    metavar="NAME:PASSWORD",
    help="User of SASL listeners. Repeatable.",
)
@click.option(
    "--token-lifetime-ms",
    envvar="FAUXKA_TOKEN_LIFETIME_MS",
    type=click.IntRange(1, 365 * 24 * 3600 * 1000),
    help="Lifetime of the tokens that the admin API issues to users.  [default: 3600000]",
)
@click.option(
    "--tls-dir",
    envvar="FAUXKA_TLS_DIR",
    type=PATH,
    help="Folder of the throw-away certificates of TLS listeners; used again if it has them.  [default: a new folder]",
)
@click.option(
    "--nodes",
    envvar="FAUXKA_NODES",
    type=click.IntRange(1, 16),
    default=1,
    show_default=True,
    help="Brokers in this process, with consecutive node ids and ports.",
)
@click.option("--racks", envvar="FAUXKA_RACKS", metavar="RACK,...", help="Rack of each node, in order.")
@click.option(
    "--advertised-file",
    envvar="FAUXKA_ADVERTISED_FILE",
    type=PATH,
    help="Wait for this file, and advertise the listeners in its line of each node: NAME://HOST:PORT,...",
)
@click.option("--ready-file", type=PATH, help="Write the address to this file when clients can connect.")
@click.option(
    "assignments", "-c", "--set", multiple=True, metavar="KEY=VALUE", help="Set a Kafka configuration key. Repeatable."
)
@click.option("config_file", "--config", type=PATH, help="Read Kafka configuration keys from this properties file.")
@click.option(
    "--as-version",
    envvar="FAUXKA_AS_VERSION",
    metavar="VERSION",
    help="Kafka version that the broker follows.  [default: 4.4]",
)
@click.option(
    "seed_topics", "--seed-topic", multiple=True, metavar="NAME[:PARTITIONS]", help="Create this topic. Repeatable."
)
@click.option(
    "--cluster-id", envvar="CLUSTER_ID", help="Cluster id.  [default: the one of the data folder, or a random one]"
)
@click.option("--data-dir", envvar="FAUXKA_DATA_DIR", type=PATH, help="Store all data in this folder.")
@click.option(
    "--import-logs",
    type=PATH,
    multiple=True,
    help="Serve the partition folders in this folder; it is never written to. Once for each of several nodes.",
)
@click.option(
    "--fsync",
    type=click.Choice(["always", "never"]),
    help="When to sync to disk: before each acknowledgement or never; needs --data-dir.  [default: never]",
)
@click.option(
    "--admin-port",
    envvar="FAUXKA_ADMIN_PORT",
    metavar="PORT|off",
    help="Port of the admin API; 0 is any free port.  [default: 9099]",
)
@click.option(
    "--admin-host", envvar="FAUXKA_ADMIN_HOST", default="127.0.0.1", show_default=True, help="Address of the admin API."
)
@click.option(
    "--admin-token",
    envvar="FAUXKA_ADMIN_TOKEN",
    metavar="TOKEN",
    help="Bearer token that calls of the admin API must have.",
)
@click.option(
    "--admin-tls",
    envvar="FAUXKA_ADMIN_TLS",
    metavar="auto|FILE",
    help="HTTPS: auto for a throw-away certificate, or a PEM file with certificate and private key.",
)
@click.option(
    "admin_allowed_hosts",
    "--admin-allowed-host",
    envvar="FAUXKA_ADMIN_ALLOWED_HOST",
    multiple=True,
    metavar="HOST",
    help="Host under which browsers may call the admin API, besides loopback names. Repeatable.",
)
@click.option(
    "--export-dir",
    envvar="FAUXKA_EXPORT_DIR",
    type=PATH,
    help="Folder for exports by the admin API.  [default: exports in the data folder or the working directory]",
)
@click.option(
    "--schema-registry",
    envvar="FAUXKA_SCHEMA_REGISTRY",
    metavar="URL",
    help="Schema registry, for the keys and values that the page shows.",
)
@click.option(
    "--schema-registry-user",
    envvar="FAUXKA_SCHEMA_REGISTRY_USER",
    metavar="USER:PASSWORD",
    help="User of the schema registry.",
)
@click.option("--key-schema", type=PATH, help="Avro schema or descriptor set of Protobuf for the keys of the page.")
@click.option("--value-schema", type=PATH, help="Avro schema or descriptor set of Protobuf for the values of the page.")
@click.option("rule_file", "--rules", type=PATH, help="Start with the fault rules in this JSON or TOML file.")
@click.option(
    "log_level",
    "-l",
    "--log-level",
    envvar="FAUXKA_LOG_LEVEL",
    default="info",
    show_default=True,
    type=click.Choice(["trace", "debug", "info", "warn", "warning", "error"], case_sensitive=False),
    help="Lowest log level to write.",
)
@click.option(
    "--log-kafka-started",
    envvar="FAUXKA_LOG_KAFKA_STARTED",
    is_flag=True,
    help="Log Kafka's own line at the end of the start-up, for tools that wait for it.",
)
def serve(
    log_level: str,
    admin_port: str | None,
    admin_host: str,
    admin_token: str | None,
    admin_tls: str | None,
    admin_allowed_hosts: tuple[str, ...],
    export_dir: str | None,
    schema_registry: str | None,
    schema_registry_user: str | None,
    key_schema: str | None,
    value_schema: str | None,
    rule_file: str | None,
    **options: Any,
) -> None:
    """Run a broker, or a cluster of several, until SIGTERM or SIGINT.

    Kafka configuration keys come from --config, the environment variables KAFKA_*, and -c; later ones override.
    """
    # Imports create no garbage; serve_command enables the collector again.
    gc.disable()
    runtime.log_output.set_up_logging(runtime.log_output.level_of(log_level))

    def parse_options(export_dir: str) -> AdminOptions | None:
        options = admin.admin_options.parse_admin_options(
            admin_host, admin_port, admin_token, allowed_hosts=admin_allowed_hosts, export_dir=export_dir
        )
        return None if options is None else options._replace(tls=admin_tls or None)

    serve_options = lifecycle.serve_command.ServeOptions(
        environment=os.environ,
        variables=option_variables(),
        needs_authority=admin_tls == admin.admin_options.AUTO and admin_port != admin.admin_options.OFF,
        **options,
    )
    decoder = open_decoder(schema_registry, schema_registry_user, key_schema, value_schema)
    run_broker(serve_options, parse_options, export_dir, read_rules(rule_file), decoder)


def open_decoder(
    registry: str | None, user: str | None, key_schema: str | None, value_schema: str | None
) -> ContentDecoder | None:
    """Return what decodes keys and values for the admin API; None without schemas. Raises ClickException.

    The part that decodes is the pipeline's, which only this module may give to the broker.
    """
    if registry is None and key_schema is None and value_schema is None:
        return None
    schemas = pipeline.schemas
    options = schemas.schema_options.SchemaOptions(
        key_schema=key_schema,
        value_schema=value_schema,
        schema_registry=registry or None,
        schema_registry_user=user or None,
    )
    try:
        return schemas.whole_contents.WholeContents(options)
    except ValueError as error:
        raise click.ClickException(str(error)) from error


def read_rules(path: str | None) -> list[FaultRule]:
    """Return the fault rules in a file; none without a path. Raises ClickException."""
    if path is None:
        return []
    try:
        return admin.rule_file.read_rule_file(path)
    except admin.rule_file.RuleFileError as error:
        raise click.ClickException(f"--rules: {error}") from error


def option_variables() -> dict[str, str | None]:
    """Return the environment variable of each option of every command of this module, None without one."""
    parameters = [parameter for command in commands.commands.values() for parameter in command.params]
    return {
        parameter.opts[-1]: str(parameter.envvar) if parameter.envvar else None
        for parameter in sorted(parameters, key=lambda parameter: parameter.envvar is not None)
        if isinstance(parameter, click.Option)
    }


def run_broker(
    options: ServeOptions,
    parse_options: Callable[[str], AdminOptions | None],
    export_dir: str | None,
    initial_rules: Sequence[FaultRule],
    decoder: ContentDecoder | None,
) -> None:
    """Serve until SIGTERM or SIGINT. Raises ClickException.

    parse_options: returns the options of the admin API for a folder for exports. export_dir: that folder, None or ""
    for the default.
    initial_rules: in force from the start on. decoder: decodes keys and values by schemas.
    """
    try:
        admin_options = parse_options(export_dir or admin.admin_options.default_export_dir(options.data_dir))
        hooks = admin.admin_server.AdminServer(admin_options, load_scenarios, initial_rules, decoder)
        lifecycle.serve_command.serve(options, hooks)
    except (lifecycle.serve_command.StartupError, admin.admin_options.AdminOptionsError) as error:
        raise click.ClickException(str(error)) from error


def load_scenarios() -> Scenarios:
    """Return the scenario runner of the admin API."""
    return scenarios.admin_runner.AdminRunner()


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
        configs = [config.config_sources.assignment_of(assignment) for assignment in assignments]
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


def context_of(words: Sequence[str]) -> click.Context:
    """Return the context of the command of these words, without parsing its options. Raises UsageError."""
    context = click.Context(commands, info_name="fauxka", **commands.context_settings)
    for word in words:
        group = context.command
        if not isinstance(group, click.Group):
            raise click.UsageError(f"{context.command_path} has no commands")
        _, command, _ = group.resolve_command(context, [word])
        assert command is not None, "an unknown command is an error"
        context = click.Context(command, parent=context, info_name=word)
    return context


def next_commands(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the commands that begin with incomplete, after the words before it, for a shell."""
    try:
        context = context_of(ctx.params.get("words") or ())
    except click.UsageError:
        return []
    return context.command.shell_complete(context, incomplete)


@commands.command("help")
@click.argument("words", metavar="[COMMAND]...", nargs=-1, shell_complete=next_commands)
def show_help(words: tuple[str, ...]) -> None:
    """Show the options of a command, or all commands."""
    click.echo(context_of(words).get_help())


@commands.group()
def scenario() -> None:
    """Show how an idempotent producer and a broker handle faults."""


@scenario.command("list")
def list_scenarios() -> None:
    """List the scenarios, and the clients that this installation has."""
    click.echo(scenarios.scenario_list.list_text(admin.client.text_width.terminal_width()))


def scenario_names(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the scenarios that begin with incomplete, for a shell."""
    return [name for name in scenarios.all_scenarios.all_names() if name.startswith(incomplete)]


@scenario.command("run")
@click.argument("name", shell_complete=scenario_names)
@click.option(
    "--client",
    help="The producer: raw, confluent, aiokafka or kafka-python.  [default: raw, or Spark's own]",
)
@click.option("--as-version", metavar="VERSION", help="Kafka version that the broker follows.  [default: 4.4]")
@click.option("as_json", "--json", is_flag=True, help="Print timeline, verdict and checks as JSON.")
def run_scenario(name: str, client: str | None, as_version: str | None, as_json: bool) -> None:
    """Run a scenario on its own broker and print a diagram: exit code 0 if the expected result is seen, else 1."""
    try:
        text, passed = scenarios.command.run_text(name, client, as_version, as_json=as_json)
    except scenarios.command.CannotRun as error:
        raise click.ClickException(str(error)) from error
    except scenarios.command.DidNotEnd as error:
        click.echo(f"fauxka: {one_line(str(error))}", err=True)
        sys.exit(EXIT_NOT_SEEN)
    click.echo(text)
    if not passed:
        sys.exit(EXIT_NOT_SEEN)


if __name__ == "__main__":
    main()
