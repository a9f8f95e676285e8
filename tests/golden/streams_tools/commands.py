"""The commands about streams groups, in the order in which they are run."""

from __future__ import annotations

from ...clients.console_tools import FEATURES, GROUPS, STREAMS_GROUPS, TOPICS
from .groups import GroupMaker
from .tool_recorder import ToolRecorder

ALL_GROUPS = "org.apache.kafka.tools.GroupsCommand"
VIEWS = ("", "--offsets", "--members", "--state", "--topology")
STATES = ("empty", "Stable,Empty", "NotReady", "Assigning", "Reconciling", "Stable", "Dead")
RESETS = (
    "--to-earliest",
    "--to-latest",
    "--to-current",
    "--to-offset 5",
    "--to-offset 50",
    "--to-offset -3",
    "--shift-by 2",
    "--shift-by -50",
    "--shift-by 50",
    "--to-datetime 2023-11-14T22:13:24.000",
    "--to-datetime 2023-11-14T22:13:24.500Z",
    "--to-datetime nonsense",
    "--by-duration PT1M",
    "--by-duration P10000D",
    "--by-duration nonsense",
)
SCOPES = (
    "--input-topic visits",
    "--input-topic visits:1",
    "--input-topic visits:1 --input-topic users:0",
    "--input-topic visits:7",
    "--input-topic missing",
    "--input-topic empty-by-customer-repartition",
    "--all-input-topics --export",
    "--input-topic visits --delete-internal-topic empty-store-changelog",
    "",
)


def groups(tools: ToolRecorder, maker: GroupMaker) -> None:
    """Groups with and without members, up to their end."""
    _no_group(tools)
    b, a = maker.with_tasks("app", "b", "a")
    maker.commit("app", a)
    _two_members(tools)
    maker.without_source("waiting")
    (gone,) = maker.with_tasks("empty", "c")
    maker.commit("empty", gone)
    gone.leave()
    maker.commit("classic")
    _several_groups(tools)
    _resets(tools)
    _internal_topics(tools)
    _deletions(tools)
    a.leave()
    b.leave()
    _members_left(tools)


def features(tools: ToolRecorder, maker: GroupMaker) -> None:
    """Changes of streams.version, and what they do to a group."""
    maker.with_tasks("app", "a")
    tools.situation = "levels"
    tools.run(
        FEATURES,
        "describe",
        "upgrade --release-version 4.4",
        "upgrade --release-version 4.4 --dry-run",
        "upgrade --release-version 4.3",
        "upgrade --release-version 4.3 --dry-run",
        "upgrade --feature streams.version=1",
        "upgrade --feature streams.version=2",
        "upgrade --feature streams.version=0",
        "downgrade --feature streams.version=0 --dry-run",
        "downgrade --feature streams.version=1",
        "disable --feature streams.version --dry-run",
        "downgrade --feature streams.version=0",
    )
    tools.situation = "without streams groups"
    views = ("--list --state", "--describe --group app", "--describe --group app --members")
    tools.run(STREAMS_GROUPS, *views, "--delete --group app")
    tools.run(
        FEATURES,
        "describe",
        "downgrade --feature streams.version=0",
        "disable --feature streams.version",
        "upgrade --feature streams.version=1 --dry-run",
        "upgrade --release-version 4.1 --dry-run",
        "upgrade --release-version 4.1",
        "downgrade --release-version 4.3 --dry-run",
        "downgrade --release-version 4.1 --dry-run",
        "downgrade --release-version 4.1",
        "downgrade --release-version 4.3",
        "upgrade --release-version 4.4",
        "describe",
    )
    tools.situation = "with streams groups again"
    tools.run(STREAMS_GROUPS, *views)


def _describe(tools: ToolRecorder, group_id: str) -> None:
    for view in VIEWS:
        for verbose in ("", " --verbose"):
            tools.run(STREAMS_GROUPS, f"--describe --group {group_id} {view}{verbose}")


def _no_group(tools: ToolRecorder) -> None:
    tools.situation = "no group"
    tools.run(
        STREAMS_GROUPS,
        "--list",
        "--list --state",
        "--describe --all-groups",
        "--describe --group app",
        "--describe --group app --members",
        "--describe --group app --state",
        "--delete --group app",
        "--delete --all-groups",
        "--delete-offsets --group app --input-topic visits",
        "--reset-offsets --group app --all-input-topics --to-earliest --dry-run",
        "--reset-offsets --group app --input-topic visits --to-earliest --execute",
    )


def _two_members(tools: ToolRecorder) -> None:
    tools.situation = "two members"
    tools.run(STREAMS_GROUPS, "--list", "--list --state", "--describe --all-groups")
    _describe(tools, "app")
    tools.run(
        STREAMS_GROUPS,
        "--describe --group app --members --state",
        "--reset-offsets --group app --all-input-topics --to-earliest --dry-run",
        "--reset-offsets --group app --all-input-topics --to-earliest --execute",
        "--reset-offsets --group app --all-input-topics --to-earliest",
        "--delete-offsets --group app --input-topic visits",
        "--delete-offsets --group app --all-input-topics",
        "--delete --group app",
        "--delete --group app --delete-all-internal-topics",
    )


def _several_groups(tools: ToolRecorder) -> None:
    tools.situation = "several groups"
    tools.run(STREAMS_GROUPS, "--list", "--list --state", *(f"--list --state {state}" for state in STATES))
    tools.run(STREAMS_GROUPS, *(f"--describe --all-groups {view}" for view in VIEWS))
    tools.run(ALL_GROUPS, "--list --streams", "--list --consumer")
    tools.run(GROUPS, "--list", "--describe --group app", "--delete --group app")
    _describe(tools, "waiting")
    _describe(tools, "empty")
    tools.run(
        STREAMS_GROUPS,
        "--describe --group classic",
        "--delete --group classic",
        "--delete-offsets --group classic --input-topic visits",
        "--reset-offsets --group classic --all-input-topics --to-earliest --dry-run",
    )


def _resets(tools: ToolRecorder) -> None:
    tools.situation = "resets"
    of_all = "--reset-offsets --group empty --all-input-topics"
    tools.run(STREAMS_GROUPS, *(f"{of_all} {reset} --dry-run" for reset in RESETS))
    tools.run(STREAMS_GROUPS, *(f"--reset-offsets --group empty {scope} --to-offset 1 --dry-run" for scope in SCOPES))
    view = f"{of_all} --to-current --dry-run"
    from_file = "--reset-offsets --group empty --from-file FILE"
    tools.run(
        STREAMS_GROUPS,
        "--reset-offsets --group empty --input-topic visits:1 --to-offset 1 --execute",
        view,
        "--reset-offsets --group empty --input-topic visits --shift-by 1 --execute --export",
        view,
        "--reset-offsets --group waiting --all-input-topics --to-latest --dry-run",
    )
    tools.run(STREAMS_GROUPS, f"{from_file} --dry-run", f"{from_file} --execute", view, file="visits,0,4\nusers,1,50\n")
    tools.run(STREAMS_GROUPS, f"{from_file} --dry-run", file="visits\n")


def _internal_topics(tools: ToolRecorder) -> None:
    tools.situation = "internal topics"
    reset = "--reset-offsets --group empty --all-input-topics --to-offset 2 --execute"
    for options in (
        "--delete-internal-topic missing",
        "--delete-internal-topic empty-store-changelog",
        "--delete-internal-topic empty-store-changelog",
        "--delete-all-internal-topics",
        "--delete-internal-topic empty-by-customer-repartition",
        "--delete-all-internal-topics",
    ):
        tools.run(STREAMS_GROUPS, f"{reset} {options}")
        tools.run(TOPICS, "--list")
    _describe(tools, "empty")


def _deletions(tools: ToolRecorder) -> None:
    tools.situation = "deletions"
    tools.run(
        STREAMS_GROUPS,
        "--delete-offsets --group empty --input-topic visits:0",
        "--delete-offsets --group empty --input-topic visits",
        "--delete-offsets --group empty --input-topic missing",
        "--delete-offsets --group empty --input-topic visits --input-topic users",
        "--describe --group empty",
        "--delete-offsets --group empty --all-input-topics",
        "--delete-offsets --group empty",
        "--delete --group none",
        "--delete --group empty",
        "--describe --group empty",
        "--list",
    )


def _members_left(tools: ToolRecorder) -> None:
    tools.situation = "the members have left"
    tools.run(
        STREAMS_GROUPS,
        "--describe --group app",
        "--list --state",
        "--delete --group app --delete-all-internal-topics",
        "--describe --group app",
        "--list --state",
        "--list --state Dead",
        "--delete --all-groups",
        "--delete --all-groups --delete-all-internal-topics",
    )
    tools.run(TOPICS, "--list")
