"""DescribeCluster (60), versions 0-2.

v1 endpoint type; v2 fenced brokers.
Source: KafkaApis.handleDescribeCluster and AuthHelper.computeDescribeClusterResponse, Kafka 4.3.0;
tests/golden/cluster-4.3.0.jsonl.
"""

from __future__ import annotations

from ....protocol.error_codes import ErrorCode
from ....protocol.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from ...requests.advertised_endpoint import alive_brokers, controller_id_of, registered_brokers
from ...requests.permissions import authorized_operations_on_cluster
from ...requests.request_context import RequestContext

BROKERS, CONTROLLERS = 1, 2


def handle(context: RequestContext, request: DescribeClusterRequest) -> DescribeClusterResponse:
    """Return the brokers. An endpoint type other than BROKERS is refused: there is no controller listener."""
    if request.endpoint_type == CONTROLLERS:
        return DescribeClusterResponse(
            error_code=ErrorCode.MISMATCHED_ENDPOINT_TYPE,
            error_message="The request was sent to an endpoint of type BROKER, "
            "but we wanted an endpoint of type CONTROLLER",
        )
    if request.endpoint_type != BROKERS:
        return DescribeClusterResponse(
            error_code=ErrorCode.UNSUPPORTED_ENDPOINT_TYPE,
            error_message=f"Unsupported endpoint type {request.endpoint_type}",
        )
    brokers = registered_brokers if request.include_fenced_brokers else alive_brokers
    response = DescribeClusterResponse(
        cluster_id=context.node.image.cluster_id,
        controller_id=controller_id_of(context),
        brokers=[
            DescribeClusterBroker(
                broker_id=broker.node_id,
                host=endpoint.host,
                port=endpoint.port,
                rack=broker.rack,
                is_fenced=broker.is_fenced,
            )
            for broker, endpoint in brokers(context)
        ],
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = authorized_operations_on_cluster(context)
    return response
