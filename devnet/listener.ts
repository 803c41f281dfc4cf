import { sleep, systemClock } from "@sluice/lib";

const attemptsMax = 50;
const attemptMs = 20;

/** A server that listens on a port. */
export interface Listening {
  readonly port: number | undefined;
  stop(closeConnections: boolean): Promise<void> | void;
}

/** A port that answers, or that resets every connection at once and keeps its number meanwhile. */
export class ResettableListener {
  readonly port: number;
  readonly #hostname: string;
  readonly #answer: (port: number) => Listening;
  #listening: Listening;
  #resets = false;
  #last: Promise<void> = Promise.resolve();

  constructor(options: { readonly hostname: string; readonly port: number }, answer: (port: number) => Listening) {
    this.#hostname = options.hostname;
    this.#answer = answer;
    this.#listening = answer(options.port);
    this.port = this.#listening.port ?? options.port;
  }

  /** Closes every connection; new ones are reset. */
  refuse(): Promise<void> {
    return this.#become(true, () => {
      const reset = { open: (socket: { terminate(): void }) => socket.terminate(), data() {} };
      return Bun.listen({ hostname: this.#hostname, port: this.port, socket: reset });
    });
  }

  /** Answers again. */
  accept(): Promise<void> {
    return this.#become(false, () => this.#answer(this.port));
  }

  /** One after the other, in the order in which they were asked for. */
  #become(resets: boolean, listen: () => Listening): Promise<void> {
    const done = this.#last.then(async () => {
      if (this.#resets === resets) return;
      await this.#exchange(listen);
      this.#resets = resets;
    });
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** The port is free for a moment between two listeners; another process may take it meanwhile. */
  async #exchange(listen: () => Listening): Promise<void> {
    await this.#listening.stop(true);
    for (let attempt = 1; ; attempt += 1) {
      try {
        this.#listening = listen();
        return;
      } catch (error) {
        if (attempt === attemptsMax) throw error;
        await sleep(systemClock, attemptMs);
      }
    }
  }

  async stop(): Promise<void> {
    await this.#last;
    await this.#listening.stop(true);
  }
}
