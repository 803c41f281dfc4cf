import type { BlockEngineEndpointsMessage } from "@sluice/contract/proto";
import type { EngineChannel } from "./grpc.ts";

/** Times that each region is asked. Source: jito-solana, ping_and_rank_endpoints. */
const probes = 3;
/** Regions that are asked at most. */
const regionsMax = 32;

interface EndpointDependencies {
  readonly open: (url: string) => Pick<EngineChannel, "ask"> & Disposable;
  /** Milliseconds of a clock that only goes forward. */
  readonly monotonic: () => number;
}

async function endpointsOf(url: string, dependencies: EndpointDependencies): Promise<BlockEngineEndpointsMessage> {
  using channel = dependencies.open(url);
  return await channel.ask<BlockEngineEndpointsMessage>("endpoints", {}, null);
}

/** The shortest time in which a region answered; null when it never did. */
async function roundTrip(url: string, dependencies: EndpointDependencies): Promise<number | null> {
  let best: number | null = null;
  for (let probe = 0; probe < probes; probe += 1) {
    const asked = dependencies.monotonic();
    try {
      await endpointsOf(url, dependencies);
    } catch {
      continue;
    }
    const took = dependencies.monotonic() - asked;
    if (best === null || took < best) best = took;
  }
  return best;
}

/**
 * Where the engine behind a configured URL wants validators to connect, nearest first: its regions by the time they
 * take to answer, or where none of them does its global endpoint; with `nearest` false the global one and no other,
 * even where that is not the URL itself. Rejects when the engine does not answer or names nothing.
 */
export async function findEndpoints(
  url: string,
  nearest: boolean,
  dependencies: EndpointDependencies,
): Promise<readonly string[]> {
  const { global_endpoint: global, regioned_endpoints: regions } = await endpointsOf(url, dependencies);
  if (nearest) {
    const urls = regions.slice(0, regionsMax).map((region) => region.block_engine_url);
    const timed = await Promise.all(
      urls.map(async (region) => ({ region, took: await roundTrip(region, dependencies) })),
    );
    const reached = timed.flatMap(({ region, took }) => (took === null ? [] : [{ region, took }]));
    if (reached.length > 0) return reached.sort((one, other) => one.took - other.took).map(({ region }) => region);
  }
  if (global === null || global.block_engine_url === "") {
    throw new Error(nearest ? "no reachable endpoints found" : "the block engine names no global endpoint");
  }
  return [global.block_engine_url];
}

/** A URL of a block engine, or `off`. */
export function readBlockEngine(text: string): string | null | { readonly fault: string } {
  if (text === "off") return null;
  const isUrl = URL.canParse(text) && ["http:", "https:"].includes(new URL(text).protocol);
  return isUrl ? text : { fault: "--block-engine must be an http or https URL, or off" };
}
