import { expect, test } from "bun:test";
import fc from "fast-check";
import { ResponseStream } from "./response-stream.ts";
import { GrpcStatusError } from "./status.ts";

/** A transport that takes `credit` messages before it wants no more. */
function transport(credit: number) {
  const written: number[] = [];
  const ends: (GrpcStatusError | null)[] = [];
  let left = credit;
  return {
    written,
    ends,
    grant: (more: number) => {
      left = more;
    },
    sink: {
      write: (message: number): boolean => {
        written.push(message);
        left -= 1;
        return left > 0;
      },
      end: (error: GrpcStatusError | null) => void ends.push(error),
    },
  };
}

test("a backlog comes before what is sent while it goes out, and counts towards no bound", () => {
  const { written, sink, grant } = transport(2);
  const responses = new ResponseStream<number>({ waitingMax: 2 }, sink);
  responses.begin([1, 2, 3, 4, 5]);
  expect(written).toEqual([1, 2]);
  expect([responses.send(6), responses.send(7), responses.send(8)]).toEqual([true, true, false]);
  expect(responses.room).toBe(0);
  grant(4);
  responses.drained();
  expect(written).toEqual([1, 2, 3, 4, 5, 6]);
  grant(9);
  responses.drained();
  expect(responses.send(9)).toBe(true);
  expect(written).toEqual([1, 2, 3, 4, 5, 6, 7, 9]);
});

test("what is sent from within the backlog's making waits for its end", () => {
  const { written, sink } = transport(100);
  const responses = new ResponseStream<number>({ waitingMax: 10 }, sink);
  const backlog = function* (): Generator<number> {
    yield 1;
    responses.send(3);
    yield 2;
  };
  responses.begin(backlog());
  expect(written).toEqual([1, 2, 3]);
});

test("an end comes once, behind what waits, and nothing after it", () => {
  const { written, ends, sink } = transport(1);
  const responses = new ResponseStream<number>({ waitingMax: 5 }, sink);
  const error = new GrpcStatusError("PERMISSION_DENIED", "gone");
  for (const message of [1, 2, 3]) responses.send(message);
  responses.end(error);
  responses.end();
  responses.drained();
  expect(responses.send(4)).toBe(false);
  expect(written).toEqual([1, 2, 3]);
  expect(ends).toEqual([error]);
});

test("a transport that closes forgets what waits and reports it once to each listener, late ones too", () => {
  const { written, sink, grant } = transport(1);
  const responses = new ResponseStream<number>({ waitingMax: 5 }, sink);
  let reported = 0;
  responses.onClose(() => (reported += 1));
  for (const message of [1, 2]) responses.send(message);
  responses.closed();
  responses.closed();
  grant(5);
  responses.drained();
  responses.onClose(() => (reported += 1));
  expect([reported, written, responses.isOpen, responses.send(3)]).toEqual([2, [1], false, false]);
});

test("under any transport, what was taken arrives whole and in order", () => {
  const step = fc.oneof(fc.constant("send" as const), fc.integer({ min: 1, max: 4 }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), fc.integer({ min: 0, max: 10 }), (steps, backlog) => {
      const { written, sink, grant } = transport(1);
      const responses = new ResponseStream<number>({ waitingMax: 4 }, sink);
      const taken = Array.from({ length: backlog }, (_, index) => index);
      responses.begin([...taken]);
      for (const each of steps) {
        if (each === "send") {
          const message = taken.length;
          if (responses.send(message)) taken.push(message);
        } else {
          grant(each);
          responses.drained();
        }
      }
      expect(written).toEqual(taken.slice(0, written.length));
      grant(1_000);
      responses.drained();
      expect(written).toEqual(taken);
    }),
  );
});
