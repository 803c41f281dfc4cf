import { expect, test } from "bun:test";
import type { Network } from "@sluice/contract/tiers";
import { ManualClock } from "@sluice/lib";
import { ChainLogs } from "./chain-logs.ts";
import { chain } from "./testing/chain-model.ts";
import { openMemoryLog } from "./testing/memory-log.ts";

test("a network whose first node comes later joins then, for all who follow networks and logs, and stays", async () => {
  const clock = new ManualClock();
  const nodes = new Set<Network>(["mainnet"]);
  const told: string[] = [];
  await using logs = new ChainLogs(
    { networks: ["mainnet"] },
    {
      clock,
      log: { info: () => undefined, warn: (_fields, message) => told.push(message) },
      joins: (network) => nodes.has(network),
      chainOf: (network) => (nodes.has(network) ? chain : null),
      open: async () => (await openMemoryLog(chain)).log,
    },
  );
  const look = async (): Promise<void> => {
    clock.advance(1_000);
    await Bun.sleep(20);
  };
  using _failing = await logs.followNetworks((network) => {
    if (network === "devnet") throw new Error("the store is away");
  });
  using _networks = await logs.followNetworks((network) => void told.push(network));
  using _logs = await logs.follow(
    (network, log) => void told.push(`${network} ${log === null ? "closes" : "is open"}`),
  );
  await look();
  expect(told).toEqual(["mainnet", "mainnet is open"]);
  expect(logs.networks).toEqual(["mainnet"]);

  nodes.add("devnet");
  await look();
  // One that cannot begin is told, and keeps it from nobody else.
  expect(told.splice(2, 1)).toEqual(["what follows a network could not begin"]);
  expect(told.slice(2)).toEqual(["devnet", "devnet is open"]);
  expect(logs.networks.toSorted()).toEqual(["devnet", "mainnet"]);

  // Its nodes may be away for a time: who is told of it is not told again.
  nodes.delete("devnet");
  await look();
  nodes.add("devnet");
  await look();
  expect(told).toHaveLength(4);
  using _late = await logs.followNetworks((network) => void told.push(`late ${network}`));
  expect(told.slice(4).toSorted()).toEqual(["late devnet", "late mainnet"]);
});
