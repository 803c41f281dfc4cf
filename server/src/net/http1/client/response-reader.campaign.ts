import fc from "fast-check";
import { ResponseReader } from "./response-reader.ts";
import { answer, bytesMax, changedAnswer, cutAt, read } from "./testing/answers.ts";

const same = (one: unknown, other: unknown): boolean => Bun.deepEquals(one, other, true);

/**
 * Reads `n` valid answers whole, cut anywhere and byte by byte, which must give what they say, and `n` changed ones
 * whole and cut, which must be read alike, within the bound and without a throw.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const reader = new ResponseReader();
  const valid = fc.check(
    fc.property(answer, fc.array(fc.nat(), { maxLength: 8 }), ({ bytes, expected }, cuts) => {
      const single = Array.from(bytes, (byte) => Uint8Array.of(byte));
      return [[bytes], cutAt(bytes, cuts), single].every((pieces) => same(read(pieces, reader), expected));
    }),
    { numRuns: n, seed },
  );
  const changed = fc.check(
    fc.property(changedAnswer, fc.array(fc.nat(), { maxLength: 8 }), (bytes, cuts) => {
      // Surplus that comes in a read of its own is the connection's to notice.
      const { isReusable: _whole, ...whole } = read([bytes]);
      const { isReusable: _parts, ...parts } = read(cutAt(bytes, cuts), reader);
      return same(whole, parts) && whole.body.length <= bytesMax;
    }),
    { numRuns: n, seed },
  );
  const faults = [valid, changed].filter((details) => details.failed);
  return {
    passed: faults.length === 0,
    summary:
      faults.length === 0
        ? `${n} valid and ${n} changed answers were read alike however they were cut`
        : faults.map(({ seed, counterexamplePath }) => `fails at seed ${seed}, path ${counterexamplePath}`).join("\n"),
  };
}
