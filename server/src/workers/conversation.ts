import { type Clock, within } from "@sluice/lib";

/** What one side asks the other, or tells it: a word that says what, and what it is about. */
export interface Topic {
  readonly what: string;
  readonly [member: string]: unknown;
}

interface ConversationOptions {
  /** Passes a message on; false when nobody takes it. */
  readonly send: (message: unknown) => boolean;
  /** Answers a question of the other side; one that rejects leaves the question without an answer. */
  readonly answer: (topic: Topic) => Promise<unknown>;
  readonly told: (topic: Topic) => void;
}

/** Questions without an answer at a time. More are refused: the other side does not keep up. */
const pendingMax = 20_000;

/** Nobody answers: the other side has ended, or is too slow. */
export class NoAnswerError extends Error {
  constructor(what: string) {
    super(`there was no answer to "${what}"`);
    this.name = "NoAnswerError";
  }
}

const isTopic = (value: unknown): value is Topic =>
  typeof value === "object" && value !== null && "what" in value && typeof value.what === "string";

/** Questions with answers, and notes without, over the messages between a parent and one worker. */
export class Conversation {
  readonly #options: ConversationOptions;
  readonly #clock: Pick<Clock, "after">;
  readonly #pending = new Map<number, (value: unknown) => void>();
  #asked = 0;

  constructor(options: ConversationOptions, dependencies: { readonly clock: Pick<Clock, "after"> }) {
    this.#options = options;
    this.#clock = dependencies.clock;
  }

  tell(topic: Topic): void {
    this.#options.send({ tell: topic });
  }

  /** @throws {NoAnswerError} when none comes in time; `late` then receives an answer that comes all the same */
  async ask(topic: Topic, limitMs: number, late?: (value: unknown) => void): Promise<unknown> {
    if (this.#pending.size >= pendingMax) throw new NoAnswerError(topic.what);
    this.#asked += 1;
    const id = this.#asked;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#pending.set(id, resolve);
    if (!this.#options.send({ ask: id, topic })) {
      this.#pending.delete(id);
      throw new NoAnswerError(topic.what);
    }
    const timed = await within(this.#clock, limitMs, promise);
    if (timed.ok) return timed.value;
    if (late === undefined) this.#pending.delete(id);
    else this.#pending.set(id, late);
    throw new NoAnswerError(topic.what);
  }

  /** Takes a message of the other side; what is none is passed over. */
  received(message: unknown): void {
    if (typeof message !== "object" || message === null) return;
    if ("tell" in message && isTopic(message.tell)) this.#options.told(message.tell);
    else if ("ask" in message && "topic" in message && isTopic(message.topic)) {
      void this.#reply(message.ask, message.topic);
    } else if ("answer" in message && typeof message.answer === "number") {
      const resolve = this.#pending.get(message.answer);
      this.#pending.delete(message.answer);
      resolve?.("value" in message ? message.value : undefined);
    }
  }

  /** The other side has ended: what it was asked stays without an answer, and is forgotten. */
  forget(): void {
    this.#pending.clear();
  }

  async #reply(id: unknown, topic: Topic): Promise<void> {
    try {
      const value = await this.#options.answer(topic);
      this.#options.send({ answer: id, value });
    } catch {
      // Whoever asked has a limit to wait.
    }
  }
}
