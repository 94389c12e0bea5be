// Preloaded into a process (`NODE_OPTIONS=--import=…`): its wall clock is off by the milliseconds that stand in the file TEST_CLOCK_FILE.
import { readFileSync } from 'node:fs';

const RealDate = Date;
let offset = 0;
const read = () => {
  try {
    offset = Number(readFileSync(process.env.TEST_CLOCK_FILE, 'utf8'));
  } catch {
    offset = 0;
  }
};
setInterval(read, 50).unref();
read();

globalThis.Date = class Date extends RealDate {
  constructor(...parts) {
    if (parts.length === 0) super(RealDate.now() + offset);
    else super(...parts);
  }

  static now() {
    return RealDate.now() + offset;
  }
};
