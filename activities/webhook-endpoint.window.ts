/** Posts under way. A promise per wait instead of one per post and waiter: a drain begins thousands of posts a second. */
export class Window {
  private count = 0;
  private failure: { error: unknown } | null = null;
  private waiting: (() => void)[] = [];

  get size(): number {
    return this.count;
  }

  add(post: Promise<void>): void {
    this.count += 1;
    post.then(this.ended, (error: unknown) => {
      this.failure ??= { error };
      this.ended();
    });
  }

  /** Resolves once fewer than `most` are under way. @throws what a post failed with. */
  async below(most: number): Promise<void> {
    while (this.count >= most && !this.failure) await this.change();
    if (this.failure) throw this.failure.error;
  }

  /** Resolves once none is under way, however they ended. */
  async settled(): Promise<void> {
    while (this.count > 0) await this.change();
  }

  /** Resolves when the next one ends. */
  change(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private readonly ended = (): void => {
    this.count -= 1;
    for (const resume of this.waiting.splice(0)) resume();
  };
}
