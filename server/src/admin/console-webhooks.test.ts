import { expect, test } from "bun:test";
import type { Permission } from "@sluice/contract/tiers";
import { createRestApp, type RestEnvironment } from "../http/index.ts";
import type { Grant } from "../keys/index.ts";
import type { WebhookManagement } from "../webhooks/index.ts";
import { addConsoleWebhooks } from "./console-webhooks.ts";

const grant = (permissions: readonly Permission[]): Grant => ({
  ok: true,
  keyId: "key_1",
  accountId: "acct_1",
  tier: "business",
  tiers: { platform: "business", oracle: "community", "oracle-v2": "community" },
  permissions,
  methods: null,
  restrictions: { networks: new Set(["mainnet"]), domains: null, addresses: null },
  buckets: {
    requests: [{ bucket: "b", requestsPerSecond: 1, burst: 2 }],
    send: [{ bucket: "b", requestsPerSecond: 1, burst: 2 }],
    messages: [{ bucket: "b", requestsPerSecond: 1, burst: 2 }],
  },
  enhanced: { isAllowed: true, buckets: [{ bucket: "b", requestsPerSecond: 1, burst: 2 }] },
  creditsMonthly: null,
  expiresAt: null,
});

const account = async (id: string) => ({
  id,
  name: "owner",
  createdAt: 0,
  tiers: { platform: "professional", oracle: "community", "oracle-v2": "community" } as const,
  requestsPerSecond: null,
  creditsMonthly: null,
  disabledAt: null,
});

/** What of the management is reached by these routes tells who asked; whatever else is asked of it throws. */
function open(held: Grant | null) {
  const app = createRestApp(
    { cors: "none" },
    { requestId: () => "req_1", log: { error: (_fields, message) => expect(message).toBe("") } },
  );
  const told = (owner: Parameters<WebhookManagement["get"]>[0], id: string) => ({
    id,
    accountId: owner.accountId,
    tier: owner.tier,
    networks: (["mainnet", "devnet"] as const).filter((network) => owner.allowsNetwork(network)),
  });
  const webhooks = {
    get: async (...asked: Parameters<typeof told>) => told(...asked),
    pause: async (...asked: Parameters<typeof told>) => told(...asked),
  };
  addConsoleWebhooks(app, {
    // The routes of this test reach these two.
    parts: { webhooks: webhooks as unknown as WebhookManagement, deliveries: null },
    network: "devnet",
    sessions: { admitKey: async () => ({ accountId: "acct_1", grant: held }) },
    account,
  });
  return async (method: string, path: string) => {
    const response = await app.fetch(
      new Request(`http://console/api/v1/console/webhooks${path}`, { method }),
      {} as RestEnvironment["Bindings"],
    );
    return { status: response.status, body: await response.json() };
  };
}

test("who is signed in manages the webhooks of the account as by the key of the session, with the tier of the account", async () => {
  const ask = open(grant(["read", "webhooks:write"]));
  const owner = { id: "wh_1", accountId: "acct_1", tier: "professional", networks: ["mainnet"] };
  expect(await ask("GET", "/wh_1")).toEqual({ status: 200, body: owner });
  expect(await ask("POST", "/wh_1/pause")).toEqual({ status: 200, body: owner });
});

test("a session of a key without the permission reads, and is told what it needs to change something", async () => {
  const ask = open(grant(["read"]));
  expect((await ask("GET", "/wh_1")).status).toBe(200);
  const { status, body } = await ask("POST", "/wh_1/pause");
  expect([status, body.code, body.detail]).toEqual([
    403,
    "PERMISSION_DENIED",
    "The key that you signed in with needs the permission webhooks:write",
  ]);
});

test("the owner of a development machine may do all", async () => {
  const ask = open(null);
  const { status, body } = await ask("POST", "/wh_1/pause");
  expect([status, body.networks]).toEqual([200, ["mainnet", "devnet"]]);
});
