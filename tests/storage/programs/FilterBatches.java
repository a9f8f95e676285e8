import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.BufferSupplier;

/**
 * Prints what Kafka's MemoryRecords.filterTo makes of batches. A line on the standard input: the batch, its retention,
 * whether it is the marker of a transaction without records, the time, delete.retention.ms, the offsets kept or "-".
 * The same line is printed with the result at its end, "-" for nothing; a result that is there already is left out.
 */
public class FilterBatches {
    private static class Filter extends MemoryRecords.RecordFilter {
        private final BatchRetentionResult retention;
        private final Set<String> kept;

        Filter(String[] fields) {
            super(Long.parseLong(fields[3]), Long.parseLong(fields[4]));
            retention = new BatchRetentionResult(BatchRetention.valueOf(fields[1]), fields[2].equals("1"));
            kept = Arrays.stream(fields[5].split(",")).collect(Collectors.toSet());
        }

        @Override
        protected BatchRetentionResult checkBatchRetention(RecordBatch batch) {
            return retention;
        }

        @Override
        protected boolean shouldRetainRecord(RecordBatch batch, org.apache.kafka.common.record.internal.Record record) {
            return kept.contains(Long.toString(record.offset()));
        }
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader cases = new BufferedReader(new InputStreamReader(System.in));
        for (String line = cases.readLine(); line != null; line = cases.readLine()) {
            String[] fields = Arrays.copyOf(line.split(" "), 6);
            ByteBuffer batch = ByteBuffer.wrap(HexFormat.of().parseHex(fields[0]));
            ByteBuffer result = MemoryRecords.readableRecords(batch)
                .filterTo(new Filter(fields), ByteBuffer.allocate(1 << 20), BufferSupplier.NO_CACHING)
                .outputBuffer();
            result.flip();
            byte[] bytes = new byte[result.remaining()];
            result.get(bytes);
            System.out.println(String.join(" ", fields) + " " + (bytes.length == 0 ? "-" : HexFormat.of().formatHex(bytes)));
        }
    }
}
