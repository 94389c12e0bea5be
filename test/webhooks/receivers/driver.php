<?php
require $argv[1] . '/webhook_verification.php';

while (($line = fgets(STDIN)) !== false) {
    [$format, $now, $secrets, $text, $body] = explode(' ', trim($line));
    $headers = [];
    foreach (explode("\n", base64_decode($text)) as $pair) {
        if (str_contains($pair, ': ')) {
            [$name, $value] = explode(': ', $pair, 2);
            $headers[$name] = $value;
        }
    }
    echo verify_webhook(base64_decode($body), $headers, explode(',', $secrets), $format, (int) $now) ? 'true' : 'false', "\n";
}
