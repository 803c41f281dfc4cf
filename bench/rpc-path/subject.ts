/**
 * One server under measurement, in a process of its own: `echo` is Bun.serve with a body and nothing else, `headers` adds
 * nine response headers, `gateway` is the whole door with its real rooms over a stub node. It reports its CPU time when
 * asked over the process channel.
 */
import { formatApiKey } from "@sluice/contract";
import { AnswerCache } from "../../server/src/cache/index.ts";
import { createCredits } from "../../server/src/credits/index.ts";
import { GatewayDoor, PubSubDoor } from "../../server/src/door/index.ts";
import { createRequestIds } from "../../server/src/http/index.ts";
import { createKeys } from "../../server/src/keys/index.ts";
import { compileAddressSet, systemClock, systemRandom } from "../../server/src/lib/index.ts";
import { createLimits } from "../../server/src/limits/index.ts";
import { Rpc } from "../../server/src/rpc/index.ts";
import type { AccountRecord, KeyRecord } from "../../server/src/state/index.ts";
import { createUpstreams, type NodeAnswer, type UpstreamOutcome } from "../../server/src/upstreams/index.ts";

const [, , kind = "echo", nodePort = "0"] = process.argv;
const key = formatApiKey("dev", (length) => new Uint8Array(length).fill(7));
const log = { warn: () => {} };

function bare(): number {
  const value = "x".repeat(400);
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const text = await request.text();
      if (kind === "echo") return new Response(text);
      return new Response(value, {
        headers: {
          "content-type": "application/json",
          "x-request-id": "req_1",
          "x-ratelimit-limit": "1000",
          "x-ratelimit-remaining": "1999",
          "x-ratelimit-reset": "1800000000",
          "x-ratelimit-burst": "2000",
          "x-cache-status": "HIT",
          "x-rpc-endpoint": "local",
          "x-rpc-latency-ms": "0",
        },
      });
    },
  });
  return server.port ?? 0;
}

function keyRecords(): { key: KeyRecord; account: AccountRecord } {
  const hash = new Bun.CryptoHasher("sha256").update(key).digest("hex");
  return {
    key: {
      id: "key_1",
      accountId: "acc_1",
      name: "bench",
      hash,
      hint: "",
      environment: "dev",
      status: "active",
      restrictions: { networks: [], domains: [], ipRanges: [] },
      enhanced: true,
      enhancedRequestsPerSecond: null,
      permissions: ["read"],
      requestsPerSecond: null,
      expiresAt: null,
      createdAt: 0,
      lastUsedAt: null,
    },
    account: {
      id: "acc_1",
      name: "bench",
      createdAt: 0,
      tiers: { platform: "enterprise", oracle: "community", "oracle-v2": "community" },
      requestsPerSecond: 10_000_000,
      creditsMonthly: null,
    },
  };
}

async function gateway(): Promise<number> {
  const records = keyRecords();
  const keys = createKeys(
    { developmentKeys: "accept" },
    { clock: systemClock, findByHash: async () => records, touch: async () => {}, log },
  );
  const credits = createCredits(
    {},
    {
      clock: systemClock,
      log,
      store: { lease: async (_id, _month, want) => want, giveBack: async () => {}, used: async () => 0n },
    },
  );
  const node = { label: "local", url: `http://127.0.0.1:${nodePort}`, ws: `ws://127.0.0.1:${nodePort}`, headers: {} };
  const upstreams = createUpstreams(
    { networks: { mainnet: [], devnet: [node], testnet: [] } },
    {
      clock: systemClock,
      random: systemRandom,
      onSlot: (network, commitment) => cache.slotMoved(network, commitment),
    },
  );
  const cache = new AnswerCache<NodeAnswer, UpstreamOutcome>(
    {},
    { clock: systemClock, isLive: (network, commitment) => upstreams.pool(network)?.isLive(commitment) ?? false },
  );
  const facts: unknown[] = [];
  const shared = {
    clock: systemClock,
    keys,
    limits: createLimits({}, { clock: systemClock }),
    credits,
    requestId: createRequestIds({ random: systemRandom }),
    served: (fact: unknown) => {
      facts[0] = fact;
    },
    events: { requestRefused: () => {}, faultCaught: console.error, pubsubOpened: () => {}, pubsubClosed: () => {} },
  };
  const trustedProxies = compileAddressSet([]);
  const pubsub = new PubSubDoor({ networkDefault: "devnet", trustedProxies }, { ...shared, target: () => null });
  const door = new GatewayDoor(
    { hostname: "127.0.0.1", port: 0, pubsubPort: null, networkDefault: "devnet", trustedProxies },
    {
      ...shared,
      rpc: new Rpc({ allowUnknownMethods: false }, { cache, pool: (network) => upstreams.pool(network) }),
      pubsub,
      sockets: [pubsub],
      apps: [],
      health: () => ({ status: "ok", version: "", uptimeSeconds: 0, parts: {} }),
    },
  );
  upstreams.start();
  await Bun.sleep(500);
  return door.port;
}

const port = kind === "gateway" ? await gateway() : bare();
process.send?.({ port, key });
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ user, system });
});
