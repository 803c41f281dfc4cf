import { oracleSources } from "@sluice/contract/oracle";
import type { ConsolePrices, ConsoleUpstream, ConsoleUsage } from "@sluice/contract/schemas";
import { type Network, networks } from "@sluice/contract/tiers";
import { memberOf, parseChainJson } from "../chain/index.ts";
import type { HourUsage } from "../ledger/index.ts";
import type { Oracle } from "../oracle/index.ts";
import type { Upstreams } from "../upstreams/index.ts";

/** The ledger's view of the last hour in the console's form. */
export function consoleUsage(usage: HourUsage): ConsoleUsage {
  return {
    requests: usage.requests,
    errors: usage.errors,
    credits: usage.credits,
    byMinute: usage.byMinute.map(({ minute, requests, credits }) => ({
      minute: new Date(minute).toISOString(),
      requests,
      credits,
    })),
  };
}

/** Every node of every network as the console shows it; latency to a tenth of a millisecond. */
export function consoleUpstreams(upstreams: Upstreams, nowMs: number): ConsoleUpstream[] {
  return networks.flatMap((network) =>
    (upstreams.pool(network)?.health() ?? []).map((node) => ({
      label: node.label,
      network,
      health: node.out === null ? "healthy" : node.slot === null ? "down" : "cordoned",
      out: node.out,
      restsUntil: node.restMs === null ? null : new Date(nowMs + node.restMs).toISOString(),
      slot: node.slot === null ? null : Number(node.slot),
      slotLag: node.slotLag === null ? null : Number(node.slotLag),
      latencyMs: node.latencyMs === null ? null : Math.round(node.latencyMs * 10) / 10,
    })),
  );
}

const tenth = (value: number): number => Math.round(value * 10) / 10;

/**
 * The oracle's prices, as a tier of an update frequency is served them, and its sources in the console's form; figures
 * that are only shown are rounded.
 */
export function consolePrices(
  oracle: Pick<Oracle, "summary" | "sources">,
  about: { readonly origin: ConsolePrices["origin"]; readonly door: string; readonly nowMs: number },
  updateFrequencySeconds: number,
): ConsolePrices {
  const timeOf = (atMs: number | null): string | null => (atMs === null ? null : new Date(atMs).toISOString());
  return {
    origin: about.origin,
    door: about.door,
    prices: oracle
      .summary(updateFrequencySeconds)
      .map(({ atMs, lastHour, ...row }) => ({ ...row, at: timeOf(atMs), lastHour: [...lastHour] })),
    sources: oracle.sources().map(({ id, status, uptime24h, responseMs, requests24h }) => ({
      name: oracleSources[id].name,
      status,
      uptime24h: tenth(uptime24h),
      responseMs: responseMs === null ? null : Math.max(0, tenth(responseMs)),
      messages24h: requests24h,
    })),
    observedAt: new Date(about.nowMs).toISOString(),
  };
}

/** The position of the network's chain; rejects when no node answers. */
export async function chainPosition(
  upstreams: Upstreams,
  network: Network,
): Promise<{ slot: bigint; blockHeight: bigint; transactionCount: bigint }> {
  const call = {
    method: "getEpochInfo",
    params: '[{"commitment":"processed"}]',
    kind: "read",
    commitment: "processed",
    minimumSlot: null,
  } as const;
  const outcome = await upstreams.pool(network)?.call(call);
  if (outcome?.ok !== true || outcome.answer.errorCode !== null)
    throw new Error("No node answers with the position of the chain");
  const { body } = outcome.answer;
  // Only calls that give leave to it are answered by what is still coming.
  if (body.kind === "large") throw new Error("The node's answer is no whole one");
  const text = body.kind === "text" ? `${body.head}0${body.tail}` : `${decode(body.head)}0${decode(body.tail)}`;
  const result = memberOf(parseChainJson(text), "result");
  const read = (name: string): bigint => {
    const value = memberOf(result, name);
    if (typeof value !== "bigint") throw new Error(`The answer of the node lacks ${name}`);
    return value;
  };
  return { slot: read("absoluteSlot"), blockHeight: read("blockHeight"), transactionCount: read("transactionCount") };
}

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
