import type { CheckAnswer } from '../processors/port.js';
import type { OpenConnection } from './connection-cache.js';
import type { PaymentDeps } from './payment.deps.js';

const longestMs = 15_000;

/** Asks the processor whether it accepts the connection's credentials. Creates nothing there; never throws; tells no secret. */
export async function checkConnection({ processors, warn }: Pick<PaymentDeps, 'processors' | 'warn'>, connection: OpenConnection): Promise<CheckAnswer> {
  const asked = performance.now();
  const failed = (detail: string): CheckAnswer => ({ ok: false, detail, durationMs: Math.round(performance.now() - asked) });
  if (!processors.supports(connection.kind)) return failed(`Connections of kind ${connection.kind} cannot be used in this environment.`);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<CheckAnswer>((resolve) => {
    timer = setTimeout(() => resolve(failed(`No answer within ${longestMs / 1000} s.`)), longestMs);
  });
  try {
    const answer = await Promise.race([processors.processorFor(connection.kind).check(connection), late]);
    return { ...answer, detail: withoutSecrets(answer.detail, connection) };
  } catch (error) {
    warn('a check of a connection failed', { processor: connection.publicId, error: withoutSecrets(String(error), connection) });
    return failed('The check could not be made; the log says why.');
  } finally {
    clearTimeout(timer);
  }
}

function withoutSecrets(text: string, { credentials }: Pick<OpenConnection, 'credentials'>): string {
  return Object.values(credentials ?? {}).reduce((clean, secret) => (secret.length < 4 ? clean : clean.replaceAll(secret, '***')), text);
}
