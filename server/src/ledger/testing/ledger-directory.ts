import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LedgerLog } from "../endpoint.ts";
import type { RequestFact } from "../request-fact.ts";

/** A directory of its own for one ledger, removed when disposed. */
export function ledgerDirectory(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "sluice-ledger-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** A log that keeps what it received. */
interface LogEntry {
  readonly level: "info" | "warn" | "error";
  readonly fields: object;
  readonly message: string;
}

export function recordingLog(): LedgerLog & { readonly entries: LogEntry[] } {
  const entries: LogEntry[] = [];
  const at =
    (level: LogEntry["level"]) =>
    (fields: object, message: string): void =>
      void entries.push({ level, fields, message });
  return { entries, debug: () => undefined, info: at("info"), warn: at("warn"), error: at("error") };
}

/** Resident memory of a process in MiB; Linux only. */
export function residentMiB(pid: number): number {
  const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kib ?? 0) / 1024;
}

/** True while a process exists that is not a zombie. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

export function fact(changes: Partial<RequestFact> = {}): RequestFact {
  return {
    at: Date.UTC(2026, 10, 20, 12, 0, 0),
    requestId: "request-1",
    accountId: "account-1",
    keyId: "key-1",
    network: "devnet",
    door: "rpc",
    method: "getSlot",
    status: 200,
    rpcCode: null,
    latencyMs: 1.5,
    bytesIn: 100,
    bytesOut: 200,
    credits: 1,
    code: "",
    cache: "MISS",
    upstream: "node-1",
    ...changes,
  };
}
