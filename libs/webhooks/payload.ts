export type DataFormat = 'object' | 'string';

/** What is posted, and the text that `signature-digest` covers. */
export interface Payload {
  body: string;
  signed: string;
}

const dataMarker = ',"data":';

export interface PayloadInput {
  format: DataFormat;
  /** Public ids. */
  eventId: string;
  endpointId: string;
  /** The event as it was stored: a JSON object without `data`, and the JSON text of `data`. */
  head: string;
  data: string;
}

/**
 * `object`: the event itself, `data` last, signed over the text of `data`. `string`: a small envelope whose `data` is the
 * whole event as a JSON string, signed over that text.
 */
export function renderPayload({ format, eventId, endpointId, head, data }: PayloadInput): Payload {
  const event = `${head.slice(0, -1)}${dataMarker}${data}}`;
  if (format === 'object') return { body: event, signed: data };
  const body = JSON.stringify({ id: eventId, object: 'event', webhook_id: endpointId, data: event });
  return { body, signed: event };
}

/** The same of a body whose bytes need not be a text. */
export function dataBytes(body: string | Uint8Array): Uint8Array {
  return Buffer.from(dataText(Buffer.from(body).toString('latin1')), 'latin1');
}

/** The parts that were stored of a body in the format `object`. Throws RangeError where there is no `data`. */
export function splitEvent(body: string): { head: string; data: string } {
  const data = dataText(body);
  return { head: `${body.slice(0, body.indexOf(dataMarker))}}`, data };
}

/**
 * The text of `data` in a body: after the first `,"data":` up to the final `}`. Safe because every key before `data`
 * holds a string (whose quotes are escaped), a number or null. Throws RangeError where there is no `data`.
 */
export function dataText(body: string): string {
  const start = body.indexOf(dataMarker);
  const end = body.lastIndexOf('}');
  if (start < 0 || end <= start) throw new RangeError('the body has no data');
  return body.slice(start + dataMarker.length, end);
}
