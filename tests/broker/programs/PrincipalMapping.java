import java.io.IOException;
import org.apache.kafka.common.security.ssl.SslPrincipalMapper;

/** Prints the principals of Kafka: one JSON object a line, {"rules", "name", "principal"}; "error" where it refuses. */
public class PrincipalMapping {
    static final String SERVICE = "CN=duke,OU=ServiceUsers,O=Org,C=US";
    static final String ADMIN = "CN=Duke Admin,OU=Admin,O=Org,C=us";
    static final String SPACED = "CN=duke, OU=ServiceUsers, O=Org";
    static final String ESCAPED = "CN=a\\,b\\+c,O=A/B";
    static final String UNICODE = "CN=J\u00fcrgen \u0130\u00df,O=Org";
    static final String[] NAMES = {SERVICE, ADMIN, SPACED, ESCAPED, UNICODE, ""};

    static final String[] RULES = {
        "DEFAULT", " DEFAULT ", "DEFAULT,DEFAULT", "", " ", ",", "DEFAULT,", ",DEFAULT", "DEFAULT, ,DEFAULT",
        "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/", "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/,DEFAULT",
        "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/L, RULE:^CN=(.*?),OU=Admin,O=(.*?),C=(.*?)$/$1@$2/U,DEFAULT",
        "RULE:^cn=(.*?),ou=(.*?),dc=(.*?),dc=(.*?)$/$1@$2/U", "RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/L", "RULE:^.*[Cc][Nn]=([a-zA-Z0-9. ]*).*$/$1/U",
        "RULE:.*/x/", "RULE:.+/x/", "RULE:^.*$/x/", "RULE:(.*)/$1/", "RULE:(.*)/$1-$1/", "RULE:/empty/", "RULE:.*//", "RULE:.+//",
        "RULE:^CN=(.*?),(.*)$/$1$2$3/", "RULE:^CN=(.*?),(.*)$/$0/", "RULE:^CN=(.*?),(.*)$/$10/", "RULE:^CN=(.*?),(.*)$/$12x$3y/", "RULE:^CN=.*$/$1/", "RULE:^CN=.*$/$0/",
        "RULE:^CN=(.*?),(.*)$/$01/", "RULE:^CN=(.*?),(.*)$/$30/", "RULE:^CN=(.*?),(.*)$/$3$1/", "RULE:^CN=(.*?),(.*)$/\\$1/", "RULE:^CN=(.*?),(.*)$/$/",
        "RULE:^CN=(.*?),(.*)$/a\\/b/", "RULE:^CN=(.*?),(.*)$/a\\\\b/", "RULE:^CN=(.*),O=A\\/B$/$1/", "RULE:^CN=(.*)\\/B$/$1/", "RULE:^CN=a\\\\,(.*)$/$1/",
        "RULE:^CN=(?<name>.*?),.*$/${name}/", "RULE:^CN=(.*?),.*$/${name}/", "RULE:^CN=(.*?),.*$/$x/",
        "RULE:^CN=(.*?)(,OU=None)?,.*$/$1[$2]/", "RULE:^CN=(?:duke|a).*$/grouped/", "RULE:^CN=([^,]*),.*$/User $1, of us/", "RULE:^CN=([^,]*),.*$/ $1 /",
        "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/LU", "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/X", "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1", "RULE:^CN=(.*?),OU=ServiceUsers.*$", "RULE:",
        "RULE:a/b/L/", "RULE:a/b/c/d", "RULE:a/b/ L", "RULE:a/b/L DEFAULT", "RULE:(/b/", "RULE:[/b/", "RULE:a{2,1}/b/", "RULE:*/b/", "DEFAULT/L", "DEFAULTL", "default", "rule:a/b/", "ABC", "DEFAULT,ABC", "ABC,DEFAULT",
        "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/L,ABC", "RULE:a/b/,RULE:", "RULE:a/b/ , DEFAULT", "RULE: ^CN=.*$ / x /", "RULE:^CN=.*$/a,b/", "RULE:^CN=.*$/a,DEFAULT/", "RULE:CN=.*/x/,DEFAULT",
        "RULE:^CN=(\\w+),.*$/$1/", "RULE:^CN=(\\p{L}+).*$/$1/U", "RULE:^CN=(\\S+) (\\S+),.*$/$2 $1/L", "RULE:(?i)^cn=(.*?),.*$/$1/", "RULE:CN=(.*?)\\\\,.*/$1/", "RULE:^CN=(.*?),.*$/$1\\/", "RULE:^(.*)$/$1/L", "RULE:^(.*)$/$1/U",
        "RULE:^CN=(.*?),.*$/$1/L,RULE:^.*$/other/,DEFAULT", "\n DEFAULT \n", "RULE:^CN=.*$/a\nb/", "RULE:^CN=(.),.*$/$1$2/,RULE:.*/$1/",
    };

    // Line terminators, white space, digits and letters beyond ASCII, two of which RE2 takes for s and k.
    static final String[] UNICODE_NAMES = {
        "CN=a\rb,O=x", "CN=a\u2028b,O=x", "CN=a\u0085b,O=x", "CN=a\nb,O=x", "CN=a\u000bb,O=x", "CN=a\u00a0b,O=x", "CN=\u0663,O=x", "CN=a[b],O=x",
        "CN=\u212aelvin,O=x", "CN=admin\u017f,O=x", "CN=Kelvin,O=x", "CN=ADMINS,O=x", "CN=J\u00dcRGEN,O=x", "CN=\u212a\u017f\ud83d\ude00,O=x", "CN=,O=x",
    };
    static final String[] UNICODE_RULES = {
        "RULE:^CN=(.*),O=(.*)$/$1/", "RULE:.*/x/", "RULE:^CN=([^,]*),.*$/$1/", "RULE:(?s)^CN=(.*),O=x$/$1/", "RULE:(?is)^cn=(.*),o=x$/$1/",
        "RULE:(?i)^cn=kelvin.*$/admin/", "RULE:(?i)^cn=admins.*$/admin/", "RULE:(?i:^cn=)(.*)$/$1/", "RULE:(?i)^cn=[a-z]+,(.*)$/$1/", "RULE:(?i)^cn=([^k]+),.*$/$1/", "RULE:(?i)^cn=(.*?),.*$/$1/",
        "RULE:^CN=\\w+\\s\\w+,.*$/x/", "RULE:^CN=[\\w\\s]+,.*$/x/", "RULE:^CN=\\S+,.*$/x/", "RULE:^CN=[\\S]+,.*$/x/", "RULE:^CN=[^\\s]+,.*$/x/", "RULE:^CN=[^\\S]*,.*$/x/", "RULE:^CN=\\d,.*$/x/",
        "RULE:^CN=\\p{L}+,.*$/x/", "RULE:^CN=[^\\x00-\\x7f]+,.*$/x/", "RULE:^CN=\\Qa[b]\\E,.*$/x/", "RULE:^CN=a\\[b\\],.*$/x/", "RULE:^CN=[\\[\\]ab]+,.*$/x/", "RULE:^CN=[.$]*,.*$/x/",
    };

    public static void main(String[] arguments) {
        print(RULES, NAMES);
        print(UNICODE_RULES, UNICODE_NAMES);
    }

    static void print(String[] allRules, String[] names) {
        for (String rules : allRules) {
            SslPrincipalMapper mapper;
            try {
                mapper = SslPrincipalMapper.fromRules(rules);
            } catch (RuntimeException error) {
                System.out.println("{\"rules\": " + quoted(rules) + ", \"error\": " + quoted(error.getClass().getSimpleName() + ": " + error.getMessage()) + "}");
                continue;
            }
            for (String name : names) System.out.println("{\"rules\": " + quoted(rules) + ", \"name\": " + quoted(name) + ", " + mapped(mapper, name) + "}");
        }
    }

    static String mapped(SslPrincipalMapper mapper, String name) {
        try {
            return "\"principal\": " + quoted(mapper.getName(name));
        } catch (IOException | RuntimeException error) {
            return "\"error\": " + quoted(error.getClass().getSimpleName());
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
