import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { masterKeyId, SecretVault, seededRandom, systemClock, systemRandom } from "@sluice/lib";
import { createRestApp } from "../http/index.ts";
import { nodeSecretId, openState, type State } from "../state/index.ts";
import { addSecretRoutes } from "./secret-routes.ts";

const [before, after] = ["1".repeat(64), "2".repeat(64)];
const [idBefore, idAfter] = [before, after].map(masterKeyId) as [string, string];
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const vault = new SecretVault(after, seededRandom(1), [before]);

let directory = "";
let state: State;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "sluice-secret-routes-"));
  state = await openState({ directory, databaseUrl: null }, { clock: systemClock, random: systemRandom, log });
  const options = new SecretVault(before, seededRandom(2), []).wrap(nodeSecretId("devnet", "a"), Buffer.from("secret"));
  await state.upstreamNodes.add({ network: "devnet", label: "a", options });
});
afterEach(async () => {
  await state[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

async function rotate(): Promise<{ status: number; body: Record<string, unknown> }> {
  const app = createRestApp({ cors: "none" }, { requestId: () => "req-1", log });
  addSecretRoutes(app, { actor: "operator" }, { state, vault });
  const answer = await app.request("/secrets/rotate", { method: "POST" });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const register = (id: string, masterKeys: readonly string[] | null) =>
  state.processes.join(
    {
      ...{ id, roles: ["gateway"], version: "1.2.3", meters: true, sharesLedger: true, sharesHot: true },
      ...{ ledgerId: null, hotId: null, masterKeys },
    },
    3_600_000,
  );

test("a rotation is refused while a process lacks the new key or tells none, and names it; then it is done", async () => {
  await register("with-both", [idAfter, idBefore]);
  await register("with-the-old", [idBefore]);
  await register("of-a-release-before", null);
  const refused = await rotate();
  expect([refused.status, refused.body["code"]]).toEqual([409, "CONFLICT"]);
  const detail = String(refused.body["detail"]);
  expect(detail).toContain(`MASTER_KEY is the key ${idAfter}, and 2 of the processes`);
  expect(detail).toContain(`with-the-old (version 1.2.3, roles gateway) has ${idBefore}`);
  expect(detail).toContain("of-a-release-before (version 1.2.3, roles gateway) does not tell its keys");
  expect(detail).not.toContain("with-both");
  expect((await state.audit.list({ limit: 1 })).items).toEqual([]);
  await state.processes.leave("of-a-release-before");
  expect((await rotate()).status).toBe(409);
  await state.processes.leave("with-the-old");
  expect(await rotate()).toMatchObject({ status: 200, body: { rotated: 1, unreadable: [] } });
});

test("a rotation of stores that no process has is done", async () => {
  expect(await rotate()).toMatchObject({ status: 200, body: { rotated: 1 } });
});
