// Writes records with each codec of a release of brokers, and reads them back in a group: a line each, offset and value.
//   program HOST:PORT RELEASE    such as 0.9.0.1: the client then speaks as to brokers of that release; negotiated: it asks

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rdkafka.h"

#define RECORDS 20
#define WAIT_MS 30000

static const char *CODECS[] = {"none", "gzip", "snappy"};
#define CODEC_COUNT ((int)(sizeof(CODECS) / sizeof(*CODECS)))

static int delivered;

static void fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void set(rd_kafka_conf_t *conf, const char *name, const char *value) {
    char error[512];
    if (rd_kafka_conf_set(conf, name, value, error, sizeof(error)) != RD_KAFKA_CONF_OK) fail(name, error);
}

static void on_delivery(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque) {
    if (message->err) fail("delivery", rd_kafka_err2str(message->err));
    delivered++;
}

static rd_kafka_conf_t *configuration(const char *bootstrap, const char *release) {
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", bootstrap);
    if (strcmp(release, "negotiated")) {
        set(conf, "api.version.request", "false");
        set(conf, "broker.version.fallback", release);
    }
    return conf;
}

static rd_kafka_t *client_of(rd_kafka_type_t type, rd_kafka_conf_t *conf) {
    char error[512];
    rd_kafka_t *client = rd_kafka_new(type, conf, error, sizeof(error));
    if (!client) fail("client", error);
    return client;
}

static void write_records(const char *bootstrap, const char *release, const char *codec) {
    rd_kafka_conf_t *conf = configuration(bootstrap, release);
    set(conf, "compression.codec", codec);
    set(conf, "queue.buffering.max.ms", "50");
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    rd_kafka_t *producer = client_of(RD_KAFKA_PRODUCER, conf);
    for (int index = 0; index < RECORDS; index++) {
        char key[16], value[64];
        snprintf(key, sizeof(key), "%d", index);
        snprintf(value, sizeof(value), "%s-%d", codec, index);
        rd_kafka_resp_err_t error = rd_kafka_producev(producer, RD_KAFKA_V_TOPIC("orders"), RD_KAFKA_V_PARTITION(0),
            RD_KAFKA_V_KEY(key, strlen(key)), RD_KAFKA_V_VALUE(value, strlen(value)),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
        if (error) fail("produce", rd_kafka_err2str(error));
    }
    if (rd_kafka_flush(producer, WAIT_MS)) fail("flush", "not all records are written");
    rd_kafka_destroy(producer);
}

static void read_records(const char *bootstrap, const char *release) {
    rd_kafka_conf_t *conf = configuration(bootstrap, release);
    set(conf, "group.id", "readers");
    set(conf, "enable.auto.commit", "false");
    rd_kafka_topic_conf_t *topic_conf = rd_kafka_topic_conf_new();
    rd_kafka_topic_conf_set(topic_conf, "auto.offset.reset", "earliest", NULL, 0);
    rd_kafka_conf_set_default_topic_conf(conf, topic_conf);
    rd_kafka_t *consumer = client_of(RD_KAFKA_CONSUMER, conf);
    rd_kafka_poll_set_consumer(consumer);
    rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(topics, "orders", RD_KAFKA_PARTITION_UA);
    rd_kafka_subscribe(consumer, topics);
    for (int read = 0; read < RECORDS * CODEC_COUNT;) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(consumer, WAIT_MS);
        if (!message) fail("poll", "no record came");
        if (message->err && message->err != RD_KAFKA_RESP_ERR__PARTITION_EOF) fail("poll", rd_kafka_message_errstr(message));
        if (!message->err) {
            printf("%lld %.*s\n", (long long)message->offset, (int)message->len, (char *)message->payload);
            read++;
        }
        rd_kafka_message_destroy(message);
    }
    rd_kafka_resp_err_t error = rd_kafka_commit(consumer, NULL, 0);
    if (error) fail("commit", rd_kafka_err2str(error));
    rd_kafka_topic_partition_list_destroy(topics);
    rd_kafka_consumer_close(consumer);
    rd_kafka_destroy(consumer);
}

int main(int count, char **arguments) {
    if (count != 3) fail("usage", "program HOST:PORT RELEASE");
    for (int index = 0; index < CODEC_COUNT; index++) write_records(arguments[1], arguments[2], CODECS[index]);
    if (delivered != RECORDS * CODEC_COUNT) fail("delivery", "records are missing");
    read_records(arguments[1], arguments[2]);
    return 0;
}
