import type { Timers } from "@sluice/lib";

/** Bounds of a result on its way to its reader. */
const deliveryLimits = {
  /** A result up to so many bytes is taken at once, so that its place is free before its reader has it. */
  bytesTakenAtOnce: 1024 * 1024,
  /** A reader that has not taken a larger one by then is left. */
  msMax: 60_000,
} as const;

interface Delivered {
  readonly body: ReadableStream<Uint8Array>;
  readonly end: Promise<number>;
}

/**
 * A stream of the pieces, asked for as it is read. `ended` is called once, when all were taken or the reader has
 * left; `end` resolves then with the bytes that the stream gave. Rejects when the first pieces cannot be had.
 */
export async function deliver(
  source: AsyncIterable<Uint8Array>,
  { timers, ended }: { readonly timers: Pick<Timers, "after">; readonly ended: () => void },
): Promise<Delivered> {
  const iterator = source[Symbol.asyncIterator]();
  const { taken, isWhole } = await takeFirst(iterator);
  const { promise: end, resolve } = Promise.withResolvers<number>();
  let given = 0;
  let isOver = false;
  const finish = (): void => {
    if (isOver) return;
    isOver = true;
    deadline?.cancel();
    if (!isWhole) ended();
    resolve(given);
  };
  if (isWhole) ended();
  let stop: (error: Error) => void = () => undefined;
  const deadline = isWhole
    ? null
    : timers.after(deliveryLimits.msMax, () => {
        stop(new Error("the reader of a result was too slow"));
        finish();
      });
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        stop = (error) => controller.error(error);
      },
      async pull(controller) {
        if (isOver) return;
        const piece = taken.shift() ?? (isWhole ? null : await next(iterator));
        if (isOver) return;
        if (piece === null) {
          finish();
          controller.close();
          return;
        }
        given += piece.byteLength;
        controller.enqueue(piece);
      },
      cancel: finish,
    },
    { highWaterMark: 0 },
  );
  return { body, end };
}

async function next(iterator: AsyncIterator<Uint8Array>): Promise<Uint8Array | null> {
  const { done, value } = await iterator.next();
  return done === true ? null : value;
}

async function takeFirst(
  iterator: AsyncIterator<Uint8Array>,
): Promise<{ readonly taken: Uint8Array[]; readonly isWhole: boolean }> {
  const taken: Uint8Array[] = [];
  let bytes = 0;
  while (bytes < deliveryLimits.bytesTakenAtOnce) {
    const piece = await next(iterator);
    if (piece === null) return { taken, isWhole: true };
    taken.push(piece);
    bytes += piece.byteLength;
  }
  return { taken, isWhole: false };
}
