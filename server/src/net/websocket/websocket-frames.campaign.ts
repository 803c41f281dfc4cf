import fc from "fast-check";
import { changedStream, cutAt, eventsOf, stream } from "./testing/client-frames.ts";

const same = (one: unknown, other: unknown): boolean => Bun.deepEquals(one, other, true);
const singleBytes = (bytes: Uint8Array): Uint8Array[] =>
  Array.from(bytes.subarray(0, 4_000), (byte) => Uint8Array.of(byte));

/**
 * Reads `n` valid streams of frames (fragments, control frames between them, every form of length) whole, cut anywhere
 * and byte by byte, which must give their messages, and `n` changed ones, which must be read alike however they are
 * cut, without a throw, and with nothing after the end.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const cuts = fc.array(fc.nat(), { maxLength: 8 });
  const valid = fc.check(
    fc.property(stream, cuts, ({ bytes, events }, places) =>
      [[bytes], cutAt(bytes, places), ...(bytes.length <= 4_000 ? [singleBytes(bytes)] : [])].every((pieces) =>
        same(eventsOf(pieces), events),
      ),
    ),
    { numRuns: n, seed },
  );
  const changed = fc.check(
    fc.property(changedStream, cuts, (bytes, places) => {
      const whole = eventsOf([bytes]);
      const end = whole.findIndex((event) => /^(close|broken) /.test(event));
      return (
        (end < 0 || end === whole.length - 1) &&
        same(whole, eventsOf(cutAt(bytes, places))) &&
        same(whole, eventsOf(singleBytes(bytes)))
      );
    }),
    { numRuns: n, seed },
  );
  const failures = [valid, changed].filter(({ failed }) => failed);
  const summary =
    failures.length === 0
      ? `${n} valid and ${n} changed streams of frames were read alike however they were cut`
      : failures.map((details) => `fails at seed ${details.seed}, path ${details.counterexamplePath}`).join("\n");
  return { passed: failures.length === 0, summary };
}
