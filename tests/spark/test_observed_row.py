"""The values of an observation in the progress of a stream, of a classic session and of a Connect server."""

import pytest
from pyspark.sql import Row

from fauxka.pipeline.sessions.observed_row import observed_values

pytestmark = pytest.mark.spark

# As Spark 4.2.0 writes a row into the JSON of a progress.
SCHEMA = {"type": "struct", "fields": [{"name": name, "nullable": True} for name in ("records_read", "problem")]}


@pytest.mark.parametrize(
    "row", [Row(records_read=60, problem=None), Row(values=[60, None], schema=SCHEMA)], ids=["classic", "connect"]
)
def test_values_have_the_names_of_the_aggregates(row: Row) -> None:
    assert observed_values(row) == {"records_read": 60, "problem": None}
