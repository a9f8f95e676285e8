import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.security.JaasContext;

/** Prints what Java and Kafka make of texts: one JSON array a line, [function, argument, ..., result]; null where it refuses. */
public class JavaText {
    static final String SPACES = "\0\t\n\u000b\f\r\u001c\u001f \u007f\u0085\u00a0\u1680\u180e\u2000\u2003\u2007\u200b\u2028\u2029\u202f\u205f\u3000\ufeff";
    static final String[] LETTERS = {"a", "A", "k", "K", "\u212a", "s", "S", "\u017f", "i", "I", "\u0130", "\u0131", "\u00df", "\u1e9e", "\u00e9", "\u00c9", "\u03c3", "\u03c2", "\u03a3", "\ud801\udc00", "\ud801\udc28", "ss", "\u01c4", "\u01c5", "\u01c6", ""};
    static final String[] ADDRESSES = {"127.0.0.1", "::1", "::", "fe80::1", "2001:db8::ff00:42:8329", "::ffff:10.0.0.7", "::10.0.0.7", "0:0:0:0:0:0:0:1", "2001:DB8:0:0:1::1"};
    static final String[] JAAS = {
        "user_a=\"b\"", "user_a='b'", "user_a = \"b\" user_c=\"d\"", "user_a=\"\\\"\\\\\"", "user_a=\"x\\ty\\nz\\a\\b\\f\\r\\v\\q\"", "user_a=\"\\101\\60\\7x\\400\\778\"", "user_a=b",
        "user_a\u00a0=\"b\"", "user_a\u2003=\"b\"", "\u00a0user_a=\"b\"", "user_a=\"\u00a0b\u2003\"", "user_a\u0001=\u001f\"b\"", "user_\u00e9=\"b\"", "user_a=\"b\"\u00a0", "user_a=\u00a0b",
    };

    public static void main(String[] arguments) throws Exception {
        for (char space : SPACES.toCharArray()) {
            String text = space + "a" + space + "b" + space;
            print("trim", quoted(text), quoted(text.trim()));
            String list = "x" + space + "," + space + "y" + space;
            print("split_list", quoted(list), quoted((List<?>) ConfigDef.parseType("key", list, ConfigDef.Type.LIST)));
        }
        for (String left : LETTERS)
            for (String right : LETTERS)
                print("equals_ignore_case", quoted(left), quoted(right), String.valueOf(left.equalsIgnoreCase(right)));
        for (String address : ADDRESSES) print("host_address", quoted(address), quoted(InetAddress.getByName(address).getHostAddress()));
        Random random = new Random(17);
        for (int number = 0; number < 400; number++) {
            byte[] data = new byte[random.nextInt(9)];
            for (int position = 0; position < data.length; position++) data[position] = (byte) (random.nextInt(4) == 0 ? random.nextInt(128) : LEADS[random.nextInt(LEADS.length)]);
            print("decode_utf8", quoted(Base64.getEncoder().encodeToString(data)), quoted(new String(data, StandardCharsets.UTF_8)));
        }
        for (String options : JAAS) print("parse_jaas_options", quoted(options), optionsIn(options));
    }

    static final int[] LEADS = {0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xdf, 0xe0, 0xe1, 0xed, 0xed, 0xed, 0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff};

    static String optionsIn(String options) {
        try {
            Password config = new Password("org.apache.kafka.common.security.plain.PlainLoginModule required " + options + ";");
            Map<String, ?> found = JaasContext.loadClientContext(Map.of("sasl.jaas.config", config)).configurationEntries().get(0).getOptions();
            StringBuilder read = new StringBuilder();
            new TreeMap<>(found).forEach((key, value) -> read.append(read.isEmpty() ? "" : ", ").append(quoted(key)).append(": ").append(quoted((String) value)));
            return "{" + read + "}";
        } catch (IllegalArgumentException error) {
            return "null";
        }
    }

    static void print(String function, String... values) {
        System.out.println("[\"" + function + "\", " + String.join(", ", values) + "]");
    }

    static String quoted(List<?> texts) {
        return "[" + String.join(", ", texts.stream().map(text -> quoted((String) text)).toList()) + "]";
    }

    static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char character : text.toCharArray()) {
            if (character < ' ' || character > '~' || character == '"' || character == '\\')
                quoted.append(String.format("\\u%04x", (int) character));
            else
                quoted.append(character);
        }
        return quoted.append('"').toString();
    }
}
