"""`/metrics` for Prometheus. Every value is read from the broker when it is requested."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from .. import __version__
from .control import Control
from .current_coordinators import coordinated_groups
from .leading_partitions import leading_partitions

_PARTITION_LABELS = ["topic", "partition"]
_RULE_LABELS = ["rule", "name", "point", "kind"]


def render_metrics(control: Control) -> bytes:
    """Return all metrics of the broker in Prometheus' text format."""
    # One registry a broker: several brokers may share a process, and with it the default registry.
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_BrokerCollector(control))
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    GCCollector(registry=registry)
    return generate_latest(registry)


class _BrokerCollector(Collector):
    def __init__(self, control: Control) -> None:
        self._control = control

    def collect(self) -> Iterator[Metric]:
        yield self._info()
        yield from self._requests()
        yield from self._rules()
        yield from self._logs()
        yield from self._groups()

    def _info(self) -> Metric:
        cluster = self._control.cluster
        info = GaugeMetricFamily(
            "fauxka_info", "Version, cluster id and id of each node.", labels=["version", "cluster_id", "node"]
        )
        for node in cluster.nodes:
            info.add_metric([__version__, cluster.image.cluster_id, str(node.node_id)], 1)
        return info

    def _requests(self) -> Iterator[Metric]:
        control = self._control
        yield GaugeMetricFamily("fauxka_up", "Whether clients can connect to a node.", value=int(control.is_running))
        connections = control.server.connection_count
        yield GaugeMetricFamily("fauxka_connections", "Connections of clients.", value=connections)
        handled = control.journal.last_id
        yield CounterMetricFamily("fauxka_requests", "Requests of clients since start-up.", value=handled)
        dropped = control.journal.dropped
        yield GaugeMetricFamily("fauxka_journal_dropped", "Requests that are no longer in the journal.", value=dropped)
        held = len(control.held.items())
        yield GaugeMetricFamily("fauxka_held_requests", "Held requests.", value=held)
        seconds = control.clock.now_ms() / 1000
        yield GaugeMetricFamily("fauxka_clock_seconds", "The broker's clock, in seconds since 1970.", value=seconds)

    def _rules(self) -> Iterator[Metric]:
        hits = CounterMetricFamily("fauxka_rule_hits", "Hits of a rule.", labels=_RULE_LABELS)
        matched = CounterMetricFamily("fauxka_rule_matched", "Matches of a rule.", labels=_RULE_LABELS)
        for armed in self._control.plan.rules:
            rule = armed.rule
            labels = [str(armed.id), rule.name, rule.point, str(rule.action.__struct_config__.tag)]
            hits.add_metric(labels, armed.hits)
            matched.add_metric(labels, armed.matched)
        yield hits
        yield matched

    def _logs(self) -> Iterator[Metric]:
        topics = self._control.cluster.image.topics
        yield GaugeMetricFamily("fauxka_topics", "Topics.", value=len(topics))
        labels = _PARTITION_LABELS
        start = GaugeMetricFamily("fauxka_log_start_offset", "Log start offset.", labels=labels)
        end = GaugeMetricFamily("fauxka_log_end_offset", "Log end offset.", labels=labels)
        size = GaugeMetricFamily("fauxka_log_size_bytes", "Size of the segments of a log.", labels=labels)
        partitions = list(leading_partitions(self._control.cluster))
        for partition in partitions:
            place = [partition.topic_name, str(partition.index)]
            log = partition.find_log()
            start.add_metric(place, 0 if log is None else log.log_start_offset)
            end.add_metric(place, 0 if log is None else log.log_end_offset)
            size.add_metric(place, 0 if log is None else log.size_bytes)
        yield GaugeMetricFamily("fauxka_partitions", "Partitions.", value=len(partitions))
        yield start
        yield end
        yield size

    def _groups(self) -> Iterator[Metric]:
        groups = GaugeMetricFamily("fauxka_groups", "Groups by state.", labels=["state"])
        states = [group.group_state for _, group in coordinated_groups(self._control.cluster)]
        for state in sorted(set(states)):
            groups.add_metric([state], states.count(state))
        yield groups
