import type { ByteSource } from "../lib/index.ts";

/** How a body that was sent while it came has ended: `left` when it was the client who went away. */
export interface StreamEnding {
  readonly how: "whole" | "cut" | "left";
  /** Handed to the socket. */
  readonly bytes: number;
  readonly fault: unknown;
}

/**
 * A response's body that asks its source for a piece when the socket wants one and holds none itself: with a queue of the
 * stream's own in between, a client that reads slowly would have a piece more waiting for it at each step. A source that is
 * cut ends the connection without the end of the body, which every client takes for the failure that it is.
 */
export function streamOf(source: ByteSource, ended: (ending: StreamEnding) => void): ReadableStream<Uint8Array> {
  let bytes = 0;
  let isOver = false;
  const end = (how: StreamEnding["how"], fault: unknown = null): void => {
    if (isOver) return;
    isOver = true;
    ended({ how, bytes, fault });
  };
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const piece = await source.next();
          if (isOver) return;
          if (piece === null) {
            controller.close();
            end("whole");
            return;
          }
          bytes += piece.length;
          controller.enqueue(piece);
        } catch (fault) {
          if (isOver) return;
          source.cancel();
          end("cut", fault);
          controller.error(fault);
        }
      },
      cancel: () => {
        end("left");
        source.cancel();
      },
    },
    { highWaterMark: 0 },
  );
}
