import type { MeasuredResult } from "./c-api.ts";
import { raise } from "./exceptions.ts";
import { childLimits } from "./limits.ts";
import type { MeasuredAnswer, MeasuredOrder } from "./measured-order.ts";

/** The threads of measured statements: made when they are first needed, and kept. */
export class MeasuredStatements {
  readonly #idle: Worker[] = [];
  #threads = 0;

  /** Throws EngineException when all threads are taken, an Error with the engine's text when the statement fails. */
  async run(order: MeasuredOrder): Promise<MeasuredResult> {
    const thread = this.#idle.pop() ?? this.#open();
    try {
      const done = await this.#ask(thread, order);
      if (done.ok) return done.result;
      throw new Error(done.error);
    } finally {
      this.#idle.push(thread);
    }
  }

  #open(): Worker {
    if (this.#threads >= childLimits.measuredStatementsMax) {
      const text = `Too many simultaneous queries. Maximum: ${childLimits.measuredStatementsMax} that are measured`;
      throw raise("TOO_MANY_SIMULTANEOUS_QUERIES", text);
    }
    this.#threads++;
    return new Worker(new URL("./measured-worker.ts", import.meta.url).href);
  }

  #ask(thread: Worker, order: MeasuredOrder): Promise<MeasuredAnswer> {
    return new Promise((resolve, reject) => {
      thread.onmessage = ({ data }: MessageEvent<MeasuredAnswer>) => resolve(data);
      thread.onerror = ({ message }) => reject(new Error(message));
      thread.postMessage(order);
    });
  }
}
