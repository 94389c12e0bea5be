import { createLog } from './log.js';

function lines(speak: (log: ReturnType<typeof createLog>) => void): Record<string, unknown>[] {
  const written: string[] = [];
  speak(createLog({ process: 'api', environment: 'staging', level: 'trace', destination: { write: (line: string) => void written.push(line) } }));
  return written.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('log', () => {
  it('writes JSON with request, account, object and workflow ids', () => {
    const [line] = lines((log) => log.info({ request_id: 'req_1', account_id: 'acct_1', object_id: 'cus_1', workflow_id: 'payment/pi_1' }, 'done'));
    expect(line).toMatchObject({
      level: 'info', msg: 'done', process: 'api', environment: 'staging', request_id: 'req_1', account_id: 'acct_1', object_id: 'cus_1',
      workflow_id: 'payment/pi_1',
    });
    expect(typeof line!['time']).toBe('string');
  });

  it('drops keys that nobody allowed, at any depth, and says which', () => {
    const [line] = lines((log) => log.info({ request_id: 'r', authorization: 'Bearer x', state: { password: 'p', status: 1 } }, 'm'));
    expect(JSON.stringify(line)).not.toMatch(/Bearer|"p"/);
    expect(line).toMatchObject({ state: { status: 1 }, dropped: ['authorization', 'password'] });
  });

  it('drops them from child loggers too', () => {
    const [line] = lines((log) => log.child({ request_id: 'r', api_key: 'k' }).warn('m'));
    expect(line).toMatchObject({ request_id: 'r' });
    expect(JSON.stringify(line)).not.toContain('"k"');
  });

  it.each(['st_stg_abcDEF123', 'whsec_QUJD/+=', '4242424242424242', '4242 4242 4242 4242'])('masks %s in text', (secret) => {
    const [first, second] = lines((log) => {
      log.info(`got ${secret}`);
      log.info({ reason: `got ${secret}`, err: new Error(`bad ${secret}`) }, 'm');
    });
    expect(JSON.stringify([first, second])).not.toContain(secret);
  });

  it('keeps type, message, code and causes of an error, never its other fields', () => {
    const error = Object.assign(new Error('broken', { cause: new Error('because') }), { code: '23505', parameters: ['secret'] });
    const [line] = lines((log) => log.error({ err: error }, 'm'));
    expect(line).toMatchObject({ err: { type: 'Error', message: 'broken', code: '23505', reason: { message: 'because' } } });
    expect(JSON.stringify(line)).not.toContain('parameters');
  });

  it('keeps no parameters of a failed query', () => {
    const [line] = lines((log) => log.error({ err: new Error('Failed query: select $1\nparams: topsecret') }, 'm'));
    expect(JSON.stringify(line)).not.toContain('topsecret');
  });
});
