export interface StoredAnswer {
  type: string;
  body: string;
}

/** Carries a stored answer past the rest of the pipeline; the filter sends its bytes. */
export class ReplayedAnswer extends Error {
  constructor(readonly status: number, readonly answer: StoredAnswer) {
    super('replayed');
  }
}
