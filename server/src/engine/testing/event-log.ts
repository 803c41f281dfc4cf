/**
 * What a server reports about itself, in its order, with a way to wait for a line of it; the test's own deadline bounds
 * the wait.
 */
export class EventLog {
  readonly lines: string[] = [];
  readonly #waiting = new Set<() => void>();

  push(line: string): void {
    this.lines.push(line);
    for (const check of this.#waiting) check();
  }

  count(line: string): number {
    return this.lines.filter((each) => each === line).length;
  }

  /** Resolves once the line has been reported so many times. */
  async until(line: string, times = 1): Promise<void> {
    await new Promise<void>((resolve) => {
      const check = (): void => {
        if (this.count(line) < times) return;
        this.#waiting.delete(check);
        resolve();
      };
      this.#waiting.add(check);
      check();
    });
  }
}
