import { describe, expect, test } from "bun:test";
import {
  accountClosedData,
  accountCreatedData,
  accountUpdatedData,
  blockEventData,
  failedEventData,
  transactionEventData,
} from "@sluice/contract/schemas";
import { type ConfirmedBlock, packBlock } from "@sluice/encode";
import { ManualClock, seededRandom } from "@sluice/lib";
import { advanceUntil } from "@sluice/lib/testing";
import type { Slot } from "@sluice/wire/identifiers";
import { stringifyJsonExact } from "@sluice/wire/json";
import { built, key } from "../../../../parser/testing/built.ts";
import { BlockReader } from "../../events/index.ts";
import type { NewDelivery, QueuedDelivery, WebhookRecord } from "../../state/index.ts";
import type { NodeAnswer, UpstreamPool } from "../../upstreams/index.ts";
import type { UpstreamFailure } from "../../upstreams/upstream-call.ts";
import { compileWebhook, switchesOf } from "../model/compiled-webhook.ts";
import { WebhookIndex } from "../model/webhook-index.ts";
import { drawBlock } from "../testing/drawn-blocks.ts";
import { AccountReads, accountReadMsMax } from "./account-reads.ts";
import { AccountStates } from "./account-states.ts";
import { BlockMemory } from "./block-memory.ts";
import { EventBlocks } from "./event-blocks.ts";
import { EventBodies } from "./event-bodies.ts";
import { WebhookBodies } from "./webhook-bodies.ts";

const network = "devnet";
const slot = 50n;

const refusal = (refused: UpstreamFailure) => ({ ok: false, refused, label: "node", repeatable: true }) as const;

interface Asked {
  readonly addresses: readonly string[];
  readonly minimumSlot: bigint;
  readonly encoding: string;
}

/** Nodes whose accounts hold what `held` says, as of a slot. */
class PlayedNodes {
  readonly asked: Asked[] = [];
  held = new Map<string, string>();
  slot = slot;
  isAway = false;
  /** More accounts make an answer that is too large. */
  most = 1_000;

  pool(): Pick<UpstreamPool, "call"> {
    const call: UpstreamPool["call"] = async ({ params }) => {
      const [addresses, config]: readonly [string[], { minContextSlot: number; encoding: string }] = JSON.parse(
        params ?? "[]",
      );
      const minimumSlot = BigInt(config.minContextSlot);
      this.asked.push({ addresses, minimumSlot, encoding: config.encoding });
      if (this.isAway || this.slot < minimumSlot) return refusal("NETWORK_UNAVAILABLE");
      if (addresses.length > this.most) return refusal("BODY_TOO_LARGE");
      const value = addresses.map((address) => {
        const data = this.held.get(address);
        if (data === undefined) return null;
        return {
          owner: key(30),
          executable: false,
          rentEpoch: 2n ** 64n - 1n,
          lamports: 1,
          space: data.length,
          data: [data, config.encoding],
        };
      });
      const answer: NodeAnswer = {
        label: "node",
        body: {
          kind: "text",
          head: '{"jsonrpc":"2.0","id":',
          tail: `,"result":${stringifyJsonExact({ context: { slot: this.slot }, value })}}`,
        },
        sizeBytes: 1,
        errorCode: null,
        isNull: false,
        contextSlot: this.slot,
        number: null,
      };
      return { ok: true, latencyMs: 1, answer } as const;
    };
    return { call };
  }
}

function stand(past: ConfirmedBlock | null = null) {
  const clock = new ManualClock();
  const nodes = new PlayedNodes();
  const reads = new AccountReads({ clock, poolOf: () => nodes.pool() });
  const states = new AccountStates(reads);
  const memory = new BlockMemory();
  const reader = new BlockReader();
  const held = { log: null as ConfirmedBlock | null, isAway: false, reads: 0 };
  const blocks = new EventBlocks({
    memory,
    reader,
    logOf: () => ({
      read: async ({ blockhash }) => {
        held.reads += 1;
        if (held.isAway) throw new Error("the log is away");
        return held.log?.blockhash === blockhash ? packBlock(held.log) : null;
      },
    }),
    past: {
      first: async () => {
        if (past === null) return null;
        const { parentSlot, previousBlockhash, blockHeight, blockTime, transactions } = past;
        const place = { slot: past.slot as Slot, blockhash: past.blockhash };
        const parent = { parentSlot: parentSlot as Slot, parentBlockhash: previousBlockhash };
        const header = { ...place, ...parent, blockTime, height: blockHeight, transactions: transactions.length };
        return { header, block: past };
      },
    },
  });
  const bodies = new EventBodies({ blocks, states, trades: { decide: async () => null } });
  return { clock, nodes, states, memory, reader, held, bodies, reads };
}

const random = seededRandom(3);
const block = drawBlock(random, slot, 30);
const allEvents = [
  "transaction.confirmed",
  "transaction.failed",
  "account.updated",
  "account.created",
  "account.closed",
  "block.confirmed",
];

/** What a webhook is told of a block. */
function toldOf(of: ConfirmedBlock, filters: Readonly<Record<string, unknown>> = {}): NewDelivery[] {
  const index = new WebhookIndex(random);
  const webhook = { id: "wh", events: allEvents, filters: JSON.stringify(filters), createdAt: 0, statusAt: 0 };
  index.add(compileWebhook(webhook));
  const events = new BlockReader().events(of);
  return index.match(events, { stage: "confirmed", genesisHash: key(77), tells: () => true, prices: null });
}

const schemas: Readonly<Record<string, { parse(value: unknown): unknown }>> = {
  "transaction.confirmed": transactionEventData,
  "transaction.failed": failedEventData,
  "account.updated": accountUpdatedData,
  "account.created": accountCreatedData,
  "account.closed": accountClosedData,
  "block.confirmed": blockEventData,
};
const plain = switchesOf('{"include_data":false}');
const sent = (delivery: NewDelivery, detail: string | null = null) =>
  ({ ...delivery, network, attempts: 0, detail }) as const;

describe("the data of an event", () => {
  test("are made of its place, from memory, the log or the past, and are the same text", async () => {
    const { memory, reader, bodies } = stand();
    memory.keep(network, reader.events(block));
    const deliveries = toldOf(block);
    expect(new Set(deliveries.map(({ event }) => event))).toEqual(new Set(allEvents));
    const ofLog = stand();
    ofLog.held.log = block;
    const ofPast = stand(block);
    for (const delivery of deliveries) {
      const made = await bodies.data(sent(delivery), plain);
      if (!made.ok) throw new Error(made.code);
      expect(made.timeMs).toBe(1_790_000_000_000);
      schemas[delivery.event]?.parse(JSON.parse(made.data));
      expect(await ofLog.bodies.data(sent(delivery), plain)).toEqual(made);
      expect(await ofPast.bodies.data(sent(delivery), plain)).toEqual(made);
    }
    expect(ofLog.held.reads).toBe(1);
  });

  test("leave out what the webhook does not want", async () => {
    const { held, bodies } = stand();
    held.log = {
      ...block,
      rewards: [{ pubkey: key(1), lamports: 1n, postBalance: 2n, rewardType: "Fee", commission: null }],
    };
    const [transaction] = toldOf(block);
    const blockEvent = toldOf(block).at(-1);
    if (transaction === undefined || blockEvent === undefined) throw new Error("nothing was told");
    const dataOf = async (delivery: NewDelivery, filters: string): Promise<Record<string, unknown>> => {
      const made = await bodies.data(sent(delivery), switchesOf(filters));
      return made.ok ? JSON.parse(made.data) : {};
    };
    expect((await dataOf(blockEvent, "{}"))["rewards"]).toHaveLength(1);
    expect(await dataOf(blockEvent, '{"include_rewards":false,"include_transactions":true}')).toMatchObject({
      rewards: [],
      transactions: block.transactions.map(({ signature }) => signature),
    });
    const bare = await dataOf(transaction, '{"include_logs":false,"include_token_transfers":false}');
    expect([bare["log_messages"], bare["token_transfers"]]).toEqual([[], []]);
  });

  test("wait while the log cannot be read, and are gone where nothing holds the block", async () => {
    const { held, bodies } = stand();
    const [delivery] = toldOf(block);
    if (delivery === undefined) throw new Error("nothing was told");
    held.isAway = true;
    expect(await bodies.data(sent(delivery), plain)).toEqual({ ok: false, code: "AWAY" });
    held.isAway = false;
    expect(await bodies.data(sent(delivery), plain)).toEqual({ ok: false, code: "GONE" });
  });
});

describe("what a delivery says", () => {
  const queued = (more: Partial<QueuedDelivery>): QueuedDelivery => {
    const [told] = toldOf(block);
    if (told === undefined) throw new Error("nothing was told");
    const never = { lastAttemptAt: null, lastStatusCode: null, lastError: null };
    return { ...told, attempts: 0, createdAt: 77, dueAt: 0, ...never, detail: null, ...more };
  };
  const webhook: WebhookRecord = {
    id: "wh",
    accountId: "acct",
    network,
    url: "https://example.com",
    events: ["transaction.confirmed"],
    filters: "{}",
    description: "",
    retryPolicy: { maxAttempts: 1, backoffMultiplier: 1 },
    fifo: false,
    status: "active",
    statusReason: null,
    statusAt: 0,
    secret: new Uint8Array(1),
    nextSecret: null,
    overlapEndsAt: null,
    retiredSecrets: [],
    createdAt: 0,
    updatedAt: 0,
    lastSuccessAt: null,
    failingSince: null,
  };

  test("is the event as the present filters of its webhook ask for it, at the time of the block", async () => {
    const { held, bodies } = stand();
    held.log = block;
    const of = new WebhookBodies(bodies);
    const last = toldOf(block).at(-1);
    const blockEvent = queued({ ...last });
    const plainly = await of.read(blockEvent, webhook);
    const withAll = await of.read(blockEvent, { ...webhook, filters: '{"include_transactions":true}' });
    expect(plainly).toMatchObject({ atMs: 1_790_000_000_000, detail: null });
    expect(plainly !== null && plainly !== "void" && plainly.data).not.toContain('"transactions":[');
    expect(withAll !== null && withAll !== "void" && withAll.data).toContain('"transactions":[');
  });

  test("is what was given with it where it is of no block, and nothing while the block cannot be had", async () => {
    const of = new WebhookBodies(stand().bodies);
    const test = queued({ event: "test.webhook", blockhash: "", detail: '{"message":"hello"}' });
    expect(await of.read(test, webhook)).toEqual({ atMs: 77, data: '{"message":"hello"}', detail: test.detail });
    expect(await of.read(queued({}), webhook)).toBeNull();
  });

  test("is void where the account did not change", async () => {
    const bodies = { data: async () => ({ ok: false, code: "NO_EVENT" }) as const };
    expect(await new WebhookBodies(bodies).read(queued({}), webhook)).toBe("void");
  });
});

describe("the data of an account", () => {
  /** Key 2 gains lamports, key 3 is written and keeps its balance. */
  const written = {
    ...block,
    transactions: [
      built({
        keys: [key(1), key(2), key(3)],
        calls: [],
        meta: { preBalances: [9_000n, 1n, 5n], postBalances: [3_000n, 1_001n, 5n] },
      }),
    ],
  };
  const filters = { accounts: [key(2), key(3)] };
  const [gained, kept] = toldOf(written, filters).filter(({ event }) => event === "account.updated");
  if (gained === undefined || kept === undefined) throw new Error("nothing was told");
  const switches = switchesOf(JSON.stringify(filters));

  test("are read once at the block or later, and an attempt later has the same", async () => {
    const { held, nodes, bodies } = stand();
    held.log = written;
    nodes.held.set(key(2), "AAEC");
    nodes.slot = slot + 3n;
    const made = await Promise.all([1, 2].map(() => bodies.data(sent(gained), switches)));
    const [first] = made;
    if (first?.ok !== true) throw new Error("nothing was made");
    expect(made[1]).toEqual(first);
    expect(nodes.asked).toEqual([{ addresses: [key(2)], minimumSlot: slot, encoding: "base64" }]);
    expect(first.data).toContain('"rent_epoch":18446744073709551615');
    expect(JSON.parse(first.data)).toMatchObject({
      lamports: 1_001,
      owner: key(30),
      data: ["AAEC", "base64"],
      observed_slot: 53,
      changes: { lamports: { old: 1, new: 1_001, delta: 1_000 } },
    });
    nodes.held.set(key(2), "AAED");
    nodes.slot = slot + 9n;
    const other = stand();
    other.held.log = written;
    expect(await other.bodies.data(sent(gained, first.detail), switches)).toEqual(first);
    expect(other.nodes.asked).toEqual([]);
  });

  test("are null where no node tells them in ten seconds, and stay null", async () => {
    const { clock, held, nodes, bodies } = stand();
    held.log = written;
    nodes.slot = slot - 1n;
    const beganMs = clock.monotonic();
    const made = await advanceUntil(clock, bodies.data(sent(gained), switches), 100);
    expect(clock.monotonic() - beganMs).toBeLessThanOrEqual(accountReadMsMax + 100);
    if (!made.ok) throw new Error(made.code);
    expect(JSON.parse(made.data)).toMatchObject({ data: null, owner: null, observed_slot: null, lamports: 1_001 });
    nodes.slot = slot;
    expect(await bodies.data(sent(gained, made.detail), switches)).toEqual(made);
  });

  test("whose balance stayed are an event only where they differ from what was read before the block", async () => {
    const unknown = stand();
    unknown.held.log = written;
    unknown.nodes.held.set(key(3), "AAAA");
    expect(await unknown.bodies.data(sent(kept), switches)).toMatchObject({ ok: true });
    for (const [before, after, changed] of [
      ["AAAA", "AAAA", false],
      ["AAAA", "AAAB", true],
    ] as const) {
      const { held, nodes, bodies, states } = stand();
      held.log = written;
      nodes.held.set(key(3), before);
      nodes.slot = slot - 1n;
      await states.observe([key(3)], { network, slot: 0n, encoding: "base64" });
      nodes.held.set(key(3), after);
      nodes.slot = slot;
      const made = await Promise.all([1, 2].map(() => bodies.data(sent(kept), switches)));
      expect(made.map(({ ok }) => ok)).toEqual([changed, changed]);
      const [first] = made;
      if (first?.ok === true) expect(JSON.parse(first.data)).toMatchObject({ changes: { lamports: { delta: 0 } } });
    }
  });

  test("of a program other than the one that was asked for are no event, whatever is asked for by now", async () => {
    const { held, nodes, bodies } = stand();
    held.log = written;
    nodes.held.set(key(2), "AAAA");
    const of = (owner: string, now = owner) => {
      const asked = toldOf(written, { ...filters, owner }).find(({ account }) => account === key(2));
      if (asked === undefined) throw new Error("nothing was told");
      const present = switchesOf(JSON.stringify({ ...filters, owner: now, include_data: false }));
      return bodies.data(sent(asked), present);
    };
    expect(await of(key(31))).toEqual({ ok: false, code: "NO_EVENT" });
    expect(await of(key(31), key(30))).toEqual({ ok: false, code: "NO_EVENT" });
    const made = await of(key(30));
    expect(made.ok && JSON.parse(made.data)).toMatchObject({ owner: key(30), data: null });
    expect(await of(key(30), key(31))).toEqual(made);
    // Nobody is asked where nothing was left to decide.
    const narrowed = switchesOf(JSON.stringify({ ...filters, owner: key(31), include_data: false }));
    expect(await bodies.data(sent(gained), narrowed)).toMatchObject({ ok: true });
    const away = stand();
    away.held.log = written;
    away.nodes.isAway = true;
    const asked = toldOf(written, { ...filters, owner: key(30) }).find(({ account }) => account === key(2));
    if (asked === undefined) throw new Error("nothing was told");
    expect(await advanceUntil(away.clock, away.bodies.data(sent(asked), switches), 100)).toEqual({
      ok: false,
      code: "AWAY",
    });
    away.nodes.isAway = false;
    expect(await away.bodies.data(sent(asked), switches)).toMatchObject({ ok: true });
  });

  test("are asked for anew by who comes later, where no node told them in time", async () => {
    const { clock, nodes, reads } = stand();
    const question = { network, account: key(1), slot, form: "base64" } as const;
    nodes.held.set(key(1), "AA==");
    nodes.slot = slot - 1n;
    expect(await advanceUntil(clock, reads.read(question), 100)).toBeNull();
    nodes.slot = slot;
    expect(await reads.read(question)).toMatchObject({ slot });
  });

  test("are asked for together, a hundred in a call and fewer where the answer is too large", async () => {
    const { nodes, reads } = stand();
    nodes.most = 30;
    for (let at = 0; at < 150; at += 1) nodes.held.set(key(at), "AA==");
    const all = await Promise.all(
      Array.from({ length: 150 }, (_, at) => reads.read({ network, account: key(at), slot, form: "base64" })),
    );
    expect(all.every((read) => read?.account !== null && read?.slot === slot)).toBe(true);
    const sizes = nodes.asked.map(({ addresses }) => addresses.length);
    expect(sizes.toSorted((one, two) => two - one)).toEqual([100, 50, 50, 50, 25, 25, 25, 25, 25, 25]);
  });

  test("of many watched accounts are observed a hundred at a time, so that deliveries wait for one call at most", async () => {
    const { nodes, states, reads } = stand();
    for (let at = 0; at < 250; at += 1) nodes.held.set(key(at), "AA==");
    const observing = states.observe(
      Array.from({ length: 250 }, (_, at) => key(at)),
      { network, slot: 1n, encoding: "base64" },
    );
    await reads.read({ network, account: key(251), slot, form: "base64" });
    const before = nodes.asked.flatMap(({ addresses }) => addresses).length;
    expect(before).toBeLessThanOrEqual(101);
    await observing;
    expect(nodes.asked.flatMap(({ addresses }) => addresses).length).toBe(251);
  });

  test("are remembered as far as their data together are not too large", async () => {
    const { nodes, reads } = stand();
    const data = "A".repeat(1024 * 1024);
    for (let at = 0; at < 80; at += 1) nodes.held.set(key(at), data);
    const read = (at: number) => reads.read({ network, account: key(at), slot, form: "base64" });
    for (let at = 0; at < 80; at += 1) await read(at);
    expect(nodes.asked.length).toBe(80);
    await read(79);
    await read(17);
    expect(nodes.asked.length).toBe(80);
    await read(0);
    expect(nodes.asked.at(-1)?.addresses).toEqual([key(0)]);
  });

  test("are told in base58 up to 128 bytes, and in base64 beyond", async () => {
    const { nodes, states } = stand();
    const read = async (bytes: number) => {
      nodes.held.set(key(9), Buffer.alloc(bytes, 1).toString("base64"));
      nodes.slot += 1n;
      return await states.read({ network, account: key(9), slot: nodes.slot, encoding: "base58" });
    };
    expect(JSON.parse((await read(2))?.data ?? "")).toEqual(["5S", "base58"]);
    expect(JSON.parse((await read(129))?.data ?? "")[1]).toBe("base64");
  });
});
