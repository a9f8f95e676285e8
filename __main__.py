"""The command line: serve, doctor and help, and the commands of other parts.

A usage error is one line on standard error and exit code 2. Each command imports its own package when it runs.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click

from . import __version__, admin, pipeline, protocol, scenarios, testing
from .broker import lifecycle, runtime

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from .admin.admin_options import AdminOptions
    from .admin.content_decoder import ContentDecoder
    from .broker.lifecycle.serve_command import ServeOptions
    from .faults.rules.fault_rules import FaultRule

EXIT_USAGE = 2
EXIT_CANNOT_SERVE = 1
# The exit codes of shells for a process that ended by SIGINT or SIGTERM.
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143

# Shared by all options, because each instance looks up a translation.
PATH = click.Path()


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
        click.echo(f"fauxka: {message_of(error)}", err=True)
        sys.exit(EXIT_USAGE)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(EXIT_INTERRUPTED)


def exit_terminated(number: int, frame: object) -> NoReturn:
    """Exit, as the handler of SIGTERM."""
    sys.exit(EXIT_TERMINATED)


def message_of(error: click.ClickException) -> str:
    """Return the message in one line, without passwords."""
    return pipeline.repeated_command.message_without_secrets(" ".join(error.format_message().split()))


HUNT = "hunt"
# The commands of other parts. They are listed here so that no other command imports them.
ADMIN_COMMANDS = ("admin", "completion", "fault", "journal", "report", "reset", "verdict")
BROKER_COMMANDS = ("export", "health")
SCENARIO_COMMANDS = ("demo", "scenario")


class _Commands(click.Group):
    """The commands of this module and of the other parts, which are imported on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands that are not hidden."""
        listed = (*self.commands, HUNT, *ADMIN_COMMANDS, *BROKER_COMMANDS, *SCENARIO_COMMANDS)
        return sorted([*listed, *pipeline.command_line.commands.list_commands(ctx)])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            return command
        if cmd_name == HUNT:
            return testing.hunting.command_line.hunt
        return _part_with(cmd_name).get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of the first word. Raises UsageError for an unknown one, with the most similar name."""
        name = args[0]
        if not (name.startswith("-") or ctx.resilient_parsing or self.get_command(ctx, name)):
            raise click.UsageError(protocol.similar_names.unknown_name("command", name, self.list_commands(ctx)), ctx)
        return super().resolve_command(ctx, args)


def _part_with(name: str) -> click.Group:
    """Return the commands of the part that has the command, or those of the pipeline."""
    if name in ADMIN_COMMANDS:
        return admin.client.command_line.commands
    if name in (*BROKER_COMMANDS, "kafka-topics"):
        return lifecycle.command_line.commands
    if name in SCENARIO_COMMANDS:
        return scenarios.command_line.commands
    return pipeline.command_line.commands


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
def serve(log_level: str, **parameters: Any) -> None:
    """Run a broker, or a cluster of several, until SIGTERM or SIGINT.

    Kafka configuration keys come from --config, the environment variables KAFKA_*, and -c; later ones override.
    """
    # Imports create no garbage; serve_command enables the collector again.
    gc.disable()
    runtime.log_output.set_up_logging(runtime.log_output.level_of(log_level))
    wanted = wanted_broker(parameters)
    hooks = admin.admin_server.AdminServer(
        wanted.admin, lambda: scenarios.admin_runner.AdminRunner(), wanted.rules, wanted.decoder
    )
    try:
        lifecycle.serve_command.serve(wanted.options, hooks)
    except lifecycle.serve_command.StartupError as error:
        raise click.ClickException(str(error)) from error


class WantedBroker(NamedTuple):
    """What `serve` starts.

    admin: None without an admin API. rules: in force from the start on. decoder: decodes keys and values by schemas.
    """

    options: ServeOptions
    admin: AdminOptions | None
    rules: list[FaultRule]
    decoder: ContentDecoder | None


def wanted_broker(parameters: Mapping[str, Any]) -> WantedBroker:
    """Return what the parameters of the command `serve` and the environment ask for. Raises ClickException."""
    fields = lifecycle.serve_command.ServeOptions._fields
    tls, port, data_dir = parameters["admin_tls"], parameters["admin_port"], parameters["data_dir"]
    options = lifecycle.serve_command.ServeOptions(
        environment=os.environ,
        variables=option_variables(),
        needs_authority=tls == admin.admin_options.AUTO and port != admin.admin_options.OFF,
        **{name: value for name, value in parameters.items() if name in fields},
    )
    try:
        admin_options = admin.admin_options.parse_admin_options(
            parameters["admin_host"],
            port,
            parameters["admin_token"],
            allowed_hosts=parameters["admin_allowed_hosts"],
            export_dir=parameters["export_dir"] or admin.admin_options.default_export_dir(data_dir),
        )
        rules = [] if parameters["rule_file"] is None else admin.rule_file.read_rule_file(parameters["rule_file"])
        decoder = open_decoder(parameters)
    except admin.rule_file.RuleFileError as error:
        raise click.ClickException(f"--rules: {error}") from error
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    return WantedBroker(options, admin_options and admin_options._replace(tls=tls or None), rules, decoder)


def open_decoder(parameters: Mapping[str, Any]) -> ContentDecoder | None:
    """Return what decodes keys and values for the admin API; None without schemas. Raises ValueError.

    The part that decodes is the pipeline's, which only this module may give to the broker.
    """
    if all(parameters[name] is None for name in ("schema_registry", "key_schema", "value_schema")):
        return None
    schemas = pipeline.schemas
    options = schemas.schema_options.SchemaOptions(
        key_schema=parameters["key_schema"],
        value_schema=parameters["value_schema"],
        schema_registry=parameters["schema_registry"] or None,
        schema_registry_user=parameters["schema_registry_user"] or None,
    )
    return schemas.whole_contents.WholeContents(options)


def option_variables() -> dict[str, str | None]:
    """Return the environment variable of each option of `serve`, None without one."""
    return {
        parameter.opts[-1]: str(parameter.envvar) if parameter.envvar else None
        for parameter in serve.params
        if isinstance(parameter, click.Option)
    }


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


@commands.command()
@click.pass_context
def doctor(ctx: click.Context) -> None:
    """Show what this machine has, and what to do about the rest: exit code 0 if `fauxka serve` can run, else 1."""

    def read_options() -> tuple[ServeOptions, AdminOptions | None]:
        try:
            wanted = wanted_broker(serve.make_context(serve.name, [], parent=ctx.parent).params)
        except click.ClickException as error:
            raise lifecycle.serve_command.StartupError(message_of(error)) from error
        return wanted.options, wanted.admin

    text, can_serve = scenarios.doctor.doctor_text(os.environ, read_options)
    click.echo(text)
    if not can_serve:
        sys.exit(EXIT_CANNOT_SERVE)


if __name__ == "__main__":
    main()
