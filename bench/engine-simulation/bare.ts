import { verify } from "node:crypto";
import { parseTransaction } from "@sluice/wire/transaction";
import { LiteSvm } from "litesvm/dist/internal.js";
import { atTurn, cpuOf } from "./cpu.ts";
import type { Load } from "./load.ts";

const batch = 64;

function batches<T>(list: readonly T[]): T[][] {
  return Array.from({ length: list.length / batch }, (_, index) => list.slice(index * batch, (index + 1) * batch));
}

/** One signature of each message that the machine verifies too, by the two fastest ways there are in this runtime. */
export async function bareRates(load: Load): Promise<Record<string, number>> {
  const signed = load.single.map(([bytes = new Uint8Array()], index) => {
    const result = parseTransaction(bytes);
    const key = load.keys[index];
    if (!result.ok || key === undefined) throw new Error("no signed transaction");
    return { message: result.transaction.message.bytes, signature: result.transaction.signatureBytes(0), key };
  });
  const signedBatches = batches(signed);
  const node = await cpuOf(batch, (call) => {
    for (const { message, signature, key } of atTurn(signedBatches, call)) {
      if (!verify(null, message, key, signature)) throw new Error("a signature is wrong");
    }
  });
  return { "ed25519, node:crypto, key kept": node, "ed25519, LiteSVM's own": await liteSvmVerify(load) };
}

/** The extra time of LiteSVM for a transaction when it checks the signature: both fail for lack of funds. */
async function liteSvmVerify(load: Load): Promise<number> {
  const native = new LiteSvm();
  native.setBlockhashCheck(false);
  native.setTransactionHistory(0n);
  const transactions = batches(load.single.flat());
  const costs: number[] = [];
  for (const checks of [true, false]) {
    native.setSigverify(checks);
    costs.push(
      await cpuOf(batch, (call) => {
        for (const bytes of atTurn(transactions, call)) native.sendLegacyTransaction(bytes);
      }),
    );
  }
  return (costs[0] ?? 0) - (costs[1] ?? 0);
}
