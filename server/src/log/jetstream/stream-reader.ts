import { type ConsumerMessages, DeliverPolicy, type JetStreamClient, type JsMsg } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { type Clock, type Log, sleep } from "@sluice/lib";

export interface StreamReading {
  readonly stream: string;
  /** Asked for at the start and after each loss: the sequence of the first message that is wanted. */
  readonly from: () => number;
  /** Without bodies. */
  readonly headersOnly: boolean;
  /** The number of messages that the server sends ahead. */
  readonly ahead: number;
}

export interface StreamReaderDependencies {
  readonly connection: NatsConnection;
  readonly client: JetStreamClient;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn">;
}

const retryMs = 500;
/** Measured: without these a consumer stands still for 20 s after the death of a server, with them for 3. */
const pull = { expires: 5_000, idle_heartbeat: 1_000 } as const;

/**
 * The messages of a stream in order, over the loss of servers, until it is ended.
 *
 * A consumer lives on one server of the cluster. When that server is gone, the library asks for the consumer's state
 * until the server is back, without end: so a consumer that misses heartbeats, or whose connection was lost, is left
 * and another one goes on from the same sequence.
 */
export class StreamReader {
  readonly #dependencies: StreamReaderDependencies;
  readonly #reading: StreamReading;
  readonly #ended = new AbortController();
  #messages: ConsumerMessages | null = null;
  /** The consumer that gave what is now in `#messages` is left. */
  #isLeft = false;

  constructor(dependencies: StreamReaderDependencies, reading: StreamReading) {
    this.#dependencies = dependencies;
    this.#reading = reading;
    const { connection } = dependencies;
    void restartOn("reconnect", connection.status(), () => this.restart());
  }

  /** Leaves what was received and not yet taken, and goes on from the sequence that is wanted now. */
  restart(): void {
    this.#isLeft = true;
    this.#messages?.stop();
  }

  end(): void {
    this.#ended.abort();
    this.restart();
  }

  async *messages(): AsyncGenerator<JsMsg, void> {
    const { clock, log } = this.#dependencies;
    const { signal } = this.#ended;
    while (!signal.aborted) {
      try {
        this.#isLeft = false;
        this.#messages = await this.#consume();
        if (this.#isLeft) continue;
        for await (const message of this.#messages) {
          if (this.#isLeft) break;
          yield message;
        }
      } catch (error) {
        if (!signal.aborted) log.warn({ error: String(error) }, "the stream of the chain's log cannot be followed");
      } finally {
        this.#messages?.stop();
        this.#messages = null;
      }
      await sleep(clock, retryMs, signal);
    }
  }

  async #consume(): Promise<ConsumerMessages> {
    const { stream, from, headersOnly, ahead } = this.#reading;
    const consumer = await this.#dependencies.client.consumers.get(stream, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: from(),
      headers_only: headersOnly,
    });
    const messages = await consumer.consume({ ...pull, max_messages: ahead });
    void restartOn("heartbeats_missed", messages.status(), () => this.restart());
    return messages;
  }
}

/** Ends by itself when the statuses do: with the consumer, or with the connection. */
async function restartOn(
  type: string,
  statuses: AsyncIterable<{ readonly type: string }>,
  restart: () => void,
): Promise<void> {
  for await (const status of statuses) if (status.type === type) restart();
}
