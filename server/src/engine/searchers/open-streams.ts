import { CallFault, type Outlet } from "../calls/index.ts";

type Ending = Pick<Outlet<unknown>, "end" | "onClose">;

interface OpenStream {
  readonly outlet: Ending;
  readonly recheck: () => Promise<CallFault | null>;
}

/** Streams that one searcher may have open at once, over all its keys. */
const perSearcherMax = 16;

/** The open streams of searchers: how many each has, and whether those who opened them still may. */
export class OpenStreams {
  readonly #bySearcher = new Map<string, Set<OpenStream>>();

  /** Counts a stream in until it is closed. Throws RESOURCE_EXHAUSTED where its searcher has as many as one may have. */
  add(searcherId: string, outlet: Ending, recheck: OpenStream["recheck"]): void {
    const streams = this.#bySearcher.get(searcherId) ?? new Set();
    if (streams.size >= perSearcherMax) {
      const message = `A searcher may have ${perSearcherMax} streams open`;
      throw new CallFault("RESOURCE_EXHAUSTED", message, { retryAfterSeconds: 1 });
    }
    const stream = { outlet, recheck };
    this.#bySearcher.set(searcherId, streams.add(stream));
    outlet.onClose(() => {
      streams.delete(stream);
      if (streams.size === 0 && this.#bySearcher.get(searcherId) === streams) this.#bySearcher.delete(searcherId);
    });
  }

  /** Ends the streams of those whose right to them is gone; for when keys or accounts have changed. */
  async recheck(): Promise<void> {
    const streams = [...this.#bySearcher.values()].flatMap((each) => [...each]);
    await Promise.all(
      streams.map(async ({ outlet, recheck }) => {
        const fault = await recheck();
        if (fault !== null) outlet.end(fault);
      }),
    );
  }

  /** Ends every stream, since the engine ends. */
  close(): void {
    const fault = new CallFault("UNAVAILABLE", "The block engine of this process ends; connect again");
    for (const streams of this.#bySearcher.values()) for (const { outlet } of streams) outlet.end(fault);
  }
}
