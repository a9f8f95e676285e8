// Writes records with each codec of a release of brokers, and reads them back: a line each, offset and value.
//
//	program HOST:PORT RELEASE    such as 0.9.0.0: sarama then speaks as to brokers of that release
package main

import (
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/Shopify/sarama"
)

const records = 20

var codecs = map[string]sarama.CompressionCodec{
	"none": sarama.CompressionNone, "gzip": sarama.CompressionGZIP, "snappy": sarama.CompressionSnappy,
	"lz4": sarama.CompressionLZ4,
}

func main() {
	version, err := sarama.ParseKafkaVersion(os.Args[2])
	check(err)
	brokers := strings.Split(os.Args[1], ",")
	count := 0
	for _, name := range []string{"none", "gzip", "snappy", "lz4"} {
		if name == "lz4" && !version.IsAtLeast(sarama.V0_10_0_0) {
			continue
		}
		write(brokers, version, name)
		count += records
	}
	read(brokers, version, count)
}

func write(brokers []string, version sarama.KafkaVersion, name string) {
	config := sarama.NewConfig()
	config.Version = version
	config.Producer.Compression = codecs[name]
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Return.Successes = true
	config.Producer.Partitioner = sarama.NewManualPartitioner
	producer, err := sarama.NewSyncProducer(brokers, config)
	check(err)
	messages := make([]*sarama.ProducerMessage, records)
	for index := range messages {
		messages[index] = &sarama.ProducerMessage{
			Topic: "orders", Key: sarama.StringEncoder(fmt.Sprint(index)),
			Value: sarama.StringEncoder(fmt.Sprintf("%s-%d", name, index)),
		}
	}
	check(producer.SendMessages(messages))
	check(producer.Close())
}

func read(brokers []string, version sarama.KafkaVersion, count int) {
	config := sarama.NewConfig()
	config.Version = version
	consumer, err := sarama.NewConsumer(brokers, config)
	check(err)
	partition, err := consumer.ConsumePartition("orders", 0, sarama.OffsetOldest)
	check(err)
	for range make([]struct{}, count) {
		message := <-partition.Messages()
		fmt.Println(message.Offset, string(message.Value))
	}
	check(partition.Close())
	check(consumer.Close())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
