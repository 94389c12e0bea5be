const chunkLength = 64 * 1024;

/** Joins short texts to pieces of about 64 KiB, so that a slow reader shows after each, and a fast one costs few writes. */
export function* inChunks(texts: Iterable<string>): Generator<string> {
  let chunk = '';
  for (const text of texts) {
    chunk += text;
    if (chunk.length < chunkLength) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}
