import { addressBytes } from "@sluice/wire/base58";
import { programs } from "@sluice/wire/programs";
import { encodeMessage, encodeTransaction } from "@sluice/wire/transaction";
import { GenesisKeypair } from "../../devnet/chain/model/keypair.ts";

export const wallets = 256;
export const feeLamports = 5_000n;
/** The first balance of each wallet: enough for all rounds. */
export const walletLamports = 100_000_000_000n;
const transferInstruction = 2;

/** The wallets that pay each other; the same ones in every process. */
export function makeWallets(): GenesisKeypair[] {
  return Array.from({ length: wallets }, (_, index) => new GenesisKeypair("bench", `wallet ${index}`));
}

/**
 * Signed transfers from wallet to wallet, each of another amount so that no two are the same transaction. Signing takes
 * about 20 µs each, which is why they are made before a round begins.
 */
export function* signTransfers(
  from: readonly GenesisKeypair[],
  blockhash: Uint8Array,
  count: number,
  first: number,
): Generator<Uint8Array> {
  const system = addressBytes(programs.system);
  const data = new Uint8Array(12);
  const view = new DataView(data.buffer);
  view.setUint32(0, transferInstruction, true);
  for (let index = first; index < first + count; index += 1) {
    const payer = from[index % from.length];
    const receiver = from[(index * 7 + 1 + Math.floor(index / from.length)) % from.length];
    if (payer === undefined || receiver === undefined) throw new Error("there are no wallets");
    // Payments to oneself would be another transaction, of two keys.
    const to = receiver === payer ? (from[(index + 1) % from.length] ?? receiver) : receiver;
    view.setBigUint64(4, BigInt(1 + index), true);
    const message = encodeMessage({
      version: "legacy",
      numRequiredSignatures: 1,
      numReadonlySignedAccounts: 0,
      numReadonlyUnsignedAccounts: 1,
      staticKeys: [payer.publicKey, to.publicKey, system],
      blockhash,
      instructions: [{ programIndex: 2, accountIndexes: [0, 1], data }],
    });
    yield encodeTransaction({ signatures: [payer.sign(message)], message });
  }
}
