# syntax=docker/dockerfile:1
# The first stage compiles and installs into a folder, which the second one copies, so that the image holds no sources, no
# tools and no pip. Every package is locked in requirements/image.txt, which is in the image too; what builds is in build.txt.
ARG PYTHON_IMAGE=python:3.13-slim

FROM ${PYTHON_IMAGE} AS build
# strip removes the debug symbols of compiled modules: 20 MB.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends gcc libc6-dev binutils \
 && python -m venv --without-pip /opt/fauxka
WORKDIR /build
COPY requirements/image.txt /opt/fauxka/
RUN python -m pip --python /opt/fauxka/bin/python install --no-cache-dir --require-hashes --requirement /opt/fauxka/image.txt
COPY requirements/build.txt .
RUN python -m venv --without-pip /opt/build \
 && python -m pip --python /opt/build/bin/python install --no-cache-dir --require-hashes --requirement build.txt
COPY . .
RUN FAUXKA_COMPILE=1 python -m pip --python /opt/build/bin/python wheel --no-cache-dir --no-build-isolation --no-deps \
    --wheel-dir /wheel . \
 && python -m pip --python /opt/fauxka/bin/python install --no-cache-dir --no-deps /wheel/*.whl \
 && find /opt/fauxka -name '*.so*' -exec strip --strip-unneeded {} +

FROM ${PYTHON_IMAGE}
# The last FROM ends the scope of an ARG.
ARG PYTHON_IMAGE
ARG VERSION=0.1.0
# Of the build: --build-arg REVISION=$(git rev-parse HEAD) --build-arg CREATED=$(date -u +%FT%TZ)
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
# The release of Kafka that the broker follows by default; nothing is the newest. Tags such as 4.3 differ in it alone.
ARG AS_VERSION=
LABEL org.opencontainers.image.title="fauxka" \
      org.opencontainers.image.description="A mock broker for Apache Kafka clients: exact on the wire, and it fails on demand" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.vendor="fauxka" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}" \
      org.opencontainers.image.base.name="${PYTHON_IMAGE}"
# Any user of group 0 may write where appuser may: OpenShift runs images under a user of its own.
RUN useradd --uid 1000 --gid 0 --no-create-home --shell /usr/sbin/nologin appuser \
 && install --directory --owner appuser --group root --mode 775 /var/lib/fauxka /etc/confluent/docker \
 && rm -rf /usr/bin/pip* /usr/local/bin/pip* $(python -c 'from importlib.util import find_spec as find; \
    print(*(f"{place} {place}-*" for name in ("pip", "ensurepip") if (found := find(name)) \
    for place in found.submodule_search_locations))')
COPY --from=build /opt/fauxka /opt/fauxka
COPY image/usr /usr
COPY image/etc/kafka /etc/kafka
COPY image/opt/kafka /opt/kafka
COPY --chown=1000:0 image/etc/confluent /etc/confluent
# Without a data folder, exports over HTTP go to ./exports.
WORKDIR /var/lib/fauxka
USER appuser
# In a container the loopback address is of no use to anybody else. Tools that start Kafka's image, such as Testcontainers,
# wait for a line of Kafka's log. The first member of a group starts at once: Kafka's 3 s would be lost in every test. The
# user's own -e, and -c on the command line, take precedence. The throw-away certificates have a place from which they can be
# copied: docker cp CONTAINER:/tmp/certificates/ca.pem .
ENV PATH=/opt/fauxka/bin:$PATH \
    FAUXKA_HOST=0.0.0.0 \
    FAUXKA_ADMIN_HOST=0.0.0.0 \
    FAUXKA_AS_VERSION=${AS_VERSION} \
    FAUXKA_LOG_KAFKA_STARTED=1 \
    FAUXKA_TLS_DIR=/tmp/certificates \
    KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS=0 \
    PYTHONUNBUFFERED=1
# Kafka's port, and the one of the admin API.
EXPOSE 9092 9099
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=2s --timeout=4s --start-period=10s --retries=3 CMD ["fauxka", "health"]
# Everything is in memory, unless told otherwise; a volume for it: -v fauxka-data:/var/lib/fauxka -e FAUXKA_DATA_DIR=/var/lib/fauxka
# Kafka's keys come as in Kafka's image: -e KAFKA_NUM_PARTITIONS=3 -e KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://localhost:9092
ENTRYPOINT ["docker-entrypoint"]
CMD ["serve"]
