import type { Clock, Timer } from "@sluice/lib";

/** A failed reading is tried again; after this many in a row the stream ends, and the browser opens another. */
const failuresMax = 5;
const encoder = new TextEncoder();

export interface LiveOptions {
  readonly clock: Pick<Clock, "after">;
  readonly everyMs: number;
  /** Aborted when the server drains. */
  readonly closing: AbortSignal;
}

/**
 * Server-sent events: a message each `everyMs` with what `read` gives, and nothing while the reader is slow, since it
 * wants the present and not a backlog. It ends when the reader leaves.
 */
export function liveStream(options: LiveOptions, read: () => Promise<unknown>): Response {
  let timer: Timer | undefined;
  let open = true;
  let failures = 0;
  const end = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    if (!open) return;
    open = false;
    timer?.cancel();
    controller.close();
  };
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      const beat = async (): Promise<void> => {
        if ((controller.desiredSize ?? 0) > 0) {
          try {
            const value = await read();
            failures = 0;
            if (open) controller.enqueue(encoder.encode(`data: ${JSON.stringify(value)}\n\n`));
          } catch {
            failures++;
            if (failures >= failuresMax) end(controller);
          }
        }
        if (open) timer = options.clock.after(options.everyMs, beat);
      };
      void beat();
      options.closing.addEventListener("abort", () => end(controller), { once: true });
    },
    cancel: () => {
      open = false;
      timer?.cancel();
    },
  });
  return new Response(body, {
    headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no" },
  });
}
