"""Where leaders, ISR and eligible leader replicas go while nodes die and return, in every order and way.

Each scene begins with three live nodes and the preferred leaders, and is about the same topics, one for each number of
replicas, min.insync.replicas 1 and 2, and unclean elections on and off.
"""

from fauxka.protocol.messages.describe_cluster import DescribeClusterRequest

from .recorder import FailoverRecorder
from .requests import Topic, metadata, partitions

LAYOUTS = {
    "threes": [[1, 2, 3], [2, 3, 1], [3, 1, 2]],
    "twos": [[1, 2], [2, 3], [3, 1]],
    "ones": [[1], [2], [3]],
}


class Scenes:
    """The scenes and the topics that all of them are about."""

    def __init__(self, recorder: FailoverRecorder) -> None:
        self.recorder = recorder
        self.topics = [
            recorder.create(
                f"{name}-min{least}-{kind}",
                layout,
                min_insync_replicas=str(least),
                unclean_leader_election_enable=str(kind == "unclean").lower(),
            )
            for name, layout in LAYOUTS.items()
            for kind in ("clean", "unclean")
            for least in (1, 2)
        ]

    def begin(self, name: str) -> None:
        """Make the preferred replicas the leaders."""
        self.recorder.scene(name)
        self.recorder.electing()
        self.described()

    def described(self) -> None:
        """Record what the first live node returns about all topics."""
        node = min(self.recorder.live)
        state = "live " + " ".join(str(each) for each in sorted(self.recorder.live))
        self.recorder.case(node, f"partitions, {state}", 0, partitions(*self.topics))

    def in_metadata(self, node: int, *topics: Topic) -> None:
        """Record what Metadata returns, which has offline replicas, but no eligible leaders."""
        for version in (4, 5, 12, 13):
            self.recorder.case(node, "metadata", version, metadata(*topics))

    def in_cluster(self) -> None:
        """Record the list of brokers at each live node."""
        for node in sorted(self.recorder.live):
            self.recorder.case(node, "cluster", 2, DescribeClusterRequest())
            self.recorder.case(node, "cluster, with fenced", 2, DescribeClusterRequest(include_fenced_brokers=True))

    def kill(self, *nodes: int) -> None:
        """Kill nodes one after the other. After the last one no node is left to describe them."""
        self._each(nodes, "kill")

    def stop(self, *nodes: int) -> None:
        """Stop nodes one after the other."""
        self._each(nodes, "stop")

    def start(self, *nodes: int) -> None:
        """Start nodes one after the other."""
        self._each(nodes, "start")

    def freeze(self, *nodes: int) -> None:
        """Freeze nodes one after the other."""
        self._each(nodes, "freeze")

    def thaw(self, *nodes: int) -> None:
        """Thaw nodes one after the other."""
        self._each(nodes, "thaw")

    def _each(self, nodes: tuple[int, ...], step: str) -> None:
        for node in nodes:
            steps = {
                "kill": self.recorder.kill,
                "stop": self.recorder.stop,
                "start": self.recorder.start,
                "freeze": self.recorder.freeze,
                "thaw": self.recorder.thaw,
            }
            steps[step](node)
            if self.recorder.live:
                self.described()


def script(recorder: FailoverRecorder) -> None:
    """Record every case."""
    scenes = Scenes(recorder)
    _one_node(scenes)
    _two_nodes(scenes)
    _all_nodes(scenes)


def _one_node(scenes: Scenes) -> None:
    scenes.begin("kill one")
    scenes.in_cluster()
    scenes.kill(1)
    scenes.in_metadata(2, *scenes.topics)
    scenes.in_cluster()
    scenes.start(1)
    scenes.begin("stop one")
    scenes.stop(1)
    scenes.in_cluster()
    scenes.start(1)
    scenes.begin("freeze one")
    scenes.freeze(1)
    scenes.in_cluster()
    scenes.thaw(1)


def _two_nodes(scenes: Scenes) -> None:
    scenes.begin("kill two, the last one killed returns first")
    scenes.kill(3, 2)
    scenes.in_metadata(1, *scenes.topics)
    scenes.start(2, 3)
    scenes.begin("kill two, the first one killed returns first")
    scenes.kill(3, 2)
    scenes.start(3, 2)
    scenes.begin("stop two, the last one stopped returns first")
    scenes.stop(3, 2)
    scenes.start(2, 3)
    scenes.begin("stop two, the first one stopped returns first")
    scenes.stop(3, 2)
    scenes.start(3, 2)


def _all_nodes(scenes: Scenes) -> None:
    scenes.begin("kill all, the last one killed returns first")
    scenes.kill(1, 2, 3)
    scenes.start(3, 2, 1)
    scenes.begin("kill all, the first one killed returns first")
    scenes.kill(1, 2, 3)
    scenes.start(1, 2, 3)
    scenes.begin("stop all, the last one stopped returns first")
    scenes.stop(1, 2, 3)
    scenes.start(3, 2, 1)
    scenes.begin("stop all, the first one stopped returns first")
    scenes.stop(1, 2, 3)
    scenes.start(1, 2, 3)
    scenes.begin("kill two, stop the last one, the first one killed returns first")
    scenes.kill(1, 2)
    scenes.stop(3)
    scenes.start(1, 2, 3)
