import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Base64;

/** Reads certificates, one in base64 a line, and prints the name of each subject as JSON; null where Java refuses it. */
public class CertificateNames {
    public static void main(String[] arguments) throws Exception {
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        StringBuilder names = new StringBuilder();
        for (String line = lines.readLine(); line != null; line = lines.readLine())
            names.append(nameIn(factory, Base64.getDecoder().decode(line))).append('\n');
        System.out.print(names);
    }

    static String nameIn(CertificateFactory factory, byte[] der) {
        try {
            X509Certificate certificate = (X509Certificate) factory.generateCertificate(new ByteArrayInputStream(der));
            return quoted(certificate.getSubjectX500Principal().getName());
        } catch (CertificateException error) {
            return "null";
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
