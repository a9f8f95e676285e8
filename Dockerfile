# syntax=docker/dockerfile:1
# The wheel is built in the first stage, with a C compiler, and installed in the second, so that the image holds no sources
# and no tools.
ARG PYTHON_IMAGE=python:3.13-slim

FROM ${PYTHON_IMAGE} AS build
WORKDIR /build
COPY . .
RUN apt-get update \
 && apt-get install --yes --no-install-recommends gcc libc6-dev \
 && python -m pip install --no-cache-dir build \
 && FAUXKA_COMPILE=1 python -m build --wheel --outdir /dist .

FROM ${PYTHON_IMAGE}
ARG VERSION=0.1.0
LABEL org.opencontainers.image.title="fauxka" \
      org.opencontainers.image.description="A mock broker for Apache Kafka clients: exact on the wire, and it fails on demand" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /dist /tmp/dist
RUN python -m pip install --no-cache-dir /tmp/dist/*.whl \
 && rm -rf /tmp/dist \
 && useradd --uid 1000 --no-create-home --shell /usr/sbin/nologin appuser \
 && install --directory --owner appuser --group appuser /var/lib/fauxka
# Without a data folder, exports over HTTP go to ./exports.
WORKDIR /var/lib/fauxka
USER appuser
# In a container the loopback address is of no use to anybody else. Tools that start Kafka's image, such as Testcontainers,
# wait for a line of Kafka's log. The first member of a group starts at once: Kafka's 3 s would be lost in every test. The
# user's own -e, and -c on the command line, take precedence.
ENV FAUXKA_HOST=0.0.0.0 \
    FAUXKA_ADMIN_HOST=0.0.0.0 \
    FAUXKA_LOG_KAFKA_STARTED=1 \
    KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS=0 \
    PYTHONUNBUFFERED=1
# Kafka's port, and the one of the admin API.
EXPOSE 9092 9099
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=4s --start-period=10s --retries=3 CMD ["fauxka", "health"]
# Everything is in memory, unless told otherwise; a volume for it: -v fauxka-data:/var/lib/fauxka -e FAUXKA_DATA_DIR=/var/lib/fauxka
# Kafka's keys come as in Kafka's image: -e KAFKA_NUM_PARTITIONS=3 -e KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://localhost:9092
ENTRYPOINT ["fauxka"]
CMD ["serve"]
