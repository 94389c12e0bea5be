"""A provider that keeps the contract of contract.openapi.json. Python 3.8 or newer, standard library only:
SECRET=<at least 32 characters; two with a comma while one replaces the other> PORT=4900 LEDGER=provider.ndjson python3 reference_provider.py"""
import hashlib, hmac, json, os, threading, time, uuid
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit
from urllib.request import Request, urlopen

SECRETS = os.environ["SECRET"].split(",")  # newest first
DECLINES = {"do_not_honor", "insufficient_funds", "lost_card", "authentication_required", "suspected_fraud", "do_not_try_again"}
HEADER = "signalbox-signature"

class Refused(Exception):
    def __init__(self, status, code, payment=None, **more):
        self.status, self.body = status, {"error": {"code": code, **more}, "payment": payment}

def check(fine, code, status=422, **more):
    if not fine:
        raise Refused(status, code, **more)

class Book:
    """All facts by (kind, name). A line of the ledger is what one request did; it is on disk before the answer."""
    def __init__(self, path):
        self.lock, self.rows, whole = threading.Lock(), {}, 0
        self.file = open(path, "a+b")
        self.file.seek(0)
        for line in self.file:
            if line.endswith(b"\n"):  # a torn last line was never answered
                whole += len(line)
                self.rows.update({(kind, name): row for kind, name, row in json.loads(line)})
        self.file.truncate(whole)

    def put(self, facts):
        self.file.write(json.dumps(facts).encode() + b"\n")
        self.file.flush()
        os.fsync(self.file.fileno())
        self.rows.update({(kind, name): row for kind, name, row in facts})

    def get(self, kind, name, missing=None):
        check(not missing or (kind, name) in self.rows, missing, 404)
        return self.rows.get((kind, name))

    def shown(self, kind, name):
        row = {field: value for field, value in self.get(kind, name).items() if field[0] != "_"}
        return {**row, "payment": row["payment"] and self.shown("payment", row["payment"])} if kind == "operation" else row

def mac(secret, text):
    return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()

def sign(secret, kind, lines, body):
    at = str(int(time.time()))
    return f"t={at},k={mac(secret, b'key-id')[:16]},v1=" + mac(secret, "\n".join([kind, at, *lines, ""]).encode() + body)

def verify(header, lines, body):
    """The secret that the request was signed with."""
    parts = dict(part.split("=", 1) for part in header.split(",") if "=" in part)
    secret, at = next((each for each in SECRETS if mac(each, b"key-id")[:16] == parts.get("k")), ""), parts.get("t", "")
    check(secret and at.isdigit() and abs(time.time() - int(at)) <= 300, "invalid_signature", 401, message="unknown key, or too old")
    right = mac(secret, "\n".join(["request", at, *lines, ""]).encode() + body)
    check(hmac.compare_digest(right, parts.get("v1", "")), "invalid_signature", 401)
    return secret

def now():
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")

def instant(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))

def need(fields, texts=(), amount=None):
    for name in texts:
        check(type(fields.get(name)) is str and 0 < len(fields[name]) <= 255, "invalid_request", message=f"{name} is missing or invalid")
    check(amount is None or type(fields.get("amount")) is int and fields["amount"] >= amount, "invalid_request", message="amount is missing or invalid")

def new(prefix, body, **more):
    return {"object": prefix, "id": f"{prefix}_{uuid.uuid4().hex}", **{name: body[name] for name in ("reference", "amount", "currency") if name in body}, **more}

def tokenise(body):
    need(body, ["token"])
    code = body["token"][4:]
    check(body["token"].startswith("tok_") and code in DECLINES | {"approved", "refused"}, "unknown_token")
    card = {"brand": "visa", "iin": "424242", "last4": "4242", "exp_month": 12, "exp_year": 2040, "funding": "credit",
            "country": None, "issuer": None, "fingerprint": code}
    return new("payment_method", {}, card=card, _code=code)

def verification(body):
    need(body, ["payment_method", "currency"], amount=0)
    check(book.get("payment_method", body["payment_method"], "unknown_payment_method")["_code"] != "refused", "do_not_honor", 402)
    return new("verification", body, network_transaction_id=uuid.uuid4().hex)

def authorize(body):
    need(body, ["currency", "payment_method"], amount=1)
    check(body.get("capture") in ("automatic", "manual"), "invalid_request", message="capture is missing or invalid")
    check(not book.get("closed", body["reference"]), "reference_closed")
    code = book.get("payment_method", body["payment_method"], "unknown_payment_method")["_code"]
    held = 0 if code in DECLINES else body["amount"]
    taken = held if body["capture"] == "automatic" else 0
    network = {"brand": "mastercard", "advice_code": "03"} if code == "do_not_try_again" else None
    return new("payment", body, status="captured" if taken else "authorized" if held else "declined", amount_authorized=held, amount_captured=taken,
               amount_refunded=0, decline=None if held else {"code": code, "network": network}, refunds=[], disputes=[], redirect_url=None,
               network_transaction_id=uuid.uuid4().hex if held else None, created_at=now(), _callback_url=body.get("callback_url"))

def operate(kind, body, payment_id=None):
    """The operation, and its payment as it stands after it."""
    if kind == "void":
        need(body, ["payment_reference"])
        payment = book.get("payment", (book.get("reference", "payment " + body["payment_reference"]) or {}).get("id"))
        check(not payment or payment["status"] != "captured", "not_voidable")
        row = new("operation", body, amount=payment["amount_authorized"] if payment else 0, currency=payment and payment["currency"])
        after = {"status": "voided"} if payment and payment["status"] != "declined" else {}
    else:
        need(body, ["currency"], amount=1)
        payment = book.get("payment", payment_id, "unknown_payment")
        check(payment["status"] == ("authorized" if kind == "capture" else "captured"), "not_capturable" if kind == "capture" else "not_refundable")
        left = payment["amount_authorized"] if kind == "capture" else payment["amount_captured"] - payment["amount_refunded"]
        check(body["amount"] <= left, "amount_too_large")
        row, given_back = new("operation", body), payment["amount_refunded"] + body["amount"]
        refunds = [*payment["refunds"], {"id": row["id"], "reference": row["reference"], "amount": row["amount"], "status": "succeeded"}]
        after = {"status": "captured", "amount_captured": body["amount"]} if kind == "capture" else {"refunds": refunds, "amount_refunded": given_back}
    row.update(kind=kind, status="succeeded", decline=None, payment=payment and payment["id"])
    facts = ([["payment", payment["id"], {**payment, **after}]] if payment else []) + ([["closed", body["payment_reference"], True]] if kind == "void" else [])
    return row, facts

def once(kind, key, body, asked, make):
    """One effect per key, one per reference. Answers where the row is that was made first, and whether it was made now."""
    need({"idempotency-key": key, **body}, ["idempotency-key", "reference"])
    with book.lock:
        seen, reference = book.get("key", key), f"{kind} {body['reference']}"
        check(not seen or seen["asked"] == asked, "idempotency_key_reused", 409)
        if seen:
            return seen, False
        check(not book.get("reference", reference), "reference_taken", 409)
        made = make()
        row, facts = made if isinstance(made, tuple) else (made, [])
        seen = {"kind": row["object"], "id": row["id"], "asked": asked}
        book.put([[seen["kind"], seen["id"], row], *facts, ["key", key, seen], ["reference", reference, seen]])
        return seen, True

def write(path, key, body, asked):
    part = [*path.split("/")[1:], "", ""]
    name = part[2] if part[0] == "payments" and part[1] else part[0]
    makers = {"payment-methods": ("token", tokenise), "verifications": ("verification", verification), "payments": ("payment", authorize),
              **{f"{kind}s": (kind, lambda asked, kind=kind: operate(kind, asked, part[1])) for kind in ("capture", "refund", "void")}}
    check(name in makers, "not_supported")
    kind, make = makers[name]
    seen, fresh = once(kind, key, body, asked, lambda: make(body))
    row = book.shown(seen["kind"], seen["id"])
    payment = row if kind == "payment" else row.get("payment")
    if fresh and payment and book.get("payment", payment["id"])["_callback_url"]:
        threading.Thread(target=tell, args=[payment], daemon=True).start()
    check(row.get("status") != "declined", payment=row, status=402, **(row.get("decline") or {"code": ""}))
    return row

def tell(payment):
    """Posts the payment to its callback address until somebody takes it."""
    event = json.dumps({"id": f"ev_{uuid.uuid4().hex}", "type": "payment.updated", "created_at": now(), "payment": payment}).encode()
    for wait in (0, 1, 5, 30, 300, 3600):
        time.sleep(wait)
        try:
            headers = {"content-type": "application/json", HEADER: sign(SECRETS[0], "callback", [], event)}
            return urlopen(Request(book.get("payment", payment["id"])["_callback_url"], event, headers), timeout=15).close()
        except OSError:
            pass

def read(path, query):
    if path == "/check":
        return {"object": "check", "contract": 1, "name": "Reference provider"}
    if path in ("/payments/by-reference", "/operations"):
        need(query, ["reference"])
        seen = book.get("reference", f"{'payment' if path != '/operations' else query.get('kind')} {query['reference']}")
        return {"data": [book.shown(seen["kind"], seen["id"])] if seen else []}
    check(path == "/payments", "not_supported")
    need(query, ["since", "until"])
    since, until = instant(query["since"]), instant(query["until"])
    ids = [name for (kind, name), row in list(book.rows.items()) if kind == "payment" and since <= instant(row["created_at"]) < until]
    start = ids.index(query["cursor"]) + 1 if query.get("cursor") in ids else 0
    page = ids[start:start + int(query.get("limit", 100))]
    return {"data": [book.shown("payment", name) for name in page], "next_cursor": page[-1] if page and page[-1] != ids[-1] else None}

class Handler(BaseHTTPRequestHandler):
    protocol_version, wbufsize, timeout = "HTTP/1.1", -1, 60

    def handled(self):
        body, key = self.rfile.read(int(self.headers.get("content-length", 0))), self.headers.get("idempotency-key", "")
        self.secret = verify(self.headers.get(HEADER, ""), [self.command, self.path, key], body)
        url = urlsplit(self.path)
        if self.command == "GET":
            return 200, read(url.path, dict(parse_qsl(url.query)))
        try:
            fields = dict(json.loads(body))
        except (ValueError, TypeError):
            raise Refused(422, "invalid_request", message="not a JSON object")
        return 201, write(url.path, key, fields, hashlib.sha256(url.path.encode() + b"\n" + body).hexdigest())

    def do_GET(self):
        self.secret = SECRETS[0]
        try:
            status, answer = self.handled()
        except Refused as refused:
            status, answer = refused.status, refused.body
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.send_header(HEADER, sign(self.secret, "answer", [str(status), ("," + self.headers.get(HEADER, "")).partition(",v1=")[2]], body))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_):
        pass

class Server(ThreadingHTTPServer):
    request_queue_size = 128

book = Book(os.environ.get("LEDGER", "provider.ndjson"))

if __name__ == "__main__":
    server = Server(("127.0.0.1", int(os.environ.get("PORT", "4900"))), Handler)
    print(json.dumps({"msg": "ready", "url": f"http://127.0.0.1:{server.server_port}"}), flush=True)
    server.serve_forever()
