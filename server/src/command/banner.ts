import { platformTierLimits } from "@sluice/contract/tiers";
import type { DevFile } from "./dev-file.ts";
import { table } from "./terminal.ts";

export interface BannerFacts {
  readonly file: DevFile;
  /** What people are told of the endpoints. */
  readonly addresses: DevFile["doors"];
  readonly consoleUrl: string | null;
  readonly directory: string;
  readonly version: string;
  readonly chain: string;
  readonly prices: string;
  readonly startedInMs: number;
}

const endpointTitles: Readonly<Record<string, string>> = {
  rpc: "JSON-RPC",
  pubsub: "Solana PubSub",
  ws: "streams",
  engineRest: "block engine, REST",
  engineGrpc: "block engine, gRPC",
  engineGrpcTls: "block engine, gRPC over TLS",
  oracle: "price oracle",
  resolver: "name resolver",
  yellowstone: "Yellowstone gRPC",
  metrics: "metrics",
};

/** The output of `sluice dev` when it is ready: the endpoints, a key, and a first call that works unchanged. */
export function renderBanner(facts: BannerFacts): string {
  const { file, addresses } = facts;
  const tier = platformTierLimits.enterprise.name;
  const open = Object.entries(addresses).flatMap(([name, url]) =>
    url === null ? [] : [[endpointTitles[name] ?? name, url]],
  );
  const console: [string, string][] = facts.consoleUrl === null ? [] : [["console", facts.consoleUrl]];
  const rows: [string, string][] = [...console, ...(open as [string, string][])];
  const firstCall = [
    "A first call:",
    `  curl ${addresses.rpc} -H 'X-API-Key: ${file.key}' -H 'Content-Type: application/json' \\`,
    `    -d '{"jsonrpc":"2.0","id":1,"method":"getSlot"}'`,
    "",
  ];
  return [
    "",
    `Sluice ${facts.version} is ready in ${(facts.startedInMs / 1000).toFixed(1)} s.`,
    "",
    table(["endpoint", "address"], rows),
    "",
    `key      ${file.key}  (${tier}; keys of the other tiers are in ${facts.directory}/dev.json)`,
    `chain    ${facts.chain}`,
    `prices   ${facts.prices}`,
    `data     ${facts.directory}`,
    "",
    ...(addresses.rpc === null ? [] : firstCall),
    "Ctrl-C ends it.",
    "",
  ].join("\n");
}
