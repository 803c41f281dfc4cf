import { generateKeyPairSync, sign } from "node:crypto";
import { decodeAddress } from "@sluice/wire/base58";
import { type Address, addressOfBytes } from "@sluice/wire/identifiers";
import { programs, sysvars } from "@sluice/wire/programs";
import { encodeMessage, encodeTransaction } from "@sluice/wire/transaction";

/** A key that signs in tests. */
export interface TestSigner {
  readonly address: Address;
  sign(message: Uint8Array): Uint8Array;
}

export function testSigner(): TestSigner {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const raw = publicKey.export({ type: "spki", format: "der" }).subarray(-32);
  return {
    address: addressOfBytes(new Uint8Array(raw)),
    sign: (message) => new Uint8Array(sign(null, message, privateKey)),
  };
}

export interface TransferParts {
  readonly from: TestSigner;
  readonly to: Address;
  readonly lamports: bigint;
  readonly blockhash: Address;
  /** Further accounts that the transaction names without writing them. */
  readonly readonly?: readonly Address[];
  /** A lookup table of which it names the first address, writing it. */
  readonly table?: Address;
  /** An account whose nonce it advances first, so that its blockhash may be that nonce. */
  readonly nonce?: Address;
}

/** A signed transaction of one System transfer, legacy unless it has a lookup table. */
export function transfer({ from, to, lamports, blockhash, readonly = [], table, nonce }: TransferParts): Uint8Array {
  const data = new Uint8Array(12);
  const view = new DataView(data.buffer);
  view.setUint32(0, 2, true);
  view.setBigUint64(4, lamports, true);
  const written = nonce === undefined ? [to] : [to, nonce];
  const programIndex = 1 + written.length;
  const advance = {
    programIndex,
    accountIndexes: [2, programIndex + 1 + readonly.length, 0],
    data: Uint8Array.of(4, 0, 0, 0),
  };
  const sysvar = nonce === undefined ? [] : [sysvars.recentBlockhashes];
  const message = encodeMessage({
    version: table === undefined ? "legacy" : 0,
    numRequiredSignatures: 1,
    numReadonlySignedAccounts: 0,
    numReadonlyUnsignedAccounts: 1 + readonly.length + sysvar.length,
    staticKeys: [from.address, ...written, programs.system, ...readonly, ...sysvar].map(bytesOf),
    blockhash: bytesOf(blockhash),
    instructions: [...(nonce === undefined ? [] : [advance]), { programIndex, accountIndexes: [0, 1], data }],
    ...(table === undefined
      ? {}
      : { lookups: [{ tableBytes: bytesOf(table), writableIndexes: [0], readonlyIndexes: [] }] }),
  });
  return encodeTransaction({ message, signatures: [from.sign(message)] });
}

function bytesOf(address: string): Uint8Array {
  const bytes = decodeAddress(address);
  if (bytes === null) throw new Error(`${address} is no address`);
  return bytes;
}
