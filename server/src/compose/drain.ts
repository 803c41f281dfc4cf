import type { ServerEvents } from "../observe/index.ts";

/**
 * How a server ends. First it only says so: /health is down, and calls are taken as before, until balancers that ask for it
 * send none any more. Then doors close, each with a deadline for what is under way, and what they were made of after them.
 */
export class Drain {
  readonly #delayMs: number;
  readonly #events: Pick<ServerEvents, "serverStopping" | "serverStopped">;
  #hasBegun = false;

  constructor(options: { readonly delayMs: number }, events: Pick<ServerEvents, "serverStopping" | "serverStopped">) {
    this.#delayMs = options.delayMs;
    this.#events = events;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  async end(resources: AsyncDisposable): Promise<void> {
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      this.#events.serverStopping("asked to end");
      if (this.#delayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.#delayMs));
    }
    await resources[Symbol.asyncDispose]();
    this.#events.serverStopped();
  }
}
