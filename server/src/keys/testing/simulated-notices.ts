import type { Random } from "@sluice/lib";
import type { SubscribeOptions } from "../../hot/index.ts";

interface Subscriber {
  readonly replica: number;
  readonly handler: (message: string) => void;
  readonly onGap: () => void;
  readonly queue: string[];
  isConnected: boolean;
}

/**
 * Notices as Redis carries them: to each process that is connected, in their order, some time later; what is on its way
 * to a subscriber is lost with its connection, and it is notified of the gap when it is back.
 */
export class SimulatedNotices {
  readonly #random: Random;
  readonly #subscribers: Subscriber[] = [];
  isLost = false;
  delivered = 0;
  gaps = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  facet(replica: number) {
    return {
      publish: async (_channel: string, message: string): Promise<void> => {
        if (this.isLost) throw new Error("out of reach");
        for (const subscriber of this.#subscribers) if (subscriber.isConnected) subscriber.queue.push(message);
      },
      subscribe: async (
        _channel: string,
        handler: (message: string) => void,
        options: SubscribeOptions = {},
      ): Promise<AsyncDisposable> => {
        const onGap = options.onGap ?? (() => undefined);
        this.#subscribers.push({ replica, handler, onGap, queue: [], isConnected: !this.isLost });
        return { [Symbol.asyncDispose]: async () => this.remove(replica) };
      },
    };
  }

  remove(replica: number): void {
    const index = this.#subscribers.findIndex((subscriber) => subscriber.replica === replica);
    if (index >= 0) this.#subscribers.splice(index, 1);
  }

  /** Redis goes away for all, or only the connection of one. */
  lose(isForAll: boolean): void {
    const one = this.#subscribers[Math.floor(this.#random.next() * this.#subscribers.length)];
    this.isLost ||= isForAll;
    for (const subscriber of isForAll ? this.#subscribers : one === undefined ? [] : [one]) {
      subscriber.isConnected = false;
      subscriber.queue.splice(0);
    }
  }

  /** Delivers one notice, or connects one subscriber again. */
  step(): void {
    const subscriber = this.#subscribers[Math.floor(this.#random.next() * this.#subscribers.length)];
    if (subscriber === undefined) return;
    if (!subscriber.isConnected) {
      if (this.isLost || this.#random.next() > 0.05) return;
      subscriber.isConnected = true;
      this.gaps += 1;
      subscriber.onGap();
      return;
    }
    const message = subscriber.queue.shift();
    if (message === undefined) return;
    this.delivered += 1;
    subscriber.handler(message);
  }
}
