import { MalformedBytes } from "@sluice/wire/bytes";
import { type JsonValue, stringifyJsonExact } from "@sluice/wire/json";
import fc from "fast-check";
import { encodeBlock } from "../block.ts";
import type { ConfirmedBlock } from "../model.ts";
import { packBlock } from "./pack.ts";
import { readBlock } from "./read-block.ts";
import { readJson } from "./read-json.ts";
import { arbitraryBlock } from "./testing/arbitrary-block.ts";
import { unpackBlock } from "./unpack.ts";

function answer(block: ConfirmedBlock, encoding: "base64" | "jsonParsed"): string {
  const options = { encoding, transactionDetails: "full", rewards: true, maxSupportedTransactionVersion: 1 } as const;
  const encoded = encodeBlock(block, options);
  if (!encoded.ok) throw new Error(`version ${encoded.version} was refused`);
  return stringifyJsonExact(encoded.value);
}

/** Whether the input was refused; what was taken can be packed again and presented. */
function isRefused(read: () => ConfirmedBlock): boolean {
  let block: ConfirmedBlock;
  try {
    block = read();
  } catch (error) {
    if (error instanceof MalformedBytes) return true;
    throw error;
  }
  const again = unpackBlock(packBlock(block));
  if (answer(again, "base64") !== answer(block, "base64"))
    throw new Error("a block that was taken did not stay as it is");
  answer(again, "jsonParsed");
  return false;
}

/** Places and values, as fractions so that they fit any input. */
const changes = fc.array(fc.tuple(fc.double({ min: 0, max: 0.999, noNaN: true }), fc.nat(255)), {
  minLength: 1,
  maxLength: 4,
});
type Changes = readonly (readonly [place: number, value: number])[];

function changedBytes(bytes: Uint8Array, list: Changes): Uint8Array {
  const changed = bytes.slice();
  for (const [place, value] of list) changed[Math.floor(place * changed.length)] = value;
  return changed;
}

const odd: readonly JsonValue[] = [null, -1, 0.5, 2n ** 64n, "", "0", [], {}, true, ["AA==", "base64"], [[]]];

/** The same answer with one value, chosen by its number in the order of reading, replaced. */
function changedJson(value: JsonValue, [place, choice]: readonly [number, number]): JsonValue {
  let count = 0;
  const walk = (each: JsonValue, visit: (each: JsonValue) => JsonValue): JsonValue => {
    const own = visit(each);
    if (own !== each || typeof own !== "object" || own === null) return own;
    if (Array.isArray(own)) return own.map((item) => walk(item, visit));
    const members = Object.entries(own).map(([name, item]) => [name, walk(item ?? null, visit)] as const);
    return Object.fromEntries(members);
  };
  walk(value, (each) => {
    count++;
    return each;
  });
  const target = Math.floor(place * count);
  let at = 0;
  return walk(value, (each) => (at++ === target ? (odd[choice % odd.length] ?? null) : each));
}

/**
 * Reads `n` packed blocks with changed bytes, `n` answers with a changed value and `n` runs of random bytes; passes
 * when each is refused as malformed or can be packed, read again and presented.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  let refused = 0;
  const count = (read: () => ConfirmedBlock): void => {
    if (isRefused(read)) refused++;
  };
  const packed = fc.property(arbitraryBlock, changes, (block, list) =>
    count(() => unpackBlock(changedBytes(packBlock(block), list))),
  );
  const change = fc.tuple(fc.double({ min: 0, max: 0.999, noNaN: true }), fc.nat(255));
  const json = fc.property(arbitraryBlock, change, (block, one) =>
    count(() => readBlock(block.slot, changedJson(readJson(answer(block, "base64")), one))),
  );
  const random = fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => count(() => unpackBlock(bytes)));
  const results = [packed, json, random].map((each) => fc.check<unknown[]>(each, { numRuns: n, seed }));
  const failed = results.find((result) => result.failed);
  const summary =
    failed === undefined
      ? `${3 * n} inputs, ${refused} refused`
      : `${String(failed.errorInstance)} for ${fc.stringify(failed.counterexample)}`;
  return { passed: failed === undefined, summary: `seed ${seed}: ${summary}` };
}
