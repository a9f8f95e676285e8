import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Properties;
import java.util.TreeMap;

/** Prints what java.util.Properties reads: one JSON array a line, [text, {key: value} or null where it refuses]. */
public class PropertiesLoad {
    static final String[] TEXTS = {
        "a=b", "a = b ", "a:b", "a b", "a  :  b", "a==b", "a=:b", "a : = b", "a", "a=", "=b", "", " ", "#a=b", "  ! a=b", "a=#b",
        "a=b\nc=d", "a=b\r\nc=d", "a=b\rc=d", "a=b\n\n\n#x\nc=d", "a=b\na=c",
        "a=b\\\n  c", "a=b\\\r\n  c", "a=b\\\\\nc=d", "a=b\\\\\\\n c", "a\\\nb=c", "a=b\\", "a=b\\\n", "a=\\\n", "\\\n", "\\\na=b", "a\\\n", "a=\\\n#b", "a=b\\\n\nc=d",
        "a=b\\\n   \nc=d", "\\\n\\\na=b", "  \\\n  a=b", "a=b\\\n\\\nc",
        "a\\ b=c", "a\\=b=c", "a\\:b=c", "a=\\tb\\nc\\rd\\fe", "a=\\u0041\\u00e9\\u20ac", "a=\\u00", "a=\\uzzzz", "a=\\q\\\"\\'", "\\#a=b",
        "a\tb", "a\fb", "\ta=b", "a=b\t", "a=\u00e9", "listeners=PLAINTEXT://:9092,EXTERNAL://:9094", "a=b=c:d e",
    };

    public static void main(String[] arguments) throws Exception {
        for (String text : TEXTS) {
            StringBuilder read = new StringBuilder();
            try {
                Properties properties = new Properties();
                properties.load(new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1)));
                new TreeMap<>(properties).forEach((key, value) ->
                    read.append(read.isEmpty() ? "" : ", ").append(quoted((String) key)).append(": ").append(quoted((String) value)));
                System.out.println("[" + quoted(text) + ", {" + read + "}]");
            } catch (IllegalArgumentException error) {
                System.out.println("[" + quoted(text) + ", null]");
            }
        }
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
