package fauxka;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.EnumNamingStrategies;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** JSON over HTTP. An error response is a CallException, and no response an UncheckedIOException. */
record AdminClient(String address, String token, HttpClient http) {
    static final JsonMapper JSON = JsonMapper.builder()
        .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
        .enumNamingStrategy(EnumNamingStrategies.SNAKE_CASE)
        // A newer broker may return more fields.
        .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
        .build();
    /** Far more than a call takes that does not wait for hits, and than the broker needs to report a timeout. */
    private static final Duration RESPONSE_MAX = Duration.ofSeconds(60);
    private static final int PAGE_ITEMS_MAX = 10_000;
    private static final int FIRST_ERROR_STATUS = 300;

    /** Returns the text as one part of a path or a query. */
    static String encoded(Object text) {
        return URLEncoder.encode(text.toString(), StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** Returns the path with the parameters that are not null. */
    static String withQuery(String path, Map<String, ?> query) {
        return query.entrySet().stream()
            .filter(each -> each.getValue() != null)
            .map(each -> each.getKey() + "=" + encoded(each.getValue()))
            .collect(Collectors.joining("&", path + "?", ""));
    }

    <T> T get(String path, Class<T> type) {
        return JSON.convertValue(call("GET", path, null), type);
    }

    JsonNode post(String path, Object body) {
        return call("POST", path, body);
    }

    /** Returns the items of all pages of a list. */
    <T> List<T> list(String path, Map<String, ?> query, Class<T> type) {
        Map<String, Object> parameters = new HashMap<>(query);
        parameters.put("limit", PAGE_ITEMS_MAX);
        List<T> items = new ArrayList<>();
        do {
            JsonNode page = get(withQuery(path, parameters), JsonNode.class);
            items.addAll(items(page, type));
            parameters.put("since", page.get("next").asText(null));
        } while (parameters.get("since") != null);
        return items;
    }

    static <T> List<T> items(JsonNode page, Class<T> type) {
        return JSON.convertValue(page.get("items"), JSON.getTypeFactory().constructCollectionType(List.class, type));
    }

    /** Sends a call and returns the body of its response. body: any object that Jackson writes; null for none. */
    JsonNode call(String method, String path, Object body) {
        return call(method, path, body, Duration.ZERO);
    }

    /** wait: how long the broker may wait before it responds. */
    JsonNode call(String method, String path, Object body, Duration wait) {
        try {
            HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(address).resolve(path))
                .timeout(RESPONSE_MAX.plus(wait))
                .method(method, body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body)));
            if (token != null) {
                request.header("Authorization", "Bearer " + token);
            }
            HttpResponse<String> response = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
            if (response.statusCode() >= FIRST_ERROR_STATUS) {
                throw CallException.of(response.statusCode(), response.body());
            }
            return JSON.readTree(response.body());
        } catch (IOException error) {
            throw new UncheckedIOException(method + " " + address + path + ": " + error, error);
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new UncheckedIOException(new InterruptedIOException(method + " " + path + " was interrupted"));
        }
    }
}
