// Answers questions about message sets, magic 0 and 1, with the classes of Kafka 3.9.1, without a broker: a question a
// line on standard input, its answer a line on standard output. Bytes are in hex, "null" for none.
//   make MAGIC CODEC TYPE BASE TIMESTAMP/KEY/VALUE,...   a set or batch, as a producer of that time builds it
//   down MAGIC FIRST HEX             stored batches for a consumer that reads from an offset on
//   up HEX                           what the log stores of a produced set, at offset 0; or the name of the error

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.errors.CorruptRecordException;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MemoryRecordsBuilder;
import org.apache.kafka.common.record.MutableRecordBatch;
import org.apache.kafka.common.record.Records;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.utils.BufferSupplier;
import org.apache.kafka.common.utils.PrimitiveRef;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.LogValidator;

public class MessageSetOracle {
    private static final HexFormat HEX = HexFormat.of();

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            String answer;
            try {
                answer = switch (words[0]) {
                    case "make" -> made(words);
                    case "down" -> hex(records(words[3])
                        .downConvert(Byte.parseByte(words[1]), Long.parseLong(words[2]), Time.SYSTEM).records());
                    default -> {
                        MemoryRecords produced = records(words[1]);
                        // UnifiedLog.append returns before the validation.
                        yield produced.firstBatch() == null ? "empty" : hex(stored(produced));
                    }
                };
            } catch (Exception error) {
                answer = error.getClass().getSimpleName();
            }
            System.out.println(answer);
        }
    }

    private static String made(String[] words) {
        byte magic = Byte.parseByte(words[1]);
        TimestampType type = TimestampType.forName(words[3]);
        MemoryRecordsBuilder builder = MemoryRecords.builder(ByteBuffer.allocate(1024), magic, codec(words[2]), type,
            Long.parseLong(words[4]), type == TimestampType.LOG_APPEND_TIME ? 1_700_000_000_000L : -1L);
        for (String record : words[5].split(",")) {
            String[] parts = record.split("/", -1);
            builder.append(magic == 0 ? -1L : Long.parseLong(parts[0]), bytes(parts[1]), bytes(parts[2]));
        }
        return hex(builder.build());
    }

    // As UnifiedLog.analyzeAndValidateRecords and append.
    private static MemoryRecords stored(MemoryRecords produced) {
        CompressionType source = CompressionType.NONE;
        for (MutableRecordBatch batch : produced.batches()) {
            if (!batch.isValid()) throw new CorruptRecordException();
            if (batch.compressionType() != CompressionType.NONE) source = batch.compressionType();
        }
        LogValidator validator = new LogValidator(produced, new TopicPartition("orders", 0), Time.SYSTEM, source,
            Compression.of(source).build(), false, (byte) 2, TimestampType.CREATE_TIME, Long.MAX_VALUE, Long.MAX_VALUE, 0,
            AppendOrigin.CLIENT, MetadataVersion.latestProduction());
        return validator.validateMessagesAndAssignOffsets(PrimitiveRef.ofLong(0), new Unrecorded(),
            BufferSupplier.NO_CACHING).validatedRecords;
    }

    private static Compression codec(String name) {
        return Compression.of(CompressionType.forName(name)).build();
    }

    private static MemoryRecords records(String hex) {
        return MemoryRecords.readableRecords(ByteBuffer.wrap(HEX.parseHex(hex)));
    }

    private static byte[] bytes(String hex) {
        return hex.equals("null") ? null : HEX.parseHex(hex);
    }

    private static String hex(Records records) {
        ByteBuffer buffer = ((MemoryRecords) records).buffer();
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes.length == 0 ? "empty" : HEX.formatHex(bytes);
    }

    private static class Unrecorded implements LogValidator.MetricsRecorder {
        public void recordInvalidMagic() { }
        public void recordInvalidOffset() { }
        public void recordInvalidSequence() { }
        public void recordInvalidChecksums() { }
        public void recordNoKeyCompactedTopic() { }
    }
}
