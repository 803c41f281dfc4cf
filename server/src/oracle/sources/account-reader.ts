import { type ChainValue, callNode, memberOf, type NodeEndpoint } from "../../chain/index.ts";
import type { AccountReader, AccountReading } from "./chain-pools.ts";

const readMsMax = 4_000;

/**
 * Reads accounts of one node in one call, at `confirmed`: what a single leader proposes is no price yet. Everything but a
 * whole answer for every address is `unavailable`.
 */
export function createAccountReader(node: NodeEndpoint): AccountReader {
  return async (addresses) => {
    const params = JSON.stringify([addresses, { encoding: "base64", commitment: "confirmed" }]);
    const outcome = await callNode(node, { method: "getMultipleAccounts", params, timeoutMs: readMsMax });
    return outcome.ok ? readingOf(outcome.result, addresses.length) : { kind: "unavailable" };
  };
}

const isList = (value: ChainValue | undefined): value is readonly ChainValue[] => Array.isArray(value);

function readingOf(result: ChainValue, count: number): AccountReading {
  const slot = memberOf(memberOf(result, "context"), "slot");
  const values = memberOf(result, "value");
  if (typeof slot !== "bigint" || !isList(values) || values.length !== count) return { kind: "unavailable" };
  return { kind: "accounts", slot, accounts: values.map(accountOf) };
}

function accountOf(value: ChainValue): { readonly owner: string; readonly data: Uint8Array } | null {
  const owner = memberOf(value, "owner");
  const data = memberOf(value, "data");
  if (typeof owner !== "string" || !isList(data)) return null;
  const [text, encoding] = data;
  return typeof text === "string" && encoding === "base64" ? { owner, data: Buffer.from(text, "base64") } : null;
}
