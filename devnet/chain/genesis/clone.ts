import type { AccountWrite } from "@sluice/svm/bank";
import { encodeBase58 } from "@sluice/wire/base58";
import { isAddress, parseU64 } from "@sluice/wire/identifiers";
import { parseJsonExact } from "@sluice/wire/json";
import { programs } from "@sluice/wire/programs";
import type { ChainAccount } from "../model/index.ts";
import { programDataOf } from "./elf-accounts.ts";

/** Accounts to copy from a running chain. */
export interface CloneRequest {
  readonly url: string;
  readonly addresses: readonly string[];
}

type Cloned =
  | { readonly ok: true; readonly accounts: readonly AccountWrite[] }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Asks a node, as fetch does. */
export type Ask = (url: string, init: RequestInit) => Promise<Response>;

/** Accounts of one getMultipleAccounts, as every node allows. */
const addressesPerCall = 100;
const callTimeoutMs = 30_000;
/** The largest account that the chain allows, programs' files included. */
const accountBytesMax = 10 * 1_024 * 1_024;
/** A hundred accounts together may be no more than this, as base64. */
const answerBytesMax = 256 * 1_024 * 1_024;

function members(value: unknown): { readonly [name: string]: unknown } | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as { readonly [name: string]: unknown })
    : null;
}

/** One account of an answer; undefined when it is none, null when there is no such account. */
function accountOf(value: unknown): ChainAccount | null | undefined {
  if (value === null) return null;
  const account = members(value);
  const data = Array.isArray(account?.["data"]) ? (account["data"] as readonly unknown[]) : [];
  const lamports = parseU64(account?.["lamports"]);
  const owner = account?.["owner"];
  const executable = account?.["executable"];
  if (lamports === null || !isAddress(owner) || typeof executable !== "boolean") return undefined;
  if (typeof data[0] !== "string" || data[1] !== "base64") return undefined;
  const rentEpoch = parseU64(account?.["rentEpoch"]) ?? 0xffff_ffff_ffff_ffffn;
  const bytes = new Uint8Array(Buffer.from(data[0], "base64"));
  return bytes.length > accountBytesMax ? undefined : { lamports, data: bytes, owner, executable, rentEpoch };
}

async function boundedText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > answerBytesMax) throw new Error("the answer is too long");
    text += decoder.decode(part, { stream: true });
  }
  return text + decoder.decode();
}

/** The accounts at these addresses, in their order. Throws Error when the node does not give them. */
async function fetchAccounts(url: string, addresses: readonly string[], ask: Ask): Promise<(ChainAccount | null)[]> {
  const params = [addresses, { encoding: "base64", commitment: "confirmed" }];
  const response = await ask(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getMultipleAccounts", params }),
    signal: AbortSignal.timeout(callTimeoutMs),
  });
  const parsed = parseJsonExact(await boundedText(response));
  const body = parsed.ok ? members(parsed.value) : null;
  if (body === null) throw new Error(`it answered ${response.status} and no JSON-RPC`);
  const error = members(body["error"]);
  if (error !== null) throw new Error(`it answered error ${String(error["code"])}: ${String(error["message"])}`);
  const value = members(body["result"])?.["value"];
  if (!Array.isArray(value) || value.length !== addresses.length) throw new Error("its answer has not those accounts");
  return value.map((each: unknown) => {
    const account = accountOf(each);
    if (account === undefined) throw new Error("its answer has an account that cannot be read");
    return account;
  });
}

async function fetchAll(url: string, addresses: readonly string[], ask: Ask): Promise<(ChainAccount | null)[]> {
  const found: (ChainAccount | null)[] = [];
  for (let start = 0; start < addresses.length; start += addressesPerCall) {
    found.push(...(await fetchAccounts(url, addresses.slice(start, start + addressesPerCall), ask)));
  }
  return found;
}

/** Where a node stands, without what a URL may keep secret. */
function shown(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "the node";
}

/**
 * Copies accounts, and for each program the account that holds its file. Nothing is copied when anything is missing.
 */
export async function cloneAccounts({ url, addresses }: CloneRequest, ask: Ask): Promise<Cloned> {
  try {
    const unique = [...new Set(addresses)];
    const found = await fetchAll(url, unique, ask);
    const missing = unique.filter((_, index) => found[index] === null);
    if (missing.length > 0) {
      return { ok: false, faults: missing.map((address) => `--clone: ${shown(url)} has no account at ${address}`) };
    }
    const accounts = unique.map((address, index) => ({ address, account: found[index] ?? null }));
    const files = accounts.flatMap(({ account }) => {
      const file = account === null ? null : programDataOf(account);
      return file === null ? [] : [encodeBase58(file)];
    });
    const others = files.filter((address) => !unique.includes(address));
    const data = await fetchAll(url, others, ask);
    const copied = others.map((address, index) => ({ address, account: data[index] ?? null }));
    const closed = copied.filter(({ account }) => account?.owner !== programs.bpfLoaderUpgradeable);
    if (closed.length > 0) {
      return { ok: false, faults: closed.map(({ address }) => `--clone: the program file at ${address} is gone`) };
    }
    return { ok: true, accounts: [...copied, ...accounts] };
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return { ok: false, faults: [`--clone: ${shown(url)} did not give the accounts: ${said}`] };
  }
}
