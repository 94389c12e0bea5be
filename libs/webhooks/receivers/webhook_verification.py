"""Verifies a webhook of Signalbox. Python 3.8 or later, standard library only."""
import base64
import hashlib
import hmac
import json
import re
import time


def verify_webhook(body, headers, secrets, data_format="object", tolerance=300, now=None):
    """True when body (the raw bytes) comes from the sender, unchanged and not older than tolerance seconds.

    headers: names in lower case. secrets: those that are live, as revealed. data_format: as set on the endpoint.
    """
    return _verify_standard(body, headers, secrets, tolerance, time.time() if now is None else now) and _verify_digest(
        body, headers, secrets, data_format
    )


def _verify_standard(body, headers, secrets, tolerance, now):
    message_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not message_id or not re.fullmatch(r"[0-9]{1,12}", timestamp) or abs(now - int(timestamp)) > tolerance:
        return False
    message = f"{message_id}.{timestamp}.".encode() + body
    keys = [base64.b64decode(secret[len("whsec_"):]) for secret in secrets]
    expected = ["v1," + base64.b64encode(hmac.new(key, message, hashlib.sha256).digest()).decode() for key in keys]
    return _any_equal(headers.get("webhook-signature", "").split(" "), expected)


def _verify_digest(body, headers, secrets, data_format):
    match = re.fullmatch(r"t=([0-9]+),(.+)", headers.get("signature-digest", ""))
    signed = _signed_bytes(body, data_format)
    if not match or signed is None:
        return False
    message = match[1].encode() + b"." + signed
    expected = ["v1=" + hmac.new(secret.encode(), message, hashlib.sha256).hexdigest() for secret in secrets]
    return _any_equal(match[2].split(","), expected)


def _signed_bytes(body, data_format):
    if data_format == "string":
        try:
            return json.loads(body)["data"].encode()
        except (ValueError, KeyError, TypeError, AttributeError):
            return None
    start, end = body.find(b',"data":'), body.rfind(b"}")
    return None if start < 0 or end <= start else body[start + len(b',"data":'):end]


def _any_equal(offered, expected):
    return any(hmac.compare_digest(one.encode(), other.encode()) for one in offered for other in expected)
