"""The command line: `fauxka serve` runs a broker, `fauxka health` asks one whether it answers, `fauxka export` hands
its topics to a real Kafka, `fauxka scenario` shows what goes wrong and what comes of it; the commands of the pipeline
are its own.

Whatever is wrong with what the user asked for is one line on standard error and exit code 2. What serving needs is
imported only to serve.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

# Importing makes no garbage, and what the command line is made with is not small.
gc.disable()
import click  # noqa: E402

gc.enable()

from . import __version__  # noqa: E402

if TYPE_CHECKING:
    from .admin.scenarios import Scenarios

EXIT_USAGE = 2
EXIT_UNHEALTHY = 1
# What a scenario says must be seen was not.
EXIT_NOT_SEEN = 1
# As shells report a process that ended by SIGINT.
EXIT_INTERRUPTED = 130

HEALTH_TIMEOUT_SECONDS = 3.0
# One for all options, as each asks anew whether its name is translated.
PATH = click.Path()


def main() -> None:
    """Run the command line, and exit."""
    try:
        commands.main(prog_name="fauxka", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(EXIT_USAGE)
    except click.ClickException as error:
        click.echo(f"fauxka: {one_line(error.format_message())}", err=True)
        sys.exit(EXIT_USAGE)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(EXIT_INTERRUPTED)


def one_line(text: str) -> str:
    """Return text without line breaks."""
    return " ".join(text.split())


class _Commands(click.Group):
    """The commands here, and those of the pipeline, of which nothing is imported before they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        from .pipeline.command_line import commands as of_the_pipeline

        return sorted([*super().list_commands(ctx), *of_the_pipeline.list_commands(ctx)])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            return command
        from .pipeline.command_line import commands as of_the_pipeline

        return of_the_pipeline.get_command(ctx, cmd_name)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=True)
@click.version_option(__version__, prog_name="fauxka")
def commands() -> None:
    """A mock broker for Apache Kafka clients: exact on the wire, and it fails on demand."""


@commands.command()
@click.option("--host", envvar="FAUXKA_HOST", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on; 0 takes any free one.  [default: 9092]")
@click.option(
    "listeners",
    "--listener",
    multiple=True,
    metavar="NAME://HOST:PORT[,HOST:PORT]",
    help="Listen here, in place of --host and --port; after the comma the address that clients are told. Repeatable.",
)
@click.option("--ready-file", type=PATH, help="Write the address here when clients can connect.")
@click.option(
    "assignments", "-c", "--set", multiple=True, metavar="KEY=VALUE", help="Set one of Kafka's keys. Repeatable."
)
@click.option("config_file", "--config", type=PATH, help="Read Kafka's keys from this properties file.")
@click.option("--as-version", metavar="VERSION", help="Judge producers as this version of Kafka does.  [default: 4.3]")
@click.option(
    "seed_topics", "--seed-topic", multiple=True, metavar="NAME[:PARTITIONS]", help="Start with this topic. Repeatable."
)
@click.option(
    "--cluster-id", envvar="CLUSTER_ID", help="Id of the cluster.  [default: the data folder's, or a random one]"
)
@click.option("--data-dir", envvar="FAUXKA_DATA_DIR", type=PATH, help="Keep everything in this folder.")
@click.option("--import-logs", type=PATH, help="Serve the partition folders in here; nothing is written there.")
@click.option(
    "--fsync",
    type=click.Choice(["always", "never"]),
    help="Whether to flush to the disk before each acknowledgement; needs --data-dir.  [default: never]",
)
@click.option(
    "--admin-port",
    envvar="FAUXKA_ADMIN_PORT",
    metavar="PORT|off",
    help="Port of the admin API; 0 takes any free one.  [default: 9099]",
)
@click.option(
    "--admin-host", envvar="FAUXKA_ADMIN_HOST", default="127.0.0.1", show_default=True, help="Address of the admin API."
)
@click.option(
    "--admin-token",
    envvar="FAUXKA_ADMIN_TOKEN",
    metavar="TOKEN",
    help="Answer only calls that bring this bearer token.",
)
@click.option(
    "log_level",
    "-l",
    "--log-level",
    envvar="FAUXKA_LOG_LEVEL",
    default="info",
    show_default=True,
    type=click.Choice(["trace", "debug", "info", "warn", "warning", "error"], case_sensitive=False),
    help="Least level of what is logged.",
)
def serve(
    host: str,
    port: int | None,
    listeners: tuple[str, ...],
    ready_file: str | None,
    assignments: tuple[str, ...],
    config_file: str | None,
    as_version: str | None,
    seed_topics: tuple[str, ...],
    cluster_id: str | None,
    data_dir: str | None,
    import_logs: str | None,
    fsync: str | None,
    admin_port: str | None,
    admin_host: str,
    admin_token: str | None,
    log_level: str,
) -> None:
    """Run a broker until SIGTERM or SIGINT.

    Kafka's keys come from --config, then from KAFKA_* variables of the environment, then from -c; the later wins.
    """
    # Importing makes no garbage; serving collects again.
    gc.disable()
    from .admin.admin_options import AdminOptionsError, parse_admin_options
    from .admin.admin_server import AdminServer
    from .broker.lifecycle import serve_command
    from .broker.runtime import log_output

    log_output.set_up_logging(log_output.level_of(log_level))
    options = serve_command.ServeOptions(
        environment=os.environ,
        config_file=config_file,
        assignments=assignments,
        host=host,
        port=port,
        listeners=listeners,
        ready_file=ready_file,
        as_version=as_version,
        seed_topics=seed_topics,
        cluster_id=cluster_id,
        data_dir=data_dir,
        import_logs=import_logs,
        fsync=fsync,
    )
    try:
        door = AdminServer(parse_admin_options(admin_host, admin_port, admin_token), scenarios_of_admin)
        serve_command.serve(options, door)
    except (serve_command.StartupError, AdminOptionsError) as error:
        raise click.ClickException(str(error)) from error


def scenarios_of_admin() -> Scenarios:
    """Return what runs scenarios for the admin API."""
    from .scenarios.admin_runner import AdminRunner

    return AdminRunner()


@commands.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Where the broker listens.")
@click.option("--port", type=click.IntRange(1, 65535), help="Its port.  [default: of KAFKA_LISTENERS, else 9092]")
@click.option("--timeout", "timeout_seconds", type=float, default=HEALTH_TIMEOUT_SECONDS, show_default=True)
def health(host: str, port: int | None, timeout_seconds: float) -> None:
    """Ask a broker for its API versions: exit code 0 if it answers, 1 with the reason if not."""
    from .broker.lifecycle.health import UnhealthyError, check_health, port_from_environment

    try:
        check_health(host, port or port_from_environment(os.environ), timeout_seconds)
    except UnhealthyError as error:
        click.echo(f"fauxka: {one_line(str(error))}", err=True)
        sys.exit(EXIT_UNHEALTHY)


@commands.command()
@click.argument("folder", metavar="DIR", type=PATH)
@click.option("--data-dir", "data_folder", type=PATH, help="Hand over what is in this data folder.")
@click.option("--from", "bootstrap", metavar="HOST:PORT", help="Hand over what this running broker holds.")
def export(folder: str, data_folder: str | None, bootstrap: str | None) -> None:
    """Write all topics to DIR, a new folder, on which a real Kafka 4.3 starts and serves them."""
    from .broker.lifecycle.export import kafka_folder, log_export

    try:
        log_export.export(folder, data_folder=data_folder, bootstrap=bootstrap, say=click.echo)
    except kafka_folder.ExportError as error:
        raise click.ClickException(str(error)) from error


@commands.group()
def scenario() -> None:
    """See what goes wrong between a producer and a broker, and what idempotence makes of it."""


@scenario.command("list")
def list_scenarios() -> None:
    """List the scenarios."""
    from .scenarios.command import list_text

    click.echo(list_text())


@scenario.command("run")
@click.argument("name")
@click.option(
    "--client", default="raw", show_default=True, help="Who produces: raw, confluent, aiokafka or kafka-python."
)
@click.option("--as-version", metavar="VERSION", help="Judge producers as this version of Kafka does.  [default: 4.3]")
@click.option("as_json", "--json", is_flag=True, help="Print timeline, verdict and checks as JSON.")
def run_scenario(name: str, client: str, as_version: str | None, as_json: bool) -> None:
    """Run a scenario on a broker of its own and draw what happened: exit code 0 if what must be seen was, 1 if not."""
    from .scenarios.command import CannotRun, DidNotEnd, run_text

    try:
        text, passed = run_text(name, client, as_version, as_json=as_json)
    except CannotRun as error:
        raise click.ClickException(str(error)) from error
    except DidNotEnd as error:
        click.echo(f"fauxka: {one_line(str(error))}", err=True)
        sys.exit(EXIT_NOT_SEEN)
    click.echo(text)
    if not passed:
        sys.exit(EXIT_NOT_SEEN)


if __name__ == "__main__":
    main()
