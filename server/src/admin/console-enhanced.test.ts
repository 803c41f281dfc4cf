import { expect, test } from "bun:test";
import { SluiceError } from "@sluice/contract/errors";
import { grantOfTests } from "../access/testing/grants.ts";
import { createRestApp } from "../http/index.ts";
import type { Grant } from "../keys/index.ts";
import type { AccountRecord } from "../state/index.ts";
import { addEnhancedRoutes, type ConsoleEnhanced } from "./console-enhanced.ts";

const account = {
  ...{ id: "acct_1", tiers: { platform: "developer" }, requestsPerSecond: null, creditsMonthly: null },
} as unknown as AccountRecord;

/** The routes over an enhanced API that tells what it was asked, and for whom. */
function open(grant: Grant | null | "refused") {
  const asked: { readonly viewer: Parameters<ConsoleEnhanced["fetchFor"]>[0]; readonly url: string; body: string }[] =
    [];
  const app = createRestApp({ cors: "none" }, { requestId: () => "req_1", log: { error: () => {} } });
  addEnhancedRoutes(app, {
    network: "devnet",
    account: async () => account,
    sessions: {
      admitKey: async () => {
        if (grant === "refused") throw new SluiceError("INVALID_API_KEY");
        return { accountId: "acct_1", grant };
      },
    },
    enhanced: {
      fetchFor: async (viewer, request) => {
        asked.push({ viewer, url: request.url, body: await request.text() });
        const headers = {
          "Access-Control-Allow-Origin": "*",
          "Content-Type": "application/json",
          "X-Data-Since": "then",
        };
        return new Response('{"success":true}', { status: 200, headers });
      },
    },
  });
  const ask = (path: string, init: RequestInit = {}) =>
    app.fetch(new Request(`http://console/api/v1/console/enhanced${path}`, init), {});
  return { ask, asked };
}

test("a person asks what the key asks that he signed in with, and no page of another origin may read it", async () => {
  const { ask, asked } = open(grantOfTests);
  const body = JSON.stringify({ transactions: ["x"] });
  const response = await ask("/transactions?commitment=finalized", { method: "POST", body });
  expect([response.status, await response.text()]).toEqual([200, '{"success":true}']);
  expect([response.headers.get("x-data-since"), response.headers.get("access-control-allow-origin")]).toEqual([
    "then",
    null,
  ]);
  expect(asked).toEqual([
    {
      viewer: { network: "devnet", grant: grantOfTests },
      url: "http://console/api/v1/v0/transactions?commitment=finalized",
      body,
    },
  ]);
});

test("who needs no key asks as a new key of the account would", async () => {
  const { ask, asked } = open(null);
  expect((await ask("/wallet/abc/history?limit=2")).status).toBe(200);
  const [{ viewer, url } = { viewer: null, url: "" }] = asked;
  expect(url).toBe("http://console/api/v1/v0/wallet/abc/history?limit=2");
  expect(viewer?.grant).toMatchObject({ accountId: "acct_1", tier: "developer", enhanced: { isAllowed: true } });
});

test("who is not signed in asks nothing", async () => {
  const { ask, asked } = open("refused");
  expect([(await ask("/token/abc")).status, asked]).toEqual([401, []]);
});
