import { createHash } from "node:crypto";
import { addressBytes, encodeBase58 } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import { encodeMessage, encodeTransaction } from "@sluice/wire/transaction";
import { GenesisKeypair } from "../../devnet/chain/model/keypair.ts";
import { tipAccounts } from "../../server/src/engine/model/tip-accounts.ts";

const payersCount = 512;
const tipLamports = 20_000n;
/** The first balance of each payer: enough for all rounds. */
export const payerLamports = 100_000_000_000n;
const transferInstruction = 2;

export interface SignedBundle {
  readonly id: string;
  readonly transaction: Uint8Array;
}

/** The payers; the same ones in every process. */
export const payers = Array.from({ length: payersCount }, (_, index) => new GenesisKeypair("bench", `payer ${index}`));

const tips = tipAccounts().map((address) => addressBytes(address));
const system = addressBytes(programs.system);

function transfer(lamports: bigint): Uint8Array {
  const data = new Uint8Array(12);
  const view = new DataView(data.buffer);
  view.setUint32(0, transferInstruction, true);
  view.setBigUint64(4, lamports, true);
  return data;
}

/**
 * Bundles of one transaction, a transfer to oneself and a tip, each of another amount so that no two are the same.
 * Payers take turns, so that bundles of one tick seldom meet. Signed before a round begins.
 */
export function signBundles(blockhash: Uint8Array, count: number, first: number): SignedBundle[] {
  return Array.from({ length: count }, (_, at) => {
    const index = first + at;
    const payer = payers[index % payersCount];
    const tip = tips[index % tips.length];
    if (payer === undefined || tip === undefined) throw new Error("there are no payers");
    const message = encodeMessage({
      version: "legacy",
      numRequiredSignatures: 1,
      numReadonlySignedAccounts: 0,
      numReadonlyUnsignedAccounts: 1,
      staticKeys: [payer.publicKey, tip, system],
      blockhash,
      instructions: [
        { programIndex: 2, accountIndexes: [0, 0], data: transfer(BigInt(1 + index)) },
        { programIndex: 2, accountIndexes: [0, 1], data: transfer(tipLamports) },
      ],
    });
    const signature = payer.sign(message);
    const id = createHash("sha256").update(encodeBase58(signature)).digest("hex");
    return { id, transaction: encodeTransaction({ signatures: [signature], message }) };
  });
}
