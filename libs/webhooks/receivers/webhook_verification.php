<?php
// Verifies a webhook of Signalbox. PHP 8.1 or later, no extension beyond the standard ones.
declare(strict_types=1);

const WEBHOOK_TOLERANCE_SECONDS = 300;

/**
 * True when $body (the raw bytes: file_get_contents('php://input')) comes from the sender, unchanged and not too old.
 *
 * @param array<string, string> $headers names in lower case
 * @param list<string> $secrets those that are live, as revealed
 * @param string $dataFormat 'object' or 'string', as set on the endpoint
 */
function verify_webhook(string $body, array $headers, array $secrets, string $dataFormat = 'object', ?int $now = null): bool
{
    return verify_webhook_standard($body, $headers, $secrets, $now ?? time()) && verify_webhook_digest($body, $headers, $secrets, $dataFormat);
}

function verify_webhook_standard(string $body, array $headers, array $secrets, int $now): bool
{
    $id = $headers['webhook-id'] ?? '';
    $timestamp = $headers['webhook-timestamp'] ?? '';
    if ($id === '' || !preg_match('/^[0-9]{1,12}$/D', $timestamp) || abs($now - (int) $timestamp) > WEBHOOK_TOLERANCE_SECONDS) {
        return false;
    }
    $expected = [];
    foreach ($secrets as $secret) {
        $key = base64_decode(substr($secret, strlen('whsec_')), true);
        $expected[] = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    }
    return any_webhook_signature_equal(explode(' ', $headers['webhook-signature'] ?? ''), $expected);
}

function verify_webhook_digest(string $body, array $headers, array $secrets, string $dataFormat): bool
{
    $signed = signed_webhook_bytes($body, $dataFormat);
    if ($signed === null || !preg_match('/^t=([0-9]+),(.+)$/D', $headers['signature-digest'] ?? '', $match)) {
        return false;
    }
    $expected = array_map(fn (string $secret): string => 'v1=' . hash_hmac('sha256', "$match[1].$signed", $secret), $secrets);
    return any_webhook_signature_equal(explode(',', $match[2]), $expected);
}

function signed_webhook_bytes(string $body, string $dataFormat): ?string
{
    if ($dataFormat === 'string') {
        $envelope = json_decode($body, true);
        return is_array($envelope) && is_string($envelope['data'] ?? null) ? $envelope['data'] : null;
    }
    $start = strpos($body, ',"data":');
    $end = strrpos($body, '}');
    return $start === false || $end === false || $end < $start + 8 ? null : substr($body, $start + 8, $end - $start - 8);
}

function any_webhook_signature_equal(array $offered, array $expected): bool
{
    foreach ($offered as $one) {
        foreach ($expected as $other) {
            if (hash_equals($other, $one)) {
                return true;
            }
        }
    }
    return false;
}
