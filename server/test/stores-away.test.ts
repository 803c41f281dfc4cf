/** A whole server whose PostgreSQL goes away and comes back. */

import { expect, setDefaultTimeout, test } from "bun:test";
import { eventually } from "@sluice/lib/testing";
import { Client } from "pg";
import { newSchema } from "../src/state/testing/schema.ts";
import { startCutProxy } from "./testing/cut-proxy.ts";
import { startNetwork } from "./testing/network.ts";

setDefaultTimeout(120_000);

const databaseUrl = Bun.env["DATABASE_URL"] ?? "";
if (databaseUrl === "") console.warn("NOT RUN: a server whose PostgreSQL goes away (DATABASE_URL is not set)");

if (databaseUrl !== "") {
  test("without PostgreSQL known keys are served by a bounded advance, which is charged when it is back", async () => {
    const target = new URL(databaseUrl);
    await using schema = await newSchema(databaseUrl);
    await using proxy = await startCutProxy({ host: target.hostname, port: Number(target.port) || 5_432 });
    const through = new URL(schema.url);
    through.host = `127.0.0.1:${proxy.port}`;
    await using network = await startNetwork({
      env: { DATABASE_URL: through.href },
      args: ["--oracle", "off"],
    });
    const rpc = `${network.dev.doors["rpc"]}`;
    const key = network.dev.keys.professional;
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getSlot" });
    const call = async (presented: string): Promise<{ status: number; code: string | null }> => {
      const headers = { "content-type": "application/json", "x-api-key": presented };
      const answer = await fetch(rpc, { method: "POST", headers, body });
      const { error } = (await answer.json()) as { error?: { data?: { code?: string } } };
      return { status: answer.status, code: error?.data?.code ?? null };
    };
    let served = 0;
    const serve = async (calls: number): Promise<void> => {
      for (let each = 0; each < calls; each += 1) {
        expect(await call(key)).toEqual({ status: 200, code: null });
        served += 1;
      }
    };
    const direct = new Client({ connectionString: schema.url });
    await direct.connect();
    await using _closed = { [Symbol.asyncDispose]: () => direct.end() };
    const used = async (): Promise<number> => {
      const { rows } = await direct.query("select used from credits where account_id = $1", [
        await ownerOf(direct, key),
      ]);
      return Number(rows[0]?.used ?? 0);
    };
    await serve(20);
    const leased = await used();
    proxy.cut();
    // More than was leased: the rest is of the advance.
    await serve(leased + 200);
    const strange = await call(network.dev.keys.business);
    expect(strange).toEqual({ status: 503, code: "STORE_UNAVAILABLE" });
    const said = network.said();
    expect(said.split("accounts are served by advances").length - 1).toBe(1);
    expect(said).not.toContain("internal error");
    proxy.heal();
    await eventually("the advance is charged", async () => {
      await serve(1);
      return network.said().includes("all advances are charged");
    });
    await network.end("SIGTERM");
    expect(await used()).toBe(served);
  });
}

/** The account of a key, by the key's hash. */
async function ownerOf(client: Client, key: string): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256").update(key).digest("hex");
  const { rows } = await client.query("select account_id from api_keys where hash = $1", [hash]);
  return String(rows[0]?.account_id);
}
