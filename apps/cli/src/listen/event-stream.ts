/** One message of server-sent events. */
export interface StreamMessage {
  /** Null where the message carries none. */
  id: string | null;
  event: string;
  data: string;
}

/** The messages in the bytes of an event stream, each as soon as its empty line has come; an unfinished last one is left out. */
export async function* readMessages(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<StreamMessage> {
  const decoder = new TextDecoder();
  let rest = '';
  let fields: [string, string][] = [];
  for await (const chunk of bytes) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/);
    rest = lines.pop()!;
    for (const line of lines) {
      if (line !== '') {
        fields.push(fieldOf(line));
        continue;
      }
      const message = messageOf(fields);
      fields = [];
      if (message) yield message;
    }
  }
}

function fieldOf(line: string): [string, string] {
  const colon = line.indexOf(':');
  return colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
}

function messageOf(fields: readonly [string, string][]): StreamMessage | null {
  const all = (name: string): string[] => fields.filter(([key]) => key === name).map(([, value]) => value);
  const data = all('data');
  return data.length === 0 ? null : { id: all('id').pop() ?? null, event: all('event').pop() ?? 'message', data: data.join('\n') };
}
