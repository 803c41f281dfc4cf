import { expect, test } from "bun:test";
import fc from "fast-check";
import { ByteReader } from "./bytes.ts";
import { type Frame, FrameSplitter, FrameWriter } from "./frames.ts";

const bytes = fc.uint8Array({ maxLength: 70_000 });
const frames = fc.array(
  fc.record({ kind: fc.nat(255), u64: fc.bigInt(0n, 2n ** 64n - 1n), bytes, text: fc.string() }),
  {
    maxLength: 8,
  },
);

function read({ kind, reader }: Frame) {
  const record = { kind, u64: reader.u64(), bytes: reader.sizedCopy(), text: reader.sizedText() };
  reader.end();
  return record;
}

test("what is written is read, however the stream is cut, and its chunks are the sender's again", () => {
  fc.assert(
    fc.property(frames, fc.integer({ min: 1, max: 100_000 }), (written, chunkBytes) => {
      const writer = new FrameWriter();
      for (const { kind, u64, bytes: data, text } of written)
        writer.begin(kind).u64(u64).sizedBytes(data).sizedText(text).end();
      const stream = writer.take();
      const splitter = new FrameSplitter();
      const received: object[] = [];
      for (let at = 0; at < stream.length; at += chunkBytes) {
        const chunk = stream.slice(at, at + chunkBytes);
        for (const frame of splitter.push(chunk)) received.push(read(frame));
        chunk.fill(0xee);
      }
      expect(received).toEqual(written);
    }),
    { numRuns: 100 },
  );
});

test("a frame that was begun and not ended is gone, and the ones before it are not", () => {
  const writer = new FrameWriter();
  writer.begin(1).u8(7).end().begin(2).u32(1);
  writer.begin(3).u16(9).end();
  const kinds = [...new FrameSplitter().push(writer.take())].map(({ kind }) => kind);
  expect(kinds).toEqual([1, 3]);
  expect(writer.take()).toHaveLength(0);
});

test("a field beyond the end of its frame, and a frame longer than any, are refused", () => {
  expect(() => new ByteReader(Uint8Array.of(1, 2, 3)).u32()).toThrow(RangeError);
  expect(() => new ByteReader(Uint8Array.of(9, 0, 0, 0, 1)).sizedBytes()).toThrow(RangeError);
  expect(() => [...new FrameSplitter().push(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 1))]).toThrow(RangeError);
  // 64 MiB, and a byte more.
  expect([...new FrameSplitter().push(Uint8Array.of(0, 0, 0, 4, 1))]).toEqual([]);
  expect(() => [...new FrameSplitter().push(Uint8Array.of(1, 0, 0, 4, 1))]).toThrow(RangeError);
});
