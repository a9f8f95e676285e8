"""ApiVersions v5 of clients that expect another cluster or node (KIP-1242):
python -m tests.golden.capture_misrouting HOST:PORT.

Needs a fresh Kafka 4.4 with node id 1.
"""

from fauxka.protocol.messages.api_versions import ApiVersionsRequest
from fauxka.protocol.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse

from .capture_recorder import Recorder, main

NODE_ID = 1
NODE_IDS = {"no node": -1, "the node": NODE_ID, "another node": 2, "node 0": 0, "node -2": -2}
VERSION = 5


def capture(recorder: Recorder) -> None:
    """Record every case."""
    cluster_id = recorder.call(DescribeClusterRequest(), 2, DescribeClusterResponse).cluster_id
    cluster_ids = {
        "no cluster": None,
        "the cluster": cluster_id,
        "another cluster": "another-cluster",
        "an empty cluster id": "",
        "the cluster id in lower case": cluster_id.lower(),
        "the cluster id and a blank": f"{cluster_id} ",
    }
    for cluster, text in cluster_ids.items():
        for node, node_id in NODE_IDS.items():
            recorder.case(f"{cluster}, {node}", VERSION, _asking(text, node_id))
    recorder.each_version("no cluster in each version", range(VERSION + 1), lambda _: _asking(None, -1))
    recorder.case("another cluster in version 4", VERSION - 1, _asking("another-cluster", 2))
    for name in ("", "with blank", "-"):
        for cluster, text in (("the cluster", cluster_id), ("another cluster", "another-cluster")):
            request = _asking(text, NODE_ID)
            request.client_software_name = name
            recorder.case(f"software {name!r} and {cluster}", VERSION, request)
    recorder.case("the connection stays open", 2, DescribeClusterRequest())


def _asking(cluster_id: str | None, node_id: int) -> ApiVersionsRequest:
    return ApiVersionsRequest(
        client_software_name="capture", client_software_version="1", cluster_id=cluster_id, node_id=node_id
    )


if __name__ == "__main__":
    main(capture)
