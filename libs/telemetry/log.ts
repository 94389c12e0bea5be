import { pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';
import { PinoPretty as pretty } from 'pino-pretty';

/**
 * The keys that a log line may carry. Every other key is dropped, at every depth, and its name is listed under
 * `dropped`: what is not known to be harmless never reaches a log.
 */
export const allowedKeys: ReadonlySet<string> = new Set([
  'account_id', 'action', 'actor', 'address', 'attempt', 'attempts', 'bytes', 'charge_id', 'class', 'code', 'command_id', 'connection',
  'count', 'customer_id', 'database', 'delivery_id', 'docs', 'dropped', 'due', 'duration_ms', 'endpoint_id', 'environment', 'err',
  'event_id', 'exit_code', 'first', 'from', 'hint', 'host', 'id', 'invoice_id', 'kind', 'last', 'lease_token', 'level', 'limit',
  'message', 'method', 'migration', 'msg', 'name', 'namespace', 'next_attempt_at', 'object_id', 'object_ids', 'operation', 'outcome', 'payment_id',
  'payment_intent_id', 'pid', 'port', 'process', 'processor_id', 'queue', 'queues', 'reason', 'replayed', 'request_id', 'retry_in_ms', 'role',
  'route', 'run_id', 'sequence', 'signal', 'stack', 'state', 'status', 'step', 'subscription_id', 'test_clock_id', 'time', 'to', 'token_id', 'type', 'url',
  'version', 'webhook_job_id', 'workflow_id', 'workflow_type',
]);

/** Text shaped like one of our secrets or like a card number, wherever it stands in a message or stack. */
const secretText = /\b(?:st_(?:prod|stg)_[A-Za-z0-9_]+|whsec_[A-Za-z0-9+/=]+|sk_(?:live|test)_[A-Za-z0-9]+|(?:\d[ -]?){13,19}(?!\d))/g;

export interface LogOptions {
  /** Which process speaks, for example `api`. */
  process: string;
  environment?: string;
  level?: string;
  /** Readable lines instead of JSON. Default: when the output is a terminal. */
  pretty?: boolean;
  destination?: DestinationStream;
}

export type { Logger } from 'pino';

/** A pino logger that writes JSON lines to stdout (readable ones in a terminal) and redacts by allow-list. */
export function createLog(options: LogOptions): Logger {
  const base = { process: options.process, ...(options.environment ? { environment: options.environment } : {}) };
  const settings = {
    level: options.level ?? 'info',
    base: { pid: process.pid, ...base },
    timestamp: stdTimeFunctions.isoTime,
    formatters: {
      level: (label: string) => ({ level: label }),
      log: (fields: Record<string, unknown>) => redact(fields),
    },
    serializers: { err: (value: unknown) => value },
    hooks: {
      logMethod(this: Logger, args: Parameters<Logger['info']>, method: Logger['info']): void {
        method.apply(this, args.map((part: unknown) => (typeof part === 'string' ? maskText(part) : part)) as typeof args);
      },
    },
  };
  if (options.destination) return withRedactedChildren(pino(settings, options.destination));
  if (options.pretty ?? process.stdout.isTTY === true) {
    const transport = pretty({ ignore: 'pid', translateTime: 'HH:MM:ss.l' });
    return withRedactedChildren(pino(settings, transport));
  }
  return withRedactedChildren(pino(settings));
}

/** pino's formatters do not see the fields that a child logger binds; children inherit this method. */
function withRedactedChildren(log: Logger): Logger {
  const original = log.child;
  log.child = function child(this: Logger, fields: Record<string, unknown>, ...rest: []) {
    return original.call(this, redact(fields), ...rest);
  } as typeof log.child;
  return log;
}

export function maskText(text: string): string {
  return text.replace(secretText, '[redacted]');
}

/** Keeps allowed keys, masks secret-looking text, turns errors into type, message, code and stack. */
export function redact(fields: Record<string, unknown>): Record<string, unknown> {
  const dropped: string[] = [];
  const kept = keep(fields, dropped, 0) as Record<string, unknown>;
  return dropped.length > 0 ? { ...kept, dropped } : kept;
}

function keep(value: unknown, dropped: string[], depth: number): unknown {
  if (typeof value === 'string') return maskText(value);
  if (typeof value === 'bigint') return value.toString();
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Date) return value.toISOString();
  if (depth > 6) return '[deep]';
  if (value instanceof Error) return describe(value, dropped, depth);
  if (Array.isArray(value)) return value.slice(0, 100).map((part) => keep(part, dropped, depth + 1));
  const kept: Record<string, unknown> = {};
  for (const [key, part] of Object.entries(value)) {
    if (allowedKeys.has(key)) kept[key] = keep(part, dropped, depth + 1);
    else dropped.push(key);
  }
  return kept;
}

/** An error's own fields may hold parameters of a query or headers of a call, so only what is named here is kept. */
function describe(error: Error, dropped: string[], depth: number): Record<string, unknown> {
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: maskText(withoutParameters(error.message)),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(error.stack ? { stack: maskText(withoutParameters(error.stack)) } : {}),
    ...(error.cause instanceof Error ? { reason: keep(error.cause, dropped, depth + 1) } : {}),
  };
}

/** The database layer puts a query's parameters into its message. */
function withoutParameters(text: string): string {
  return text.replace(/\nparams: .*(?=\n {4}at |$)/s, '\nparams: [redacted]');
}
