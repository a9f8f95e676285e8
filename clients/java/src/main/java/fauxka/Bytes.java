package fauxka;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;

/** A key, a value or the value of a header. */
public record Bytes(byte[] bytes) {
    public static Bytes of(String text) { return new Bytes(text.getBytes(StandardCharsets.UTF_8)); }

    /** The text in UTF-8. */
    public String text() { return new String(bytes, StandardCharsets.UTF_8); }

    /** Whether the bytes are the same, which those of a record are not by themselves. */
    @Override
    public boolean equals(Object other) { return other instanceof Bytes that && Arrays.equals(bytes, that.bytes); }

    @Override
    public int hashCode() { return Arrays.hashCode(bytes); }

    @Override
    public String toString() { return text(); }

    @JsonCreator
    static Bytes ofJson(JsonNode json) {
        return json.isTextual()
            ? of(json.asText())
            : new Bytes(Base64.getDecoder().decode(json.get("base64").asText()));
    }

    @JsonValue
    Map<String, String> json() { return Map.of("base64", Base64.getEncoder().encodeToString(bytes)); }
}
