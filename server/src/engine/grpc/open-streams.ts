import { GrpcStatusError, type ResponseStream } from "../../net/index.ts";

type Ending = Pick<ResponseStream<unknown>, "end" | "onClose">;

interface OpenStream {
  readonly responses: Ending;
  readonly recheck: () => Promise<GrpcStatusError | null>;
}

/** Streams that one searcher may have open at once, over all its keys. */
export const streamsPerSearcherMax = 16;

/** A name under which streams count, and how many there may be under it. */
export interface StreamHolder {
  readonly name: string;
  readonly max: number;
}

/** The open streams of searchers: how many each has, and whether those who opened them still may. */
export class OpenStreams {
  readonly #open = new Set<OpenStream>();
  readonly #counts = new Map<string, number>();

  /**
   * Counts a stream in until it is closed. Throws RESOURCE_EXHAUSTED where one of its holders has as many as it may.
   */
  add(holders: readonly StreamHolder[], responses: Ending, recheck: OpenStream["recheck"]): void {
    for (const { name, max } of holders) {
      if ((this.#counts.get(name) ?? 0) < max) continue;
      const message = `A searcher may have ${max} streams open`;
      throw new GrpcStatusError("RESOURCE_EXHAUSTED", message, { retryAfterSeconds: 1 });
    }
    const stream = { responses, recheck };
    this.#open.add(stream);
    for (const { name } of holders) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    responses.onClose(() => {
      this.#open.delete(stream);
      for (const { name } of holders) this.#left(name);
    });
  }

  #left(name: string): void {
    const count = (this.#counts.get(name) ?? 0) - 1;
    if (count > 0) this.#counts.set(name, count);
    else this.#counts.delete(name);
  }

  /** Ends the streams of those whose right to them is gone; for when keys or accounts have changed. */
  async recheck(): Promise<void> {
    await Promise.all(
      [...this.#open].map(async ({ responses, recheck }) => {
        const error = await recheck();
        if (error !== null) responses.end(error);
      }),
    );
  }

  /** Ends every stream, since the engine ends. */
  close(): void {
    const error = new GrpcStatusError("UNAVAILABLE", "The block engine of this process ends; connect again");
    for (const { responses } of this.#open) responses.end(error);
  }
}
