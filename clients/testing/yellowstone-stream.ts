import Client, { type SubscribeRequest, type SubscribeUpdate } from "@triton-one/yellowstone-grpc";

const nothing: SubscribeRequest = {
  accounts: {},
  slots: {},
  transactions: {},
  transactionsStatus: {},
  blocks: {},
  blocksMeta: {},
  entry: {},
  accountsDataSlice: [],
};

/** A stream of the unmodified client, which keeps every update that it gets. */
export class CollectedStream implements Disposable {
  readonly updates: SubscribeUpdate[] = [];
  /** The text with which the stream has ended; null while it goes on. */
  ended: string | null = null;
  readonly #stream: Awaited<ReturnType<Client["subscribe"]>>;
  readonly #heard = new Set<() => void>();
  #nextPing = 1;

  private constructor(stream: Awaited<ReturnType<Client["subscribe"]>>) {
    this.#stream = stream;
    stream.on("data", (update: SubscribeUpdate) => {
      this.updates.push(update);
      for (const heard of this.#heard) heard();
    });
    stream.on("error", (error: Error) => {
      this.ended = String(error.cause ?? error);
      for (const heard of this.#heard) heard();
    });
  }

  static async open(url: string, request: Partial<SubscribeRequest>, token?: string): Promise<CollectedStream> {
    const client = new Client(url, token, undefined);
    await client.connect();
    // Rejects where the server does not open the stream.
    const stream = new CollectedStream(await client.subscribe());
    await stream.request(request);
    return stream;
  }

  /** Replaces all filters; when it resolves the server has read them, or has ended the stream. */
  async request(request: Partial<SubscribeRequest>): Promise<void> {
    this.#stream.write({ ...nothing, ...request });
    await this.settled();
  }

  /** Waits until everything that was sent before has arrived: an answered ping proves it. */
  async settled(): Promise<void> {
    const id = this.#nextPing;
    this.#nextPing += 1;
    this.#stream.write({ ...nothing, ping: { id } });
    while (this.ended === null && !this.updates.some(({ pong }) => pong?.id === id)) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#heard.add(resolve);
      await promise;
      this.#heard.delete(resolve);
    }
  }

  /** What each update is, in the order of arrival, without the transport's own. */
  get kinds(): string[] {
    const statuses = ["processed", "confirmed", "finalized", "firstShred", "completed", "createdBank", "dead"];
    return this.updates.flatMap(({ filters: _, createdAt: __, ping, pong, ...update }) => {
      if (ping !== undefined || pong !== undefined) return [];
      const kind = Object.entries(update).find(([, value]) => value !== undefined)?.[0] ?? "none";
      return update.slot === undefined ? [kind] : [`${statuses[update.slot.status]} ${update.slot.slot}`];
    });
  }

  [Symbol.dispose](): void {
    this.#stream.destroy();
  }
}
