#!/bin/sh
# Compiles program.c with the sources of librdkafka 0.11.4 that node-rdkafka has.
set -e
sources=node_modules/node-rdkafka/deps/librdkafka
(cd $sources && ./configure --disable-ssl --disable-sasl --disable-lz4 && make -C src librdkafka.a)
cc -I$sources/src -o program program.c $sources/src/librdkafka.a -lz -lpthread -ldl -lrt -lm
