import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public final class Driver {
    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] parts = line.split(" ");
            Map<String, String> headers = new HashMap<>();
            for (String pair : new String(Base64.getDecoder().decode(parts[3]), StandardCharsets.UTF_8).split("\n")) {
                int colon = pair.indexOf(": ");
                if (colon > 0) headers.put(pair.substring(0, colon), pair.substring(colon + 2));
            }
            byte[] body = Base64.getDecoder().decode(parts[4]);
            System.out.println(WebhookVerification.verify(body, headers, List.of(parts[2].split(",")), parts[0], Long.parseLong(parts[1])));
        }
    }
}
