import type { ByteSource } from "../lib/index.ts";

/** How a body that was sent while it came has ended: `left` when it was the client who went away. */
export interface StreamEnding {
  readonly how: "whole" | "cut" | "left";
  /** Handed to the socket. */
  readonly bytes: number;
  readonly fault: unknown;
}

/** What goes to the socket at a time: it keeps a copy of what its client does not take at once. */
const partBytesMax = 128 * 1024;

/**
 * A response's body that asks its source for a piece when the socket wants one and holds none itself: with a queue of the
 * stream's own in between, a client that reads slowly would have a piece more waiting for it at each step. A source that is
 * cut ends the connection without the end of the body, which every client takes for the failure that it is.
 */
export function streamOf(source: ByteSource, ended: (ending: StreamEnding) => void): ReadableStream<Uint8Array> {
  let bytes = 0;
  let isOver = false;
  let rest: Uint8Array | null = null;
  const end = (how: StreamEnding["how"], fault: unknown = null): void => {
    if (isOver) return;
    isOver = true;
    ended({ how, bytes, fault });
  };
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const piece: Uint8Array | null = rest ?? (await source.next());
          rest = null;
          if (isOver) return;
          if (piece === null) {
            controller.close();
            end("whole");
            return;
          }
          const part = piece.subarray(0, partBytesMax);
          if (part.length < piece.length) rest = piece.subarray(partBytesMax);
          bytes += part.length;
          controller.enqueue(part);
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
