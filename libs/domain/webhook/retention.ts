/** Bodies of events, deliveries that have ended, and jobs that have ended. */
export const payloadsKeptMs = 90 * 86_400_000;
