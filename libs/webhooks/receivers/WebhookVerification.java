import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Verifies a webhook of Signalbox. Java 17 or later, standard library only. */
public final class WebhookVerification {
    private static final long TOLERANCE_SECONDS = 300;
    private static final Pattern TIMESTAMP = Pattern.compile("[0-9]{1,12}");
    private static final Pattern DIGEST = Pattern.compile("t=([0-9]+),(.+)");

    private WebhookVerification() {}

    /**
     * True when body (the raw bytes) comes from the sender, unchanged and not too old.
     *
     * @param headers names in lower case
     * @param secrets those that are live, as revealed
     * @param dataFormat "object" or "string", as set on the endpoint
     */
    public static boolean verify(byte[] body, Map<String, String> headers, List<String> secrets, String dataFormat, long nowSeconds) {
        return verifyStandard(body, headers, secrets, nowSeconds) && verifyDigest(body, headers, secrets, dataFormat);
    }

    private static boolean verifyStandard(byte[] body, Map<String, String> headers, List<String> secrets, long nowSeconds) {
        String id = headers.getOrDefault("webhook-id", "");
        String timestamp = headers.getOrDefault("webhook-timestamp", "");
        if (id.isEmpty() || !TIMESTAMP.matcher(timestamp).matches()) return false;
        if (Math.abs(nowSeconds - Long.parseLong(timestamp)) > TOLERANCE_SECONDS) return false;
        List<String> expected = new ArrayList<>();
        for (String secret : secrets) {
            byte[] key = Base64.getDecoder().decode(secret.substring("whsec_".length()));
            expected.add("v1," + Base64.getEncoder().encodeToString(sign(key, id + "." + timestamp + ".", body)));
        }
        return anyEqual(headers.getOrDefault("webhook-signature", "").split(" "), expected);
    }

    private static boolean verifyDigest(byte[] body, Map<String, String> headers, List<String> secrets, String dataFormat) {
        Matcher match = DIGEST.matcher(headers.getOrDefault("signature-digest", ""));
        byte[] signed = signedBytes(body, dataFormat);
        if (!match.matches() || signed == null) return false;
        List<String> expected = new ArrayList<>();
        for (String secret : secrets) {
            StringBuilder hex = new StringBuilder("v1=");
            for (byte one : sign(secret.getBytes(StandardCharsets.UTF_8), match.group(1) + ".", signed)) hex.append(String.format("%02x", one));
            expected.add(hex.toString());
        }
        return anyEqual(match.group(2).split(","), expected);
    }

    private static byte[] signedBytes(byte[] body, String dataFormat) {
        boolean string = dataFormat.equals("string");
        String text = new String(body, string ? StandardCharsets.UTF_8 : StandardCharsets.ISO_8859_1);
        String marker = string ? ",\"data\":\"" : ",\"data\":";
        int start = text.indexOf(marker);
        int end = text.lastIndexOf(string ? "\"}" : "}");
        if (start < 0 || end < start + marker.length()) return null;
        String data = text.substring(start + marker.length(), end);
        return string ? unescape(data).getBytes(StandardCharsets.UTF_8) : data.getBytes(StandardCharsets.ISO_8859_1);
    }

    /** A JSON string's content; with a JSON library at hand, read `data` with it instead. */
    private static String unescape(String json) {
        StringBuilder text = new StringBuilder(json.length());
        for (int at = 0; at < json.length(); at++) {
            if (json.charAt(at) != '\\') {
                text.append(json.charAt(at));
                continue;
            }
            char kind = json.charAt(++at);
            int simple = "\"\\/bfnrt".indexOf(kind);
            if (simple >= 0) {
                text.append("\"\\/\b\f\n\r\t".charAt(simple));
            } else {
                text.append((char) Integer.parseInt(json.substring(at + 1, at + 5), 16));
                at += 4;
            }
        }
        return text.toString();
    }

    private static byte[] sign(byte[] key, String prefix, byte[] message) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            mac.update(prefix.getBytes(StandardCharsets.UTF_8));
            return mac.doFinal(message);
        } catch (GeneralSecurityException error) {
            throw new IllegalStateException(error);
        }
    }

    private static boolean anyEqual(String[] offered, List<String> expected) {
        for (String one : offered) {
            for (String other : expected) {
                if (MessageDigest.isEqual(one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8))) return true;
            }
        }
        return false;
    }
}
