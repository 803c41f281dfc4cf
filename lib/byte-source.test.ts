import { expect, test } from "bun:test";
import { createGunzip, gzipSync } from "node:zlib";
import { type ByteSource, through } from "./byte-source.ts";
import { until } from "./testing/eventually.ts";

/** Pieces of a text in gzip, and whether the rest was refused. */
function zipped(
  text: string,
  pieceBytes: number,
  changes: { readonly endsAfter?: number; readonly fails?: unknown } = {},
) {
  const bytes = gzipSync(text);
  const state = { asked: 0, cancelled: 0 };
  const source: ByteSource = {
    next: async () => {
      const start = state.asked * pieceBytes;
      state.asked += 1;
      if (state.asked > (changes.endsAfter ?? Number.POSITIVE_INFINITY)) {
        if (changes.fails !== undefined) throw changes.fails;
        return null;
      }
      return start < bytes.length ? bytes.subarray(start, start + pieceBytes) : null;
    },
    cancel: () => {
      state.cancelled += 1;
    },
  };
  return { state, source };
}

async function textOf(source: ByteSource): Promise<string> {
  const pieces: Uint8Array[] = [];
  for (let piece = await source.next(); piece !== null; piece = await source.next())
    pieces.push(Uint8Array.from(piece));
  return Buffer.concat(pieces).toString();
}

const text = Array.from({ length: 50_000 }, (_, index) => `line ${index}\n`).join("");

test("what goes through a coding comes out whole, in whatever pieces it came", async () => {
  for (const pieceBytes of [1_000, 1_000_000]) {
    const { source, state } = zipped(text, pieceBytes);
    expect(await textOf(through(source, createGunzip()))).toBe(text);
    expect(state.cancelled).toBe(0);
  }
});

test("no more is asked for than has been taken", async () => {
  const { source, state } = zipped(text, 1_000);
  const coded = through(source, createGunzip());
  await coded.next();
  for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(state.asked).toBeLessThan(30);
  coded.cancel();
});

test("a source that is cut, or whose bytes are not of the coding, makes reading fail and refuses the rest", async () => {
  const cut = zipped(text, 1_000, { endsAfter: 3, fails: new Error("cut off") });
  await expect(textOf(through(cut.source, createGunzip()))).rejects.toThrow("cut off");
  const odd = zipped(text, 1_000, { endsAfter: 3, fails: "no error" });
  await expect(textOf(through(odd.source, createGunzip()))).rejects.toThrow("the source ended");
  const early = zipped(text, 1_000, { endsAfter: 3 });
  await expect(textOf(through(early.source, createGunzip()))).rejects.toThrow();
  const { source, state } = zipped(text, 1_000);
  const garbled: ByteSource = {
    next: async () => ((await source.next()) === null ? null : new Uint8Array(100)),
    cancel: source.cancel,
  };
  await expect(textOf(through(garbled, createGunzip()))).rejects.toThrow();
  await until(() => state.cancelled > 0);
});

test("after a cancel nothing more is asked of the source, and the coding is closed", async () => {
  const { source, state } = zipped(text, 1_000);
  const transform = createGunzip();
  const coded = through(source, transform);
  await coded.next();
  coded.cancel();
  expect([state.cancelled, transform.destroyed]).toEqual([1, true]);
  const { asked } = state;
  for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  // One call may have been under way.
  expect(state.asked - asked).toBeLessThanOrEqual(1);
});

test("however many pieces go through a coding, it has as many listeners as for one", async () => {
  const listeners = async (pieceBytes: number): Promise<number> => {
    const transform = createGunzip();
    await textOf(through(zipped(text, pieceBytes).source, transform));
    return transform.listenerCount("close");
  };
  expect(await listeners(1_000)).toBe(await listeners(1_000_000));
});
