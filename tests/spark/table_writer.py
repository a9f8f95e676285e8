"""A process that writes a folder of parquet as a table of another format.

    python table_writer.py PARQUET FORMAT PLACE KEY=VALUE...

KEY=VALUE: Spark configuration. The table also gets rows of an older version, which a reader of its files would see.
"""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

OLD = "old-"


def main(source: str, form: str, place: str, *settings: str) -> None:
    """Write the rows, and some more that are deleted again."""
    builder = SparkSession.builder.master("local[2]")
    for setting in settings:
        key, _, value = setting.partition("=")
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    rows = spark.read.parquet(source)
    old = rows.limit(20).withColumn("id", f.concat(f.lit(OLD), f.col("id"))).withColumn("payload", f.lit("old"))
    if form == "delta":
        rows.unionByName(old).write.format(form).save(place)
        spark.sql(f"delete from delta.`{place}` where id like '{OLD}%'")  # pyright: ignore[reportUnknownMemberType]
    else:
        rows.unionByName(old).writeTo(place).using(form).create()
        spark.sql(f"delete from {place} where id like '{OLD}%'")  # pyright: ignore[reportUnknownMemberType]
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
