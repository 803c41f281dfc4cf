/** A failed reading is told and tried again; after this many in a row the stream ends, and the browser opens another. */
const failuresMax = 5;
const encoder = new TextEncoder();

/**
 * Server-sent events: a message each `everyMs` with what `read` gives, and nothing while the reader is slow, since it
 * wants the present and not a backlog. It ends when the reader leaves.
 */
export function liveStream(options: { everyMs: number; closing: AbortSignal }, read: () => Promise<unknown>): Response {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let open = true;
  let failures = 0;
  const end = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    if (!open) return;
    open = false;
    clearTimeout(timer);
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
        if (open) timer = setTimeout(beat, options.everyMs);
      };
      void beat();
      options.closing.addEventListener("abort", () => end(controller), { once: true });
    },
    cancel: () => {
      open = false;
      clearTimeout(timer);
    },
  });
  return new Response(body, {
    headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no" },
  });
}
