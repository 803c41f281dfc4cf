/** Whether a client of the gateway is told what a client of the node is told: the same notifications, byte for byte. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { eventually } from "@sluice/lib/testing";
import { type FaultyChain, startFaultyChain } from "./testing/chain.ts";
import { type Network, startNetwork } from "./testing/network.ts";
import { PubSubRecorder } from "./testing/pubsub-recorder.ts";

setDefaultTimeout(120_000);

const tokenProgram = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const systemProgram = "11111111111111111111111111111111";
const voteProgram = "Vote111111111111111111111111111111111111111";
const clock = "SysvarC1ock11111111111111111111111111111111";
const slotHistory = "SysvarS1otHistory11111111111111111111111111";
/** Slots that are compared at least, of each subscription. */
const slotsMin = 12;

const at = (commitment: string, more: object = {}) => ({ commitment, ...more });
const commitments = ["processed", "confirmed", "finalized"];
const settled = ["confirmed", "finalized"];

/** Every kind with every option that changes what is told. */
const subscriptions: readonly (readonly [method: string, params: readonly unknown[]])[] = [
  ...["slotSubscribe", "rootSubscribe", "slotsUpdatesSubscribe", "voteSubscribe"].map(
    (method) => [method, []] as const,
  ),
  ...commitments.flatMap((commitment) => [
    ["accountSubscribe", [clock, at(commitment, { encoding: "jsonParsed" })]] as const,
    ["logsSubscribe", ["all", at(commitment)]] as const,
    ["logsSubscribe", ["allWithVotes", at(commitment)]] as const,
    ["logsSubscribe", [{ mentions: [tokenProgram] }, at(commitment)]] as const,
    ["logsSubscribe", [{ mentions: [voteProgram] }, at(commitment)]] as const,
    ["programSubscribe", [tokenProgram, at(commitment, { encoding: "base64", filters: [{ dataSize: 165 }] })]] as const,
  ]),
  ...[undefined, "base58", "base64", "base64+zstd"].flatMap((encoding) => [
    ["accountSubscribe", [clock, at("confirmed", encoding === undefined ? {} : { encoding })]] as const,
  ]),
  ["accountSubscribe", [slotHistory, at("confirmed")]],
  ["programSubscribe", [tokenProgram, at("confirmed", { encoding: "jsonParsed" })]],
  ["programSubscribe", [systemProgram]],
  ...settled.flatMap((commitment) => [
    ["blockSubscribe", ["all", at(commitment, { maxSupportedTransactionVersion: 0 })]] as const,
    ["blockSubscribe", ["all", at(commitment)]] as const,
    [
      "blockSubscribe",
      [{ mentionsAccountOrProgram: tokenProgram }, at(commitment, { maxSupportedTransactionVersion: 0 })],
    ] as const,
  ]),
  ...["base58", "json", "jsonParsed"].flatMap((encoding) =>
    ["full", "accounts"].map((transactionDetails) => {
      const more = { encoding, transactionDetails, showRewards: true, maxSupportedTransactionVersion: 0 };
      return ["blockSubscribe", ["all", at("confirmed", more)]] as const;
    }),
  ),
  ...["signatures", "none"].map((transactionDetails) => {
    const more = { transactionDetails, showRewards: transactionDetails === "none" };
    return ["blockSubscribe", ["all", at("finalized", more)]] as const;
  }),
];

let chain: FaultyChain;
let network: Network;
beforeAll(async () => {
  chain = await startFaultyChain("--slot-ms", "300", "--finalized-after", "8", "--traffic", "12");
  network = await startNetwork({
    env: { UPSTREAMS_DEVNET: `one=${chain.rpc};ws=${chain.ws}`, ROLES: "gateway,ingest,streams" },
    args: ["--oracle", "off"],
  });
}, 90_000);
afterAll(async () => {
  await network?.[Symbol.asyncDispose]();
  await chain?.[Symbol.asyncDispose]();
}, 30_000);

test("every subscription is told what the node tells, byte for byte and in its order", async () => {
  await eventually("blocks of the log near the head", blocksAreNear, 60_000);
  using node = await PubSubRecorder.open(chain.ws);
  using client = await PubSubRecorder.open(network.webSocketUrl);
  const pairs: { readonly name: string; readonly own: readonly string[]; readonly shared: readonly string[] }[] = [];
  for (const [method, params] of subscriptions) {
    const [own, shared] = [await node.subscribe(method, params), await client.subscribe(method, params)];
    pairs.push({ name: `${method} ${JSON.stringify(params)}`, own, shared });
  }
  // What the one was told earlier or later than the other is compared by nobody.
  const report = await eventually(
    "notifications of everything",
    () => {
      const found = pairs.map(({ name, own, shared }) => compared(name, own, shared));
      return found.every(({ slots }) => slots >= slotsMin) ? found : null;
    },
    90_000,
  );
  expect(report.filter(({ difference }) => difference !== null)).toEqual([]);
  // What blocks say is not asked of the node.
  const ofBlocks = /^root|^block|^logs.*(confirmed|finalized)/;
  const asked = subscriptions.filter(([method, params]) => !ofBlocks.test(`${method} ${JSON.stringify(params)}`));
  expect(await metric("sluice_pubsub_subscriptions")).toBe(subscriptions.length);
  expect(await metric("sluice_pubsub_node_subscriptions")).toBe(asked.length);
  expect(await metric("sluice_pubsub_node_connections")).toBe(1);
});

/** Whether what blocks say is told from the log: it has blocks of every stage, near those of the node. */
async function blocksAreNear(): Promise<boolean> {
  using client = await PubSubRecorder.open(network.webSocketUrl);
  for (const commitment of settled) await client.subscribe("logsSubscribe", ["all", at(commitment)]);
  const isNear = (await metric("sluice_pubsub_node_subscriptions")) === 0;
  client[Symbol.dispose]();
  await eventually("no subscription", async () => (await metric("sluice_pubsub_subscriptions")) === 0);
  return isNear;
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${network.dev.doors["metrics"]}`)).text();
  const line = text.split("\n").find((each) => each.startsWith(`${name}{`));
  return Number(line?.slice(line.lastIndexOf(" ")) ?? 0);
}

/** The slot that a notification is about; null where it names none. */
function slotOf(result: string): number | null {
  const found = /^(\d+)$|"slot":(\d+)|"slots":\[(?:\d+,)*(\d+)/.exec(result);
  const digits = found?.[1] ?? found?.[2] ?? found?.[3];
  return digits === undefined ? null : Number(digits);
}

/** Compares what both were told of the slots that both were told of from their beginning to their end. */
function compared(name: string, own: readonly string[], shared: readonly string[]) {
  const slotsOf = (results: readonly string[]): number[] => results.map((result) => slotOf(result) ?? Number.NaN);
  const first = Math.max(slotsOf(own)[0] ?? 0, slotsOf(shared)[0] ?? 0);
  const last = Math.min(slotsOf(own).at(-1) ?? 0, slotsOf(shared).at(-1) ?? 0);
  const within = (results: readonly string[]): string[] =>
    results.filter((result) => (slotOf(result) ?? 0) > first && (slotOf(result) ?? 0) < last);
  const [left, right] = [within(own), within(shared)];
  const index = left.findIndex((result, place) => result !== right[place]);
  const differs = index >= 0 || left.length !== right.length;
  const difference = differs ? { node: left[index], gateway: right[index], counts: [left.length, right.length] } : null;
  return { name, slots: new Set(left.map(slotOf)).size, difference };
}
