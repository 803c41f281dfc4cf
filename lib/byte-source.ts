import type { Transform } from "node:stream";

/** Bytes that come in pieces when they are asked for, so that nobody holds more than he can pass on. */
export interface ByteSource {
  /**
   * The next piece, or null at the end. Rejects when the bytes are cut. One call at a time; a piece is the reader's
   * until he asks for the next one, and what he wants to keep of it he copies.
   */
  next(): Promise<Uint8Array | null>;
  /** Nobody wants the rest. What is asked for afterwards rejects or is null; may be called more than once. */
  cancel(): void;
}

/**
 * What a transform of the runtime (a coding) makes of a source. It is handed one piece at a time and waits until that
 * has been taken, so it never holds more than a piece and its own window.
 */
export function through(source: ByteSource, transform: Transform): ByteSource {
  const made = transform[Symbol.asyncIterator]();
  transform.on("error", () => source.cancel());
  void feed(source, transform);
  return {
    next: async () => {
      const { value, done } = await made.next();
      return done === true ? null : value;
    },
    cancel: () => {
      source.cancel();
      transform.destroy();
    },
  };
}

async function feed(source: ByteSource, transform: Transform): Promise<void> {
  try {
    for (let piece = await source.next(); piece !== null; piece = await source.next()) {
      if (transform.destroyed) return;
      await written(transform, piece);
    }
    transform.end();
  } catch (fault) {
    transform.destroy(fault instanceof Error ? fault : new Error("the source ended", { cause: fault }));
  }
}

/** Resolves when the transform is done with the piece, or is closed. */
function written(transform: Transform, piece: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      transform.off("close", settle);
      resolve();
    };
    transform.on("close", settle);
    transform.write(piece, settle);
  });
}
