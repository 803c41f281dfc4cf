/**
 * The rooms of a request's way in one process: gateway, keys, limits, credits, rpc, cache and upstreams as they are,
 * over accounts in memory and without a ledger. sluice-rooms.ts <node's URL or port,...> <requests a second>; prints
 * {"port", "key"} and ends with its standard input.
 */
import { formatApiKey } from "@sluice/contract/api-key";
import { compileAddressSet, systemClock, systemRandom } from "@sluice/lib";
import { Access } from "../../server/src/access/index.ts";
import { AnswerCache } from "../../server/src/cache/index.ts";
import { createCredits, tallyInMemory } from "../../server/src/credits/index.ts";
import { MeterInMemory } from "../../server/src/credits/testing/meter-in-memory.ts";
import { GatewayServer } from "../../server/src/gateway/index.ts";
import { createRequestIds } from "../../server/src/http/index.ts";
import { fixedProbes } from "../../server/src/http/testing/fixed-probes.ts";
import { createKeys, grantOf } from "../../server/src/keys/index.ts";
import { record } from "../../server/src/keys/testing/booted-keys.ts";
import { createLimits } from "../../server/src/limits/index.ts";
import { Rpc } from "../../server/src/rpc/index.ts";
import type { AccountRecord } from "../../server/src/state/index.ts";
import { PubSubEndpoint } from "../../server/src/streams/index.ts";
import { createUpstreams, type NodeAnswer, type UpstreamOutcome } from "../../server/src/upstreams/index.ts";

const [nodeList = "", rate = "1"] = process.argv.slice(2);
const requestsPerSecond = Number(rate);
const presented = formatApiKey("live", (length) => systemRandom.bytes(length));
const quiet = { warn: () => undefined };

const account: AccountRecord = {
  id: "acc_1",
  name: "bench",
  createdAt: 0,
  tiers: { platform: "business", oracle: "community", "oracle-v2": "community" },
  requestsPerSecond,
  creditsMonthly: 1_000_000_000_000n,
  disabledAt: null,
};

const clock = systemClock;
const keys = createKeys(
  { developmentKeys: "accept" },
  { clock, findByHash: async () => ({ key: record(presented), account }), touch: async () => undefined, log: quiet },
);
const granted = await keys.authenticate(presented);
if (!granted.ok) throw new Error(granted.code);
const credits = createCredits(
  {},
  { clock, log: quiet, store: new MeterInMemory(), tally: tallyInMemory("bench", 10_000) },
);
const urls = nodeList.split(",").map((node) => (node.includes("://") ? node : `http://127.0.0.1:${node}`));
const nodes = urls.map((url, index) => ({
  label: `stub-${index + 1}`,
  url,
  ws: url.replace("http", "ws"),
  headers: {},
  groups: ["read", "archive", "send"] as const,
  weight: 1,
  requestsPerSecond: null,
}));
const upstreams = createUpstreams(
  {
    networks: {
      mainnet: [],
      devnet: nodes,
      testnet: [],
    },
  },
  { clock, random: systemRandom, onSlot: (network, commitment) => cache.slotMoved(network, commitment) },
);
const cache = new AnswerCache<NodeAnswer, UpstreamOutcome>(
  {},
  { clock, isLive: (network, commitment) => upstreams.pool(network)?.isLive(commitment) ?? false },
);
const rpc = new Rpc(
  { allowUnknownMethods: false },
  { clock, cache, pool: (network) => upstreams.pool(network), sent: null },
);
let factBytes = 0;
const shared = {
  clock,
  access: new Access(
    { trustedProxies: compileAddressSet([]) },
    {
      keys: { authenticate: keys.authenticate.bind(keys), remembered: () => null, checkRestrictions: () => null },
      limits: createLimits({}, { clock }),
      credits,
    },
  ),
  requestId: createRequestIds({ random: systemRandom }),
  served: (fact: { bytesOut: number }) => {
    factBytes += fact.bytesOut;
  },
  events: {
    requestRefused: () => undefined,
    internalError: (where: string, fault: unknown) => console.error(where, fault),
    largeAnswerEnded: () => undefined,
    pubsubOpened: () => undefined,
    pubsubClosed: () => undefined,
    pubsubMoved: () => undefined,
    pubsubShared: () => undefined,
    pubsubPlaced: () => undefined,
    pubsubUpstreams: () => undefined,
    pubsubBridged: () => undefined,
    pubsubWaited: () => undefined,
  },
};
const place = { networkDefault: "devnet", trustedProxies: compileAddressSet([]) } as const;
const pubsub = new PubSubEndpoint(place, { ...shared, random: systemRandom, pool: () => null });
const server = new GatewayServer(
  { ...place, hostname: "127.0.0.1", port: 0, pubsubPort: null },
  {
    ...shared,
    rpc,
    pubsub,
    sockets: [],
    apps: [],
    probes: fixedProbes(() => (factBytes >= 0 ? "ok" : "down")),
  },
);
upstreams.start();
// The tier's numbers are worked out as for any key; only the rate is out of the way.
if (grantOf(record(presented), account).buckets.requests[0].requestsPerSecond !== requestsPerSecond)
  throw new Error("the rate was not taken");
console.log(JSON.stringify({ port: server.port, key: presented }));
for await (const _ of Bun.stdin.stream()) {
  // Nothing is written to this stream; it ends when the parent does.
}
process.exit(0);
