import type { PubSubClient } from "./hub.ts";

/**
 * A client behind a socket. While one of its calls is being answered its notifications wait, so that the id of a new
 * subscription always arrives before what it names. Calls take microtasks, so that little can wait.
 */
export class SocketClient implements PubSubClient {
  readonly #write: (text: string) => void;
  readonly #waiting: string[] = [];
  #holds = 0;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  send(text: string): void {
    if (this.#holds > 0) this.#waiting.push(text);
    else this.#write(text);
  }

  hold(): void {
    this.#holds += 1;
  }

  release(): void {
    this.#holds -= 1;
    if (this.#holds === 0) for (const text of this.#waiting.splice(0)) this.#write(text);
  }
}
