import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { addressBytes } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import { encodeMessage, encodeTransaction } from "@sluice/wire/transaction";
import type { AccountSource, RawAccount } from "../../server/src/engine/simulation/simulation.ts";

const payerCount = 64;
const bundleCount = 512;
const lamportsPerSol = 1_000_000_000n;

export interface Load {
  readonly source: AccountSource;
  readonly tips: readonly Uint8Array[];
  /** Signed transfers with a tip, one transaction each, and five of them each. */
  readonly single: readonly (readonly Uint8Array[])[];
  readonly five: readonly (readonly Uint8Array[])[];
  readonly keys: readonly KeyObject[];
}

interface Payer {
  readonly key: Uint8Array;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

function payers(): Payer[] {
  return Array.from({ length: payerCount }, () => {
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    const key = new Uint8Array(publicKey.export({ type: "spki", format: "der" }).subarray(12));
    return { key, privateKey, publicKey };
  });
}

function transfer(lamports: bigint): Uint8Array {
  const data = new Uint8Array(12);
  const view = new DataView(data.buffer);
  view.setUint32(0, 2, true);
  view.setBigUint64(4, lamports, true);
  return data;
}

const blockhash = new Uint8Array(32).fill(7);
const systemProgram = addressBytes(programs.system);

function transaction(payer: Payer, to: Uint8Array, tip: Uint8Array, lamports: bigint): Uint8Array {
  const message = encodeMessage({
    version: "legacy",
    numRequiredSignatures: 1,
    numReadonlySignedAccounts: 0,
    numReadonlyUnsignedAccounts: 1,
    staticKeys: [payer.key, to, tip, systemProgram],
    blockhash,
    instructions: [
      { programIndex: 3, accountIndexes: [0, 1], data: transfer(lamports) },
      { programIndex: 3, accountIndexes: [0, 2], data: transfer(1_000n + lamports) },
    ],
  });
  return encodeTransaction({ message, signatures: [new Uint8Array(sign(null, message, payer.privateKey))] });
}

export function makeLoad(): Load {
  const all = payers();
  const tips = Array.from(
    { length: 8 },
    (_, index) => new Uint8Array(createHash("sha256").update(`tip${index}`).digest()),
  );
  const system = (lamports: bigint): RawAccount => ({
    ...{ lamports, owner: systemProgram, executable: false, data: new Uint8Array(), space: 0 },
  });
  const held = [...all.map(({ key }) => key), ...tips];
  const accounts = new Map(held.map((key) => [key.toHex(), system(1_000n * lamportsPerSol)]));
  const source: AccountSource = {
    accounts: async (addresses) => ({
      slot: 1n,
      accounts: addresses.map((address) => accounts.get(addressBytes(address).toHex()) ?? null),
    }),
  };
  const at = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;
  const made = (index: number): Uint8Array =>
    transaction(at(all, index), at(all, index + 1).key, at(tips, index), BigInt(index + 1));
  const single = Array.from({ length: bundleCount }, (_, index) => [made(index)]);
  const five = Array.from({ length: bundleCount }, (_, index) => [0, 1, 2, 3, 4].map((step) => made(index * 5 + step)));
  return { source, tips, single, five, keys: single.map((_, index) => at(all, index).publicKey) };
}
