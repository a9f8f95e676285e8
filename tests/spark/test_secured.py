"""Spark's kafka format over SASL_SSL and with a certificate, by the options of docs/security.md."""

import pytest
from pyspark.sql import SparkSession

from ..clients.secured_broker import (
    MECHANISMS,
    SecuredBroker,
    blocks_of,
    mutual_tls_broker,
    properties_of,
    secured_broker,
)
from .test_spark import SENT_COLUMNS, assert_same_rows, numbered_rows

__all__ = ["mutual_tls_broker", "secured_broker"]

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

ROW_COUNT = 100


def write(spark: SparkSession, options: dict[str, str], topic: str) -> None:
    """Append rows to a topic, as an idempotent producer."""
    rows = numbered_rows(spark, 0, ROW_COUNT).drop("partition")
    rows.write.format("kafka").options(**options, topic=topic).save()


def write_and_read(spark: SparkSession, options: dict[str, str], topic: str) -> None:
    """Append rows to a topic, and compare what is read back."""
    write(spark, options, topic)

    read = spark.read.format("kafka").options(**options, subscribe=topic, includeHeaders="true").load()

    columns = [name for name in SENT_COLUMNS if name != "partition"]
    assert_same_rows(read.select(*columns), numbered_rows(spark, 0, ROW_COUNT).select(*columns))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_rows_written_by_a_user_are_read_back_equal(
    spark: SparkSession, secured_broker: SecuredBroker, mechanism: str
) -> None:
    write_and_read(spark, properties_of(secured_broker.filled(blocks_of("Spark")[0], mechanism)), mechanism)


def test_rows_written_with_a_certificate_are_read_back_equal(
    spark: SparkSession, mutual_tls_broker: SecuredBroker
) -> None:
    write_and_read(spark, properties_of(mutual_tls_broker.filled(blocks_of("Spark")[1])), "certificate")


def test_wrong_password_is_an_error_of_authentication(spark: SparkSession, secured_broker: SecuredBroker) -> None:
    options = properties_of(secured_broker.filled(blocks_of("Spark")[0], password="wrong"))

    with pytest.raises(Exception, match="SaslAuthenticationException"):
        write(spark, options, "never")
