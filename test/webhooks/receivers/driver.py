import base64
import sys

sys.path.insert(0, sys.argv[1])
from webhook_verification import verify_webhook

for line in sys.stdin:
    data_format, now, secrets, headers, body = line.split()
    pairs = (pair.split(": ", 1) for pair in base64.b64decode(headers).decode().split("\n") if pair)
    print(verify_webhook(base64.b64decode(body), dict(pairs), secrets.split(","), data_format, now=int(now)))
