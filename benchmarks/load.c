// A raw Kafka load generator, fast enough not to limit the measurement.
//
//   load produce HOST PORT TOPIC BATCHES REQUESTS IN_FLIGHT PRODUCERS TOPICS PARTITIONS
//       idempotent Produce v9 on one connection, IN_FLIGHT requests at a time; every request is prepared before the
//       clock starts; BATCHES is a file of record batches, which are sent in turn; PRODUCERS producers alternate, with
//       consecutive ids from the one that the broker assigned; so do the partitions of all topics
//   load bursts HOST PORT TOPIC BATCHES REQUESTS IN_FLIGHT PRODUCERS TOPICS PARTITIONS
//       the same, but IN_FLIGHT requests are sent by one call, and the next ones when all of them are answered
//   load together HOST PORT TOPIC BATCHES REQUESTS CONNECTIONS TOPICS PARTITIONS
//       the same with one producer per connection, which waits for each response before the next request
//   load sustain HOST PORT TOPIC BATCHES REQUESTS IN_FLIGHT SECONDS
//       Produce v9 without a producer id for about SECONDS: the prepared requests are sent over and over
//   load fetch HOST PORT TOPIC END_OFFSET SECONDS
//       repeated Fetch v11 of the whole topic for about SECONDS; the figure is that of the median pass
//
// Prints one JSON object and exits with 0, or prints an error on standard error and exits with 1.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    PRODUCE = 0,
    FETCH = 1,
    METADATA = 3,
    CREATE_TOPICS = 19,
    INIT_PRODUCER_ID = 22,
    TOPIC_ALREADY_EXISTS = 36,
    OFFSET_OUT_OF_RANGE = 1,
    BATCH_HEADER_BYTES = 61,
    CRC_POSITION = 17,
    CRC_START = 21,
    PRODUCER_ID_POSITION = 43,
    PRODUCER_EPOCH_POSITION = 51,
    BASE_SEQUENCE_POSITION = 53,
    RECORDS_COUNT_POSITION = 57,
    FIRST_CORRELATION_ID = 100,
    // Kafka's consumer fetches this much of a partition (max.partition.fetch.bytes) and of a request (fetch.max.bytes).
    FETCH_PARTITION_BYTES = 1048576,
    FETCH_BYTES = 52428800,
    ATTEMPTS = 100,
    ATTEMPT_PAUSE_US = 50000,
    LEADERS_PAUSE_US = 1000000,
    PASSES_MAX = 10000,
    CONNECTIONS_MAX = 1000,
    BATCHES_MAX = 100,
    TOPIC_NAME_MAX = 250,
};

static int connection;

static void fail(const char *what)
{
    fprintf(stderr, "load: %s\n", what);
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// CRC-32C

static uint32_t crc_table[256];

static void prepare_crc(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; bit++)
            c = c & 1 ? (c >> 1) ^ 0x82F63B78u : c >> 1;
        crc_table[i] = c;
    }
}

static uint32_t crc32c(const uint8_t *bytes, size_t size)
{
    uint32_t c = ~0u;
    while (size--)
        c = crc_table[(c ^ *bytes++) & 255] ^ (c >> 8);
    return ~c;
}

// A growing buffer of big-endian integers

typedef struct {
    uint8_t *bytes;
    size_t size, capacity;
} buffer;

static void put(buffer *b, const void *bytes, size_t size)
{
    if (b->size + size > b->capacity) {
        b->capacity = (b->size + size) * 2;
        b->bytes = realloc(b->bytes, b->capacity);
        if (!b->bytes)
            fail("out of memory");
    }
    memcpy(b->bytes + b->size, bytes, size);
    b->size += size;
}

static void put8(buffer *b, int value)
{
    uint8_t v = value;
    put(b, &v, 1);
}

static void put16(buffer *b, int value)
{
    uint16_t v = htons(value);
    put(b, &v, 2);
}

static void put32(buffer *b, int32_t value)
{
    uint32_t v = htonl(value);
    put(b, &v, 4);
}

static void put64(buffer *b, int64_t value)
{
    uint64_t v = __builtin_bswap64(value);
    put(b, &v, 8);
}

static void put_unsigned_varint(buffer *b, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        put8(b, value | 128);
    put8(b, value);
}

static void put_string(buffer *b, const char *text)
{
    put16(b, strlen(text));
    put(b, text, strlen(text));
}

static void set64(uint8_t *at, uint64_t value)
{
    value = __builtin_bswap64(value);
    memcpy(at, &value, 8);
}

static void set16(uint8_t *at, uint16_t value)
{
    value = htons(value);
    memcpy(at, &value, 2);
}

static void set32(uint8_t *at, uint32_t value)
{
    value = htonl(value);
    memcpy(at, &value, 4);
}

// A cursor over a response

typedef struct {
    const uint8_t *at;
} cursor;

static int16_t get16(cursor *c)
{
    uint16_t v;
    memcpy(&v, c->at, 2);
    c->at += 2;
    return ntohs(v);
}

static int32_t get32(cursor *c)
{
    uint32_t v;
    memcpy(&v, c->at, 4);
    c->at += 4;
    return ntohl(v);
}

static int64_t get64(cursor *c)
{
    uint64_t v;
    memcpy(&v, c->at, 8);
    c->at += 8;
    return __builtin_bswap64(v);
}

static void skip_string(cursor *c)
{
    int16_t length = get16(c);
    c->at += length > 0 ? length : 0;
}

// The connection

static void connect_to(const char *host, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    int one = 1;
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
        fail("the host must be an IPv4 address");
    connection = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(connection, (struct sockaddr *)&address, sizeof address))
        fail("cannot connect");
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

static void send_all(const uint8_t *bytes, size_t size)
{
    while (size) {
        ssize_t sent = send(connection, bytes, size, MSG_NOSIGNAL);
        if (sent <= 0)
            fail("the server closed the connection while we sent");
        bytes += sent;
        size -= sent;
    }
}

static uint8_t *received;
static size_t received_size, received_capacity, received_position;

// Makes at least this many bytes available at received_position.
static void receive(size_t wanted)
{
    while (received_size - received_position < wanted) {
        if (received_position == received_size)
            received_position = received_size = 0;
        if (received_capacity - received_size < 1 << 16 || received_capacity < received_position + wanted) {
            memmove(received, received + received_position, received_size - received_position);
            received_size -= received_position;
            received_position = 0;
            if (received_capacity < wanted + (1 << 17)) {
                received_capacity = wanted + (1 << 18);
                received = realloc(received, received_capacity);
            }
        }
        ssize_t size = recv(connection, received + received_size, received_capacity - received_size, 0);
        if (size <= 0)
            fail("the server closed the connection");
        received_size += size;
    }
}

// The next response without its size, valid until the next call.
static cursor answer(void)
{
    receive(4);
    cursor size = {received + received_position};
    int32_t body = get32(&size);
    receive(4 + (size_t)body);
    cursor c = {received + received_position + 4};
    received_position += 4 + (size_t)body;
    return c;
}

static void begin_request(buffer *b, int api_key, int version, int is_flexible)
{
    b->size = 0;
    put32(b, 0);
    put16(b, api_key);
    put16(b, version);
    put32(b, 1);
    put_string(b, "load");
    if (is_flexible)
        put8(b, 0);
}

static void end_request(buffer *b)
{
    set32(b->bytes, b->size - 4);
}

static cursor ask(buffer *b)
{
    end_request(b);
    send_all(b->bytes, b->size);
    return answer();
}

// Before the load: create the topic and get a producer id

static int has_leaders(const char *topic, int partitions)
{
    static buffer b;
    begin_request(&b, METADATA, 4, 0);
    put32(&b, 1);
    put_string(&b, topic);
    put8(&b, 1);
    cursor c = ask(&b);
    c.at += 4 + 4;
    for (int brokers = get32(&c); brokers > 0; brokers--) {
        get32(&c);
        skip_string(&c);
        get32(&c);
        skip_string(&c);
    }
    skip_string(&c);
    c.at += 4;
    int topics = get32(&c), error_code = get16(&c);
    skip_string(&c);
    c.at += 1;
    return topics == 1 && error_code == 0 && get32(&c) >= partitions;
}

// A single topic of one partition is created by its Metadata request, because librdkafka's mock has no CreateTopics.
static void create_topic(const char *topic, int partitions, int is_single)
{
    static buffer b;
    if (!is_single) {
        begin_request(&b, CREATE_TOPICS, 4, 0);
        put32(&b, 1);
        put_string(&b, topic);
        put32(&b, partitions);
        put16(&b, -1);
        put32(&b, 0);
        put32(&b, 0);
        put32(&b, 60000);
        put8(&b, 0);
        cursor c = ask(&b);
        c.at += 4 + 4 + 4;
        skip_string(&c);
        int error_code = get16(&c);
        if (error_code && error_code != TOPIC_ALREADY_EXISTS)
            fail("the topic was not created");
    }
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (has_leaders(topic, partitions))
            return;
        usleep(ATTEMPT_PAUSE_US);
    }
    fail("the topic was not created");
}

typedef struct {
    int64_t id;
    int epoch;
} producer;

static producer init_producer_id(void)
{
    static buffer b;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        begin_request(&b, INIT_PRODUCER_ID, 1, 0);
        put16(&b, -1);
        put32(&b, 60000);
        cursor c = ask(&b);
        c.at += 4 + 4;
        if (get16(&c) == 0) {
            producer p = {.id = get64(&c)};
            p.epoch = get16(&c);
            return p;
        }
        usleep(ATTEMPT_PAUSE_US);
    }
    fail("no producer id");
    return (producer){0};
}

// produce

typedef struct {
    const char *topic, *batches_file;
    int requests, in_flight, producers, topics, partitions;
} workload;

typedef struct {
    uint8_t *bytes;
    size_t size;
    int records;
} batch;

static batch batches[BATCHES_MAX];
static int batch_count;

static void read_batches(const char *path)
{
    FILE *file = fopen(path, "rb");
    static buffer all;
    uint8_t block[1 << 16];
    if (!file)
        fail("cannot open the file of batches");
    for (size_t size; (size = fread(block, 1, sizeof block, file)) > 0;)
        put(&all, block, size);
    fclose(file);
    for (size_t at = 0; at < all.size; batch_count++) {
        cursor length = {all.bytes + at + 8}, records = {all.bytes + at + RECORDS_COUNT_POSITION};
        if (batch_count == BATCHES_MAX)
            fail("too many batches");
        batches[batch_count] = (batch){all.bytes + at, 12 + (size_t)get32(&length), get32(&records)};
        at += batches[batch_count].size;
    }
    if (!batch_count)
        fail("no batches");
}

static void put_topic_name(char *name, size_t size, const workload *w, int index)
{
    if (w->topics == 1)
        snprintf(name, size, "%s", w->topic);
    else
        snprintf(name, size, "%s-%d", w->topic, index);
}

static void create_topics(const workload *w)
{
    char name[TOPIC_NAME_MAX];
    for (int i = 0; i < w->topics; i++) {
        put_topic_name(name, sizeof name, w, i);
        create_topic(name, w->partitions, w->topics * w->partitions == 1);
    }
    // A real Kafka names leaders before they accept batches.
    if (w->topics * w->partitions > 1)
        usleep(LEADERS_PAUSE_US);
}

typedef struct {
    uint8_t *all;
    size_t *start;
    double mb;
} requests;

// Consecutive requests, each with its own correlation id, producer, sequence and checksum. A producer's sequences count
// from 0 in each partition; its batches come back to the same partition after as many requests as there are partitions.
static requests prepare_requests(const workload *w, producer p)
{
    buffer all = {0};
    char name[TOPIC_NAME_MAX];
    int targets = w->topics * w->partitions, period = targets > w->producers ? targets : w->producers;
    int *sequences = calloc(period, sizeof *sequences);
    requests r = {.start = malloc((w->requests + 1) * sizeof *r.start)};
    if (period % targets || period % w->producers)
        fail("the number of producers must divide that of partitions, or the other way round");
    for (int i = 0; i < w->requests; i++) {
        const batch *b = &batches[i % batch_count];
        r.start[i] = all.size;
        put_topic_name(name, sizeof name, w, i % targets / w->partitions);
        put32(&all, 0);
        put16(&all, PRODUCE);
        put16(&all, 9);
        put32(&all, FIRST_CORRELATION_ID + i);
        put_string(&all, "load");
        put8(&all, 0);
        put8(&all, 0);
        put16(&all, -1);
        put32(&all, 30000);
        put_unsigned_varint(&all, 2);
        put_unsigned_varint(&all, strlen(name) + 1);
        put(&all, name, strlen(name));
        put_unsigned_varint(&all, 2);
        put32(&all, i % targets % w->partitions);
        put_unsigned_varint(&all, b->size + 1);
        size_t at = all.size;
        put(&all, b->bytes, b->size);
        put(&all, "\0\0\0", 3);
        uint8_t *stamped = all.bytes + at;
        set64(stamped + PRODUCER_ID_POSITION, p.id < 0 ? -1 : p.id + i % w->producers);
        set16(stamped + PRODUCER_EPOCH_POSITION, p.epoch);
        set32(stamped + BASE_SEQUENCE_POSITION, p.id < 0 ? -1 : sequences[i % period]);
        set32(stamped + CRC_POSITION, crc32c(stamped + CRC_START, b->size - CRC_START));
        set32(all.bytes + r.start[i], all.size - r.start[i] - 4);
        sequences[i % period] = (sequences[i % period] + b->records) & 0x7fffffff;
        r.mb += b->size / 1e6;
    }
    r.start[w->requests] = all.size;
    r.all = all.bytes;
    free(sequences);
    return r;
}

static void send_request(const requests *r, int i)
{
    send_all(r->all + r->start[i], r->start[i + 1] - r->start[i]);
}

static int produce_error(cursor c, int correlation_id)
{
    if (get32(&c) != correlation_id)
        fail("an answer out of order");
    c.at += 1 + 1;
    c.at += *c.at + 1 + 4;
    return get16(&c);
}

static void check_produced(cursor c, int batch)
{
    int error_code = produce_error(c, FIRST_CORRELATION_ID + batch);
    if (error_code) {
        fprintf(stderr, "load: error code %d for batch %d\n", error_code, batch);
        exit(1);
    }
}

static void print_produced(const workload *w, const requests *r, double *latency, double seconds)
{
    qsort(latency, w->requests, sizeof *latency, by_value);
    printf("{\"mb\": %.6f, \"requests_per_s\": %.1f, \"mb_per_s\": %.3f, \"p50_us\": %.1f, \"p99_us\": %.1f}\n",
           r->mb, w->requests / seconds, r->mb / seconds, latency[w->requests / 2] * 1e6,
           latency[(int)(w->requests * .99)] * 1e6);
}

static void produce(const workload *w)
{
    create_topics(w);
    requests r = prepare_requests(w, init_producer_id());
    double *sent_at = malloc(w->requests * sizeof *sent_at), *latency = malloc(w->requests * sizeof *latency);
    int sent = 0, done = 0;
    double start = now();
    while (done < w->requests) {
        for (; sent < w->requests && sent - done < w->in_flight; sent++) {
            sent_at[sent] = now();
            send_request(&r, sent);
        }
        check_produced(answer(), done);
        latency[done] = now() - sent_at[done];
        done++;
    }
    print_produced(w, &r, latency, now() - start);
}

static void produce_bursts(const workload *w)
{
    create_topics(w);
    requests r = prepare_requests(w, init_producer_id());
    double *latency = malloc(w->requests * sizeof *latency);
    double start = now();
    for (int done = 0; done < w->requests;) {
        int end = done + w->in_flight < w->requests ? done + w->in_flight : w->requests;
        double sent_at = now();
        send_all(r.all + r.start[done], r.start[end] - r.start[done]);
        for (; done < end; done++) {
            check_produced(answer(), done);
            latency[done] = now() - sent_at;
        }
    }
    print_produced(w, &r, latency, now() - start);
}

static void sustain(const workload *w, double seconds)
{
    create_topics(w);
    requests r = prepare_requests(w, (producer){.id = -1, .epoch = -1});
    long sent = 0, done = 0;
    double start = now();
    while (now() - start < seconds || done < sent) {
        for (; now() - start < seconds && sent - done < w->in_flight; sent++)
            send_request(&r, sent % w->requests);
        if (done < sent) {
            check_produced(answer(), done % w->requests);
            done++;
        }
    }
    double took = now() - start, mb = r.mb / w->requests * done;
    printf("{\"mb\": %.6f, \"requests_per_s\": %.1f, \"mb_per_s\": %.3f}\n", mb, done / took, mb / took);
}

// Connection k sends requests k, k + producers, and so on. Each connection has one response pending, so that
// the buffer is empty when the next response is read.
static void produce_together(const workload *w, const char *host, int port)
{
    struct pollfd connections[CONNECTIONS_MAX];
    int next[CONNECTIONS_MAX];
    if (w->producers > CONNECTIONS_MAX || w->producers > w->requests)
        fail("too many connections");
    create_topics(w);
    requests r = prepare_requests(w, init_producer_id());
    double *sent_at = malloc(w->requests * sizeof *sent_at), *latency = malloc(w->requests * sizeof *latency);
    for (int k = 0; k < w->producers; k++) {
        connect_to(host, port);
        connections[k] = (struct pollfd){.fd = connection, .events = POLLIN};
        next[k] = k;
    }
    double start = now();
    for (int k = 0; k < w->producers; k++) {
        connection = connections[k].fd;
        sent_at[k] = now();
        send_request(&r, k);
    }
    for (int done = 0; done < w->requests;) {
        poll(connections, w->producers, -1);
        for (int k = 0; k < w->producers; k++) {
            if (!connections[k].revents)
                continue;
            connection = connections[k].fd;
            check_produced(answer(), next[k]);
            latency[next[k]] = now() - sent_at[next[k]];
            done++;
            next[k] += w->producers;
            if (next[k] >= w->requests)
                continue;
            sent_at[next[k]] = now();
            send_request(&r, next[k]);
        }
    }
    print_produced(w, &r, latency, now() - start);
}

// fetch

typedef struct {
    int error_code;
    int64_t log_start_offset, next_offset;
    size_t record_bytes;
} fetched;

static fetched fetch_once(const char *topic, int64_t offset)
{
    static buffer b;
    begin_request(&b, FETCH, 11, 0);
    put32(&b, -1);
    put32(&b, 500);
    put32(&b, 1);
    put32(&b, FETCH_BYTES);
    put8(&b, 0);
    put32(&b, 0);
    put32(&b, -1);
    put32(&b, 1);
    put_string(&b, topic);
    put32(&b, 1);
    put32(&b, 0);
    put32(&b, -1);
    put64(&b, offset);
    put64(&b, -1);
    put32(&b, FETCH_PARTITION_BYTES);
    put32(&b, 0);
    put16(&b, 0);
    cursor c = ask(&b);
    c.at += 4 + 4 + 2 + 4 + 4;
    skip_string(&c);
    c.at += 4 + 4;
    fetched f = {.error_code = get16(&c), .next_offset = offset};
    c.at += 8 + 8;
    f.log_start_offset = get64(&c);
    int32_t aborted = get32(&c);
    c.at += (aborted > 0 ? aborted * 16 : 0) + 4;
    int32_t size = get32(&c);
    f.record_bytes = size > 0 ? size : 0;
    for (const uint8_t *end = c.at + f.record_bytes; c.at + BATCH_HEADER_BYTES <= end;) {
        cursor base_offset = c, length = {c.at + 8}, last_offset_delta = {c.at + 23};
        int32_t batch_length = get32(&length);
        if (c.at + 12 + batch_length > end)
            break;
        f.next_offset = get64(&base_offset) + get32(&last_offset_delta) + 1;
        c.at += 12 + batch_length;
    }
    return f;
}

// Reads from the log start to end_offset; returns the MB per second.
static double fetch_pass(const char *topic, int64_t end_offset)
{
    int64_t offset = 0;
    size_t bytes = 0;
    double start = now();
    while (offset < end_offset) {
        fetched f = fetch_once(topic, offset);
        if (f.error_code == OFFSET_OUT_OF_RANGE && offset == 0 && f.log_start_offset > 0) {
            offset = f.log_start_offset;
            continue;
        }
        if (f.error_code || f.next_offset == offset) {
            fprintf(stderr, "load: fetch at %lld: error code %d, %zu bytes\n", (long long)offset, f.error_code,
                    f.record_bytes);
            exit(1);
        }
        bytes += f.record_bytes;
        offset = f.next_offset;
    }
    return bytes / (now() - start) / 1e6;
}

static void fetch(const char *topic, int64_t end_offset, double seconds)
{
    static double rates[PASSES_MAX];
    int passes = 0;
    double start = now();
    do
        rates[passes++] = fetch_pass(topic, end_offset);
    while (now() - start < seconds && passes < PASSES_MAX);
    qsort(rates, passes, sizeof *rates, by_value);
    printf("{\"mb_per_s\": %.3f, \"passes\": %d}\n", rates[passes / 2], passes);
}

static const char USAGE[] = "usage: load produce|bursts|together|sustain|fetch HOST PORT TOPIC ...";

int main(int count, char **words)
{
    if (count < 5)
        fail(USAGE);
    prepare_crc();
    connect_to(words[2], atoi(words[3]));
    int is_burst = !strcmp(words[1], "bursts");
    if ((is_burst || !strcmp(words[1], "produce")) && count == 11) {
        workload w = {words[4],       words[5],       atoi(words[6]), atoi(words[7]),
                      atoi(words[8]), atoi(words[9]), atoi(words[10])};
        read_batches(w.batches_file);
        (is_burst ? produce_bursts : produce)(&w);
    } else if (!strcmp(words[1], "together") && count == 10) {
        workload w = {words[4], words[5], atoi(words[6]), 1, atoi(words[7]), atoi(words[8]), atoi(words[9])};
        read_batches(w.batches_file);
        produce_together(&w, words[2], atoi(words[3]));
    } else if (!strcmp(words[1], "sustain") && count == 9) {
        workload w = {words[4], words[5], atoi(words[6]), atoi(words[7]), 1, 1, 1};
        read_batches(w.batches_file);
        sustain(&w, atof(words[8]));
    } else if (!strcmp(words[1], "fetch") && count == 7) {
        fetch(words[4], atoll(words[5]), atof(words[6]));
    } else {
        fail(USAGE);
    }
    return 0;
}
