import { createHash } from "node:crypto";
import type { Clock, Timer } from "@sluice/lib";
import { type Address, addressOfBytes, type Signature, type Slot, signatureOfBytes } from "@sluice/wire/identifiers";
import type { NewBundle } from "../../model/bundle.ts";
import type { OutcomeLedger, PoolEvents } from "../pool-options.ts";

/** Bytes that a name always gives. */
export function bytesOf(name: string, length: number): Uint8Array {
  const block = (index: number): Buffer => createHash("sha256").update(`${name} ${index}`).digest();
  return Uint8Array.from(
    Buffer.concat(Array.from({ length: Math.ceil(length / 32) }, (_, index) => block(index))).subarray(0, length),
  );
}

export const signatureOf = (text: string): Signature => signatureOfBytes(bytesOf(text, 64));
export const addressOf = (text: string): Address => addressOfBytes(bytesOf(text, 32));
export const slotOf = (slot: number): Slot => BigInt(slot) as Slot;
export const startMs = 1_790_000_000_000;

/** A bundle that differs from others by its name alone. */
/** A network whose nodes tell no genesis. */
export const anyChain = { network: "mainnet", genesis: () => null } as const;

export function bundleNamed(name: string, changes: Partial<NewBundle> = {}): NewBundle {
  return {
    id: createHash("sha256").update(name).digest("hex"),
    searcherId: "acct_1",
    ingress: "grpc",
    transactions: [bytesOf(name, 40)],
    signatures: [signatureOf(name)],
    tip: 5_000n,
    mevType: "arbitrage",
    targetSlot: null,
    sealed: null,
    receivedAt: startMs,
    acceptedSlot: slotOf(10),
    lastValidBlockHeight: 160n,
    expiresAt: startMs + 300_000,
    ...changes,
  };
}

/** A clock whose timers never fire, for a pool whose background work the test starts itself. */
export function withoutTimers(clock: Pick<Clock, "now">): Pick<Clock, "now" | "after" | "every"> {
  const never: Timer = { cancel: () => {}, [Symbol.dispose]: () => {} };
  return { now: () => clock.now(), after: () => never, every: () => never };
}

/** Events that are counted, and faults that are kept to be read. */
export class SeenEvents implements PoolEvents {
  readonly faults: unknown[] = [];
  readonly refused: string[] = [];
  loaded = 0;
  written = 0;
  waits = 0;
  forgotten = 0;

  bundlesLoaded(count: number): void {
    this.loaded = count;
  }

  outcomesWritten(count: number): void {
    this.written += count;
  }

  outcomesWait(): void {
    this.waits += 1;
  }

  outcomeRefused(id: string): void {
    this.refused.push(id);
  }

  bundlesForgotten(count: number): void {
    this.forgotten += count;
  }

  internalError(_where: string, error: unknown): void {
    this.faults.push(error);
  }
}

/** A ledger that keeps what it is given, and fails where a test sets it. */
export class KeptLedger implements OutcomeLedger {
  readonly rows: Readonly<Record<string, unknown>>[] = [];
  fail: ((rows: readonly Readonly<Record<string, unknown>>[]) => Error | null) | null = null;

  async insert(table: string, rows: readonly object[]): Promise<void> {
    if (table !== "bundle_outcomes") throw new Error(`no table ${table}`);
    const copies = rows.map((row) => ({ ...row }) as Readonly<Record<string, unknown>>);
    const failure = this.fail?.(copies) ?? null;
    if (failure !== null) throw failure;
    this.rows.push(...copies);
  }
}
