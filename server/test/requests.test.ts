import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@sluice/lib/testing";
import { type Network, post, runSluice, startNetwork } from "./testing/network.ts";

let network: Network;
const directory = mkdtempSync(join(tmpdir(), "sluice-requests-"));

beforeAll(async () => {
  network = await startNetwork({ directory, keep: true, args: ["--oracle", "off"] });
}, 60_000);
afterAll(async () => {
  await network[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

const call = (method: string, params: unknown[] = []) => ({ jsonrpc: "2.0", id: 1, method, params });
const origin = (): string => new URL(`${network.dev.doors["rpc"]}`).origin;

async function ask(path: string, key: string) {
  const answer = await fetch(`${origin()}${path}`, { headers: { "x-api-key": key } });
  return { status: answer.status, body: await answer.json() };
}

/** Makes a call and gives the id by which its answer names it. */
async function idOf(key: string, body: object): Promise<string> {
  const answer = await post(`${network.dev.doors["rpc"]}?api-key=${key}`, body);
  return answer.headers.get("x-request-id") ?? "";
}

async function command<T>(...args: string[]): Promise<T> {
  const { code, out, err } = await runSluice(["requests", ...args, "--json"], { directory: network.directory });
  if (code !== 0) throw new Error(err);
  return JSON.parse(out);
}

test("the id of an answer, a success or a refusal, finds what is known of it: by command for operators, over REST for its account", async () => {
  const { free, business } = network.dev.keys;
  const good = await idOf(free, call("getSlot"));
  const refused = await idOf(free, call("getBalance", ["not an address"]));
  const batch = await idOf(free, [call("getSlot"), call("getBlockHeight")]);
  const shown = await command<{ items: object[] }>("show", good);
  expect(shown).toMatchObject({
    request_id: good,
    items: [{ method: "getSlot", status: 200, code: null, credits: 1 }],
  });
  expect(shown.items[0]).toMatchObject({ upstream: "devnet" });
  const own = await ask(`/api/v1/requests/${refused}`, free);
  expect(own.body.items).toMatchObject([{ method: "getBalance", code: -32602, error: "INVALID_PARAMS", credits: 0 }]);
  expect((await ask(`/api/v1/requests/${batch}`, free)).body.items).toHaveLength(2);
  expect((await ask(`/api/v1/requests/${good}`, business)).status).toBe(404);
  const listed = await command<{ items: { request_id: string }[] }>(
    "list",
    "--code",
    "INVALID_PARAMS",
    "--since",
    "1h",
  );
  expect(listed.items.map(({ request_id: id }) => id)).toEqual([refused]);
  const page = await ask("/api/v1/requests?method=getSlot&limit=1", free);
  expect(page.body.items[0].request_id).toBe(batch);
  const rest = await ask(`/api/v1/requests?method=getSlot&cursor=${page.body.next_cursor}`, free);
  expect(rest.body.items[0].request_id).toBe(good);
  const unknown = await runSluice(["requests", "show", await idOf("sk_dev_none", call("getSlot"))], {
    directory: network.directory,
  });
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining("without a valid key")]);
  const text = await runSluice(["requests", "list", "--limit", "1"], { directory: network.directory });
  expect(text.out).toContain("More with --cursor");
}, 60_000);

test("what a kill takes from the ledger is told in the usage report: credits and requests are known to the last one", async () => {
  const { developer } = network.dev.keys;
  const url = `${network.dev.doors["rpc"]}?api-key=${developer}`;
  await post(url, call("getSlot"));
  expect((await ask("/api/v1/usage", developer)).body).toMatchObject({ total: { requests: 1 }, missing: [] });
  let served = 1;
  // Facts are written once a second: some of these are still in memory when the kill comes.
  for (let round = 0; round < 40; round++) {
    const answers = await Promise.all([1, 2].map(() => post(url, call("getSlot"))));
    served += answers.filter(({ status }) => status === 200).length;
  }
  await network.end("SIGKILL");
  const { portOffset } = network;
  network = await startNetwork({ directory, keep: true, args: ["--oracle", "off"], portOffset });
  const { body } = await eventually("the settlement", async () => {
    const report = await ask("/api/v1/usage?group_by=method", developer);
    return report.body.month.used === String(served) && report;
  });
  const recorded = body.total.requests;
  expect(recorded).toBeLessThan(served);
  expect(body.missing).toEqual([{ month: body.month.month, requests: served - recorded }]);
}, 120_000);
