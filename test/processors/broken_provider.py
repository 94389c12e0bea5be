"""The reference provider with one promise broken, named by BREAK; without it, the provider as it is."""
import importlib.util, os, sys, time

sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("reference_provider", sys.argv[1])
provider = importlib.util.module_from_spec(spec)
spec.loader.exec_module(provider)
original = {name: getattr(provider, name) for name in ("once", "read", "write", "sign", "check")}


def twice(kind, key, body, asked, make):
    """No key and no reference is ever remembered."""
    with provider.book.lock:
        made = make()
        row, facts = made if isinstance(made, tuple) else (made, [])
        provider.book.put([[row["object"], row["id"], row], *facts, ["reference", f"{kind} {body['reference']}", {"kind": row["object"], "id": row["id"]}]])
    return {"kind": row["object"], "id": row["id"]}, True


def hurried(kind, key, body, asked, make):
    """Looks whether the key is known, and acts a moment later."""
    seen = provider.book.get("key", key)
    if seen:
        return original["once"](kind, key, body, asked, make)
    time.sleep(0.03)
    made = make()
    row, facts = made if isinstance(made, tuple) else (made, [])
    seen = {"kind": row["object"], "id": row["id"], "asked": asked}
    provider.book.put([[seen["kind"], seen["id"], row], *facts, ["key", key, seen], ["reference", f"{kind} {body['reference']}", seen]])
    return seen, True


def paused(before, after):
    """Makes payments slowly: waits before it acts, or before it answers."""
    def once(kind, key, body, asked, make):
        if kind != "payment":
            return original["once"](kind, key, body, asked, make)
        time.sleep(before)
        made = original["once"](kind, key, body, asked, make)
        time.sleep(after)
        return made
    return {"once": once}


def lenient(*codes):
    """Refuses everything but these."""
    def check(fine, code, status=422, **more):
        original["check"](fine or code in codes, code, status, **more)
    return {"check": check}


def late(path, query):
    """Look-ups see what happened a while ago."""
    answer = original["read"](path, query)
    if path == "/payments/by-reference":
        answer["data"] = [row for row in answer["data"] if time.time() - provider.instant(row["created_at"]).timestamp() > 0.5]
    return answer


def anonymous_callbacks(secret, kind, lines, body):
    return "" if kind == "callback" else original["sign"](secret, kind, lines, body)


def mute(path, *rest):
    """Does what it is asked, and answers payments with 500; only its callbacks tell."""
    row = original["write"](path, *rest)
    if path == "/payments":
        raise provider.Refused(500, "processing_error")
    return row


def blind(path, query):
    if path == "/check":
        return original["read"](path, query)
    raise provider.Refused(500, "processing_error")


breaks = {
    "": {},
    "idempotency": {"once": twice},
    "race": {"once": hurried},
    "reference": lenient("reference_taken"),
    "reused-key": lenient("idempotency_key_reused"),
    "signature": {"verify": lambda *_: provider.SECRETS[0]},
    "clock": {"abs": lambda _: 0},
    "unsigned": {"sign": lambda *_: ""},
    "lookup": {"read": lambda path, query: {"data": []} if path == "/payments/by-reference" else original["read"](path, query)},
    "eventual": {"read": late},
    "amounts": lenient("amount_too_large"),
    "fields": lenient("invalid_request"),
    "closed": lenient("reference_closed"),
    "slow-start": paused(2, 0),
    "slow-answer": paused(0, 2),
    "very-slow": paused(0, 8),
    "mute": {"write": mute, "read": blind},
    "callback": {"sign": anonymous_callbacks},
}
for name, broken in breaks[os.environ.get("BREAK", "")].items():
    setattr(provider, name, broken)

server = provider.Server(("127.0.0.1", int(os.environ.get("PORT", "0"))), provider.Handler)
print(f"ready http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
