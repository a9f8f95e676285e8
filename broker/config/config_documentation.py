"""One line on the effect of each config key, for DescribeConfigs and the tables of docs/configuration.md.

A key without an effect has no line. A broker key that is the default of a topic key has the line of the topic key, and
a group key that of its broker key. Loaded with the first request for documentation.
"""

from __future__ import annotations

from functools import cache

from .broker_config import TOPIC_KEYS_WITHOUT_EFFECT, keys_with_effect
from .config_keys import TOPIC_KEYS, ConfigKey, Scope

_TOPIC_LINES = {
    "cleanup.policy": "What removes old records: delete (by time and size), compact (by key), or both.",
    "compression.gzip.level": "The level of records that the broker compresses with gzip; -1 is the default of gzip.",
    "compression.lz4.level": "The level of records that the broker compresses with lz4.",
    "compression.type": "The codec of stored batches; producer keeps the codec of each batch.",
    "compression.zstd.level": "The level of records that the broker compresses with zstd.",
    "delete.retention.ms": "How long a compacted topic keeps tombstones and transaction markers after cleaning.",
    "errors.deadletterqueue.group.enable": "Whether share groups may write their dead letters to the topic.",
    "fauxka.generated.batch.records": "The records of a batch. The value of a record is its offset modulo this.",
    "fauxka.generated.keys": "The number of keys. The key is the number in the value modulo this; 0 for null keys.",
    "fauxka.generated.records": "The records of a partition, rounded up to whole batches.",
    "fauxka.generated.value.bytes": "The size of a value: the last digits of its number, with zeros before it.",
    "fauxka.records": (
        "discarded acknowledges batches and deletes them at once; generated makes records and refuses to append. "
        "Fixed at creation."
    ),
    "file.delete.delay.ms": "How long the files of a deleted segment or topic stay on disk.",
    "flush.messages": "The number of records after which a log is flushed; 1 flushes before each response.",
    "flush.ms": "The time after which unflushed records are flushed.",
    "index.interval.bytes": "The bytes of records between two entries of the offset index.",
    "internal.segment.bytes": "Takes the place of segment.bytes, without its lower bound; for tests.",
    "max.compaction.lag.ms": "The time after which a record can be cleaned, also below min.cleanable.dirty.ratio.",
    "max.decompressed.message.bytes": "The largest accepted record in a compressed batch, in bytes.",
    "max.message.bytes": "The largest accepted batch in bytes, after compression.",
    "message.timestamp.after.max.ms": "How far the timestamp of a record may be after the broker's clock.",
    "message.timestamp.before.max.ms": "How far the timestamp of a record may be before the broker's clock.",
    "message.timestamp.difference.max.ms": "How far the timestamp of a record may be from the broker's clock.",
    "message.timestamp.type": "Whether records keep the producer's timestamp or get the time of the append.",
    "min.cleanable.dirty.ratio": "The share of a log that must be uncleaned before the cleaner works on it.",
    "min.compaction.lag.ms": "The age below which a record is not cleaned.",
    "min.insync.replicas": "How many replicas must be in sync for a write with acks=all; at most all replicas.",
    "preallocate": "Whether a new segment file has its full size at once.",
    "retention.bytes": "The size of a partition from which old segments are deleted; -1 for no limit.",
    "retention.ms": "The age at which records are deleted; -1 for no limit.",
    "segment.bytes": "The size at which a new segment begins.",
    "segment.index.bytes": "The largest size of an index file; a full index begins a new segment.",
    "segment.ms": "The age at which a new segment begins.",
    "unclean.leader.election.enable": "Whether a replica that is not in sync may lead if no other can.",
}
_UNITS = {1: "", 60_000: " In minutes.", 3_600_000: " In hours."}

_BROKER_LINES = {
    "errors.deadletterqueue.auto.create.topics.enable": "Whether a missing topic for dead letters is created.",
    "errors.deadletterqueue.topic.name.prefix": "The beginning of the names of all topics for dead letters.",
    "advertised.listeners": "The addresses that clients get in responses, by listener.",
    "allow.everyone.if.no.acl.found": "Whether the authorizer allows everything on a resource without any ACL.",
    "authorizer.class.name": "The authorizer that judges by ACLs; none allows everything.",
    "auto.create.topics.enable": "Whether a Metadata request creates the topics that it names.",
    "auto.leader.rebalance.enable": "Whether preferred leaders are elected from time to time.",
    "broker.id": "The older name of node.id.",
    "broker.rack": "The rack of the broker in Metadata responses.",
    "broker.session.timeout.ms": "The time without a heartbeat after which the controller fences a broker.",
    "connection.failed.authentication.delay.ms": "How long the response to a failed authentication waits.",
    "connections.max.idle.ms": "The time without a request after which a connection is closed; -1 for never.",
    "connections.max.reauth.ms": "How long a SASL session lasts before the client must authenticate again; 0 for ever.",
    "controller.quota.window.num": "The number of samples whose mutations a client may have at once.",
    "controller.quota.window.size.seconds": "The length of such a sample.",
    "controller.listener.names": "The listeners of the controllers, which the broker does not bind.",
    "default.replication.factor": "The replication factor of topics without one.",
    "delegation.token.expiry.check.interval.ms": "How often expired delegation tokens are removed.",
    "delegation.token.expiry.time.ms": "How long a delegation token is valid until it is renewed.",
    "delegation.token.max.lifetime.ms": "How long a delegation token can be renewed.",
    "delegation.token.secret.key": "The key of the HMACs of delegation tokens; there are none if it is not set.",
    "delete.topic.enable": "Whether topics can be deleted.",
    "fauxka.busy.poll.us": "How long the broker polls for the next request before it sleeps, in microseconds.",
    "fauxka.journal.bytes.max": "The most bytes of bodies and batches of large requests in the journal.",
    "fauxka.journal.requests.max": "The most requests in the journal.",
    "fauxka.record.validation": "full checks every record, as Kafka does; batch checks the batch header only.",
    "fauxka.response.delay.ms": "The least time between a request and its response, in real time.",
    "fauxka.transaction.version": "The level of the feature transaction.version until a request updates it.",
    "fetch.max.bytes": "The most bytes in the response to a Fetch.",
    "group.consumer.assignment.interval.ms": "The least time between two assignments of a consumer group (KIP-848).",
    "group.consumer.assignors": "The assignors of consumer groups (KIP-848); the first is the default.",
    "group.consumer.heartbeat.interval.ms": "The interval in which members of consumer groups send heartbeats.",
    "group.consumer.max.size": "The most members of a consumer group (KIP-848).",
    "group.consumer.migration.policy": "Whether a group may change between the classic and the consumer protocol.",
    "group.consumer.regex.refresh.interval.ms": "How often the expressions of a consumer group are matched again.",
    "group.consumer.session.timeout.ms": "The time without a heartbeat that removes a member of a consumer group.",
    "group.coordinator.rebalance.protocols": "The group protocols that the broker serves.",
    "group.initial.rebalance.delay.ms": "How long the first rebalance of a classic group waits for more members.",
    "group.max.session.timeout.ms": "The longest session timeout that a classic member may ask for.",
    "group.max.size": "The most members of a classic group.",
    "group.min.session.timeout.ms": "The shortest session timeout that a classic member may ask for.",
    "group.share.assignment.interval.ms": "The least time between two assignments of a share group.",
    "group.share.delivery.count.limit": "How often a record of a share group is delivered before it is archived.",
    "group.share.heartbeat.interval.ms": "The interval in which members of share groups send heartbeats.",
    "group.share.max.share.sessions": "The most share sessions of the broker.",
    "group.share.max.size": "The most members of a share group.",
    "group.share.partition.max.record.locks": "The most acquired records of a partition in a share group.",
    "group.share.record.lock.duration.ms": "How long a member of a share group keeps an acquired record.",
    "group.share.session.timeout.ms": "The time without a heartbeat that removes a member of a share group.",
    "group.streams.acceptable.recovery.lag": "The records by which the state of a task may lag when it becomes active.",
    "group.streams.assignment.interval.ms": "The least time between two assignments of a streams group.",
    "group.streams.heartbeat.interval.ms": "The interval in which members of streams groups send heartbeats.",
    "group.streams.initial.rebalance.delay.ms": "How long the first assignment of a streams group waits for members.",
    "group.streams.max.size": "The most members of a streams group.",
    "group.streams.max.standby.replicas": "The highest number of standby tasks, also for single groups.",
    "group.streams.num.standby.replicas": "The standby tasks of each task with state in a streams group.",
    "group.streams.rack.aware.assignment.tags": "The client tags that members of a streams group must have.",
    "group.streams.session.timeout.ms": "The time without a heartbeat that removes a member of a streams group.",
    "group.streams.task.offset.interval.ms": "The interval in which members of streams groups send their offsets.",
    "inter.broker.listener.name": "The listener between brokers, which max.connections does not stop.",
    "leader.imbalance.check.interval.seconds": "How often preferred leaders are elected.",
    "listener.security.protocol.map": "The security protocol of each listener.",
    "listeners": "The addresses that the broker binds, by listener.",
    "log.cleaner.backoff.ms": "How long the cleaner waits when no log needs cleaning.",
    "log.cleaner.dedupe.buffer.size": "The memory in bytes for the keys of the log that is cleaned.",
    "log.cleaner.enable": "Whether compacted topics are cleaned.",
    "log.cleaner.io.buffer.load.factor": "How full the memory of log.cleaner.dedupe.buffer.size may get.",
    "log.dir": "The folder that DescribeLogDirs returns without --data-dir, if log.dirs is not set.",
    "log.dirs": "The folder that DescribeLogDirs returns without --data-dir; nothing is written there.",
    "log.flush.offset.checkpoint.interval.ms": "How often the recovery points of the logs are written.",
    "log.flush.start.offset.checkpoint.interval.ms": "How often the start offsets of the logs are written.",
    "log.retention.check.interval.ms": "How often the broker looks for records that are too old or too many.",
    "max.connections": "The most connections of the broker; further clients wait.",
    "max.connections.per.ip": "The most connections of one client address; further ones are closed.",
    "max.connections.per.ip.overrides": "Other maximums for some addresses, as address:maximum.",
    "max.incremental.fetch.session.cache.slots": "The most incremental fetch sessions of the broker.",
    "max.request.partition.size.limit": "The most partitions in a response of DescribeTopicPartitions.",
    "node.id": "The id of the broker.",
    "num.partitions": "The number of partitions of topics without one.",
    "offset.metadata.max.bytes": "The longest metadata of a committed offset.",
    "offsets.commit.timeout.ms": "How long a commit of offsets waits for the replicas in sync.",
    "offsets.retention.check.interval.ms": "How often the broker looks for expired offsets.",
    "offsets.retention.minutes": "How long committed offsets are kept after a group has lost its last member.",
    "offsets.topic.num.partitions": "The partitions of __consumer_offsets.",
    "offsets.topic.segment.bytes": "The segment.bytes of __consumer_offsets.",
    "offsets.topic.replication.factor": "The replicas of __consumer_offsets; at most the number of brokers.",
    "producer.id.expiration.check.interval.ms": "How often the broker looks for expired producers.",
    "producer.id.expiration.ms": "The time without a batch after which the state of a producer is deleted.",
    "quota.window.num": "The number of samples of the rates of client quotas.",
    "quota.window.size.seconds": "The length of a sample of the rates of client quotas.",
    "replica.high.watermark.checkpoint.interval.ms": "How often the high watermarks are written.",
    "replica.lag.time.max.ms": "The time behind the leader after which a replica leaves the ISR.",
    "replica.selector.class": "RackAwareReplicaSelector has consumers read from a replica in their rack.",
    "request.timeout.ms": "How long a transaction marker waits for the replicas in sync.",
    "sasl.enabled.mechanisms": "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 (these three if it is not set), OAUTHBEARER.",
    "sasl.oauthbearer.clock.skew.seconds": "How far the clock of the issuer of a signed token may be apart.",
    "sasl.oauthbearer.expected.audience": "A signed token must be for one of these audiences; none for no audience.",
    "sasl.oauthbearer.expected.issuer": "The issuer that a signed token must have.",
    "sasl.oauthbearer.jwks.endpoint.refresh.ms": "The age at which the key set is fetched again.",
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms": "The longest wait before a failed fetch is tried again.",
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms": "The wait before a failed fetch is tried again; doubles.",
    "sasl.oauthbearer.jwks.endpoint.url": "The key set (JWKS) of the issuer of signed tokens: http, https or file.",
    "sasl.oauthbearer.scope.claim.name": "The claim of a signed token with its scope.",
    "sasl.oauthbearer.sub.claim.name": "The claim of a signed token with the principal.",
    "sasl.server.max.receive.size": "The largest request in bytes before a client has authenticated.",
    "share.coordinator.snapshot.update.records.per.snapshot": (
        "The number of updates between two snapshots of a partition in __share_group_state."
    ),
    "security.inter.broker.protocol": "Refused beside inter.broker.listener.name, as in Kafka.",
    "share.coordinator.state.topic.min.isr": "The min.insync.replicas of __share_group_state.",
    "share.coordinator.state.topic.num.partitions": "The partitions of __share_group_state.",
    "share.coordinator.state.topic.segment.bytes": "The segment.bytes of __share_group_state.",
    "share.coordinator.state.topic.replication.factor": (
        "The replicas of __share_group_state; at most the number of brokers."
    ),
    "socket.listen.backlog.size": "The most clients that wait to be accepted by a listener.",
    "socket.request.max.bytes": "The largest accepted request in bytes.",
    "ssl.allow.dn.changes": "Whether a changed key store may have another distinguished name.",
    "ssl.allow.san.changes": "Whether a changed key store may lack alternative names of the one before.",
    "ssl.client.auth": "Whether clients have a certificate of their own: none, requested, required.",
    "ssl.enabled.protocols": "The versions of TLS: TLSv1.2, TLSv1.3.",
    "ssl.key.password": "The password of the private key.",
    "ssl.keystore.certificate.chain": "The certificate of the broker and those of its authorities, as PEM.",
    "ssl.keystore.key": "The private key of the broker, as PEM.",
    "ssl.keystore.location": "The file with certificate and private key of the broker.",
    "ssl.keystore.password": "The password of the key store.",
    "ssl.keystore.type": "PEM or PKCS12. A file that is not PEM is read as PKCS12.",
    "ssl.principal.mapping.rules": "The principals of client certificates: RULE:pattern/replacement/[LU], DEFAULT.",
    "ssl.truststore.certificates": "The certificates of the authorities of clients, as PEM.",
    "ssl.truststore.location": "The file with the certificates of the authorities of clients.",
    "ssl.truststore.password": "The password of the trust store.",
    "ssl.truststore.type": "PEM or PKCS12. A file that is not PEM is read as PKCS12.",
    "super.users": "The principals that may do everything, separated by semicolons.",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "How often timed out transactions are aborted.",
    "transaction.max.timeout.ms": "The longest transaction timeout that a producer may ask for.",
    "transaction.partition.verification.enable": (
        "Whether clients before KIP-890 may append only to partitions of an open transaction."
    ),
    "transaction.remove.expired.transaction.cleanup.interval.ms": "How often expired ids are deleted.",
    "transaction.state.log.min.isr": "The min.insync.replicas of __transaction_state.",
    "transaction.state.log.num.partitions": "The partitions of __transaction_state.",
    "transaction.state.log.segment.bytes": "The segment.bytes of __transaction_state.",
    "transaction.state.log.replication.factor": "The replicas of __transaction_state; at most the number of brokers.",
    "transactional.id.expiration.ms": "The time without a transaction after which a transactional id is deleted.",
}
_GROUP_LINES = {
    "errors.deadletterqueue.copy.record.enable": "Whether a dead letter has the key and the value of its record.",
    "errors.deadletterqueue.topic.name": "The topic for the records that a share group rejects or never accepts.",
    "share.auto.offset.reset": "Where a share group begins in a partition without a start offset.",
    "share.isolation.level": "Whether a share group reads the records of open and aborted transactions.",
}


_KEYS_WITH_EFFECT = keys_with_effect()
# The topic key whose default a broker key is, with the unit of the broker key.
_TOPIC_KEYS_BY_SYNONYM = {
    synonym.name: (key.name, _UNITS[synonym.factor]) for key in TOPIC_KEYS.values() for synonym in key.synonyms
} | {"log.message.timestamp.difference.max.ms": ("message.timestamp.difference.max.ms", "")}


@cache
def documentation_of(key: ConfigKey) -> str | None:
    """Return the line of a key, or None if the key has no effect."""
    match key.scope:
        case Scope.TOPIC:
            return None if key.name in TOPIC_KEYS_WITHOUT_EFFECT else _TOPIC_LINES.get(key.name)
        case Scope.BROKER:
            return _line_of_broker_key(key.name)
        case Scope.GROUP:
            return _line_of_group_key(key)


def _line_of_broker_key(name: str) -> str | None:
    if name not in _KEYS_WITH_EFFECT:
        return None
    if name in _BROKER_LINES:
        return _BROKER_LINES[name]
    if name in _TOPIC_KEYS_BY_SYNONYM:
        topic_key, unit = _TOPIC_KEYS_BY_SYNONYM[name]
        return f"{_TOPIC_LINES[topic_key]}{unit} For topics without {topic_key}."
    assert name.startswith("group."), f"{name} has no line"
    # The bounds of a config of single groups, such as group.share.min.session.timeout.ms.
    bound, word = ("min", "lowest") if ".min." in name else ("max", "highest")
    return f"The {word} value of {name.replace(f'.{bound}.', '.', 1)}, also for single groups."


def _line_of_group_key(key: ConfigKey) -> str | None:
    if not key.synonyms:
        return _GROUP_LINES.get(key.name)
    line = _line_of_broker_key(key.synonyms[0].name)
    return None if line is None else f"{line} For this group."
