import { expect, test } from "bun:test";
import type { ReadyRecord } from "@sluice/contract/schemas";
import { hostHealth } from "./host-health.ts";

const host = { version: "1.2.3", uptimeSeconds: 60, isEnding: false, knownRoles: ["gateway", "engine"] };

/** What a worker says whose role serves or not. */
function worker(role: string, serves: boolean, parts: ReadyRecord["parts"] = {}): ReadyRecord {
  const reasons = serves ? [] : [{ role, part: "nodes", is: "down", message: "no node" }];
  const all = { server: "ok", nodes: serves ? "ok" : "down", ...parts } as ReadyRecord["parts"];
  return {
    status: serves ? "ok" : "down",
    version: "1.2.3",
    uptimeSeconds: 5,
    parts: all,
    roles: { [role]: serves },
    reasons,
  };
}

test("a role serves while one worker serves it, and the host is degraded until all do", () => {
  const { health, ready } = hostHealth([worker("gateway", true), worker("gateway", false)], host);
  expect(ready("gateway")).toMatchObject({ status: "degraded", roles: { gateway: true }, reasons: [] });
  expect(health()).toMatchObject({ status: "degraded", parts: { nodes: "degraded", workers: "degraded" } });
  const whole = hostHealth([worker("gateway", true), worker("gateway", true)], host);
  expect([whole.health().status, whole.health().parts["workers"], whole.health().uptimeSeconds]).toEqual([
    "ok",
    "ok",
    60,
  ]);
});

test("a host whose workers all refuse is down, with each reason once; one whose workers do not answer as well", () => {
  const down = hostHealth([worker("gateway", false), worker("gateway", false)], host);
  expect(down.ready("gateway")).toMatchObject({ status: "down", reasons: [{ message: "no node" }] });
  expect(down.health().status).toBe("down");
  const silent = hostHealth([null, null], host);
  expect([silent.health().status, silent.health().parts["workers"]]).toEqual(["down", "down"]);
  expect(silent.ready("gateway").status).toBe("down");
});

test("other roles count for themselves: a standby of the engine leaves the host well, and is not ready", () => {
  const engine = {
    ...worker("engine", false, { engine: "standby" }),
    parts: { server: "ok", engine: "standby" },
  } as const;
  const { health, ready } = hostHealth([worker("gateway", true), engine], host);
  expect([health().status === "down", ready("gateway").status === "down", ready("engine").status]).toEqual([
    false,
    false,
    "down",
  ]);
});

test("a role that no worker runs is not ready, and that is its reason", () => {
  const { ready, roles } = hostHealth([worker("gateway", true)], host);
  expect(ready("engine")).toMatchObject({ status: "down", reasons: [{ role: "engine", is: "absent" }] });
  expect(roles).toEqual(["gateway", "engine"]);
});

test("a host that ends is down for every role, whatever its workers say", () => {
  const { health, ready } = hostHealth([worker("gateway", true)], { ...host, isEnding: true });
  expect([health().status, ready("gateway").status, ready(null).status]).toEqual(["down", "down", "down"]);
});
