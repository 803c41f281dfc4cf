import { addressBytes } from "@sluice/wire/base58";
/**
 * The limit: LiteSVM alone, with its signature checks on, fed with raw bytes in a separate process. One line on
 * standard input starts a round of so many transfers; one JSON line reports its cost.
 */
import { programs } from "@sluice/wire/programs";
import { Account, FailedTransactionMetadata, LiteSvm } from "litesvm/dist/internal.js";
import { makeWallets, signTransfers, walletLamports } from "./transfers.ts";

export interface RawResult {
  readonly transfers: number;
  readonly seconds: number;
  readonly cpuMicros: number;
}

function machine(): LiteSvm {
  const native = new LiteSvm();
  native.setBlockhashCheck(false);
  native.setTransactionHistory(0n);
  for (const { publicKey } of makeWallets()) {
    const account = new Account(walletLamports, new Uint8Array(), addressBytes(programs.system), false, 0n);
    native.setAccount(publicKey, account);
  }
  return native;
}

function round(transfers: number): RawResult {
  const native = machine();
  const signed = [...signTransfers(makeWallets(), new Uint8Array(32).fill(1), transfers, 0)];
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  for (const bytes of signed) {
    if (native.sendLegacyTransaction(bytes) instanceof FailedTransactionMetadata) throw new Error("a transfer failed");
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { transfers, seconds, cpuMicros: user + system };
}

for await (const line of console) console.log(JSON.stringify(round(Number(line))));
