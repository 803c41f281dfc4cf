import { expect, test } from "bun:test";
import { loadConfig } from "../config/index.ts";
import { configOfWorker, freePredecessor, mergeReloads } from "./seats.ts";

function configOf(env: Record<string, string>) {
  const outcome = loadConfig({ mode: "dev", env });
  if (!outcome.ok) throw new Error("the configuration is not valid");
  return outcome.config;
}

test("workers have the gateway and worker 0 the other roles, each with its part of the connections", () => {
  const config = configOf({ WORKERS: "4", MAX_CONNECTIONS: "1000", ROLES: "gateway,oracle,engine" });
  expect(configOfWorker(config, 0)).toMatchObject({ roles: ["oracle", "engine"], connectionsMax: 250 });
  expect(configOfWorker(config, 3)).toMatchObject({ roles: ["gateway"], connectionsMax: 250 });
  expect(configOfWorker(configOf({ WORKERS: "4" }), 1).connectionsMax).toBeNull();
  expect(configOfWorker(configOf({ WORKERS: "4", MAX_CONNECTIONS: "2" }), 1).connectionsMax).toBe(1);
});

test("a reload of all workers tells what any of them applied, or why one applied nothing", () => {
  const reloaded = (applied: string[], needsRestart: string[]) => ({ kind: "reloaded", applied, needsRestart });
  expect(mergeReloads([reloaded(["LOG_LEVEL"], []), reloaded(["LOG_LEVEL"], ["BIND"])])).toEqual({
    kind: "reloaded",
    applied: ["LOG_LEVEL"],
    needsRestart: ["BIND"],
  });
  const invalid = { kind: "invalid", faults: ["BIND: given nothing"] };
  expect(mergeReloads([reloaded([], []), invalid])).toEqual(invalid as never);
  expect(mergeReloads([undefined, 7])).toEqual({ kind: "unavailable" });
});

/** What is taken back for a life before, with a state store that answers or not. */
async function freed(predecessor: string | null, leave: () => Promise<void> = async () => {}): Promise<string[]> {
  const steps: string[] = [];
  await freePredecessor(configOf({ ROLES: "gateway" }), {
    seat: { orders: { predecessor } } as never,
    state: {
      processes: {
        leave: async (id: string) => {
          steps.push(`leave ${id}`);
          await leave();
        },
      } as never,
    },
    hot: {
      attend: async (group, holder, ttlMs) => {
        steps.push(`attend ${group} ${holder} ${ttlMs}`);
        return 1;
      },
    },
    log: { info: (_fields: object, message: string) => void steps.push(message) } as never,
  });
  return steps;
}

test("a worker takes back what the life before it left when it was killed, and starts where a store is away", async () => {
  expect(await freed(null)).toEqual([]);
  const steps = ["leave dead", "attend gateways dead 0", "attend senders dead 0"];
  expect((await freed("dead")).toSorted()).toEqual(
    [...steps, "what the worker before this one held is free"].toSorted(),
  );
  const away = await freed("dead", () => Promise.reject(new Error("away")));
  expect(away.at(-1)).toBe("what the worker before this one held ends by itself");
});
