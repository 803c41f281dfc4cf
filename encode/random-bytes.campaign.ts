import type { ChainAccount } from "@sluice/svm";
import { stringifyJsonExact } from "@sluice/wire/json";
import { programs, sysvars } from "@sluice/wire/programs";
import fc from "fast-check";
import { encodeAccount } from "./account.ts";
import { namedInstruction } from "./instruction.ts";
import type { JsonValue } from "./json.ts";

/** Lengths at which some layout begins to fit. */
const lengths = [0, 4, 36, 45, 56, 80, 82, 88, 165, 166, 170, 200, 234, 278, 355, 3731, 3762];
const owners = [...Object.values(programs), sysvars.owner];
const addresses = [...Object.values(sysvars), programs.stakeConfig];

/** Bytes of a length that matters; small ones, so that tags, counts and flags are often valid. */
const accountData = fc.oneof(
  fc.uint8Array({ maxLength: 400 }),
  fc.constantFrom(...lengths).chain((length) => fc.uint8Array({ minLength: length, maxLength: length, max: 3 })),
);

const instructionData = fc
  .tuple(fc.integer({ min: 0, max: 255 }), fc.constantFrom(1, 4), fc.uint8Array({ maxLength: 300 }))
  .map(([tag, width, rest]) => Uint8Array.from([tag, ...new Uint8Array(width - 1), ...rest]));

function presentsAccount(data: Uint8Array, owner: string, address: string): boolean {
  const account: ChainAccount = { lamports: 1n, data, owner, executable: false, rentEpoch: 0n };
  const lookup = () => ({ ...account, owner: programs.token });
  const clock = { epoch: 0n, unixTimestamp: 1_700_000_000n };
  const encoded = encodeAccount(address, account, { encoding: "jsonParsed", lookup, clock });
  return "space" in encoded && stringifyJsonExact(encoded).length > 0;
}

function presentsInstruction(programIdIndex: number, accounts: number[], data: Uint8Array, keys: string[]): boolean {
  const shown: JsonValue = namedInstruction({ programIdIndex, accounts, data, stackHeight: 1 }, keys);
  return stringifyJsonExact(shown).length > 0;
}

/** Presents `n` random accounts and `n` random instructions; passes when none throws and all can be written as JSON. */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const account = fc.property(
    accountData,
    fc.constantFrom(...owners),
    fc.constantFrom(...addresses),
    (data, owner, address) => presentsAccount(data, owner, address),
  );
  const keys = [...Object.values(programs), ...Object.values(sysvars)];
  const instruction = fc.property(
    fc.nat(keys.length),
    fc.array(fc.nat(keys.length), { maxLength: 9 }),
    fc.oneof(fc.uint8Array({ maxLength: 60 }), instructionData),
    (program, accounts, data) => presentsInstruction(program, accounts, data, keys),
  );
  const results = [fc.check(account, { numRuns: n, seed }), fc.check(instruction, { numRuns: n, seed })];
  const failed = results.find((result) => result.failed);
  const summary =
    failed === undefined ? `${n} accounts and ${n} instructions presented` : String(failed.counterexample);
  return { passed: failed === undefined, summary: `seed ${seed}: ${summary}` };
}
