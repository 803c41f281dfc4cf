import { expect, test } from "bun:test";
import { createSolanaRpc } from "@solana/kit";
import { TextRandom } from "../../random.ts";
import { call, post } from "../testing/boot.ts";
import { corrupted, corruptions } from "./edge.ts";
import { bootFaultyNode, RawSubscriber } from "./testing/faulty-node.ts";

const slotCall = '{"jsonrpc":"2.0","id":7,"method":"getSlot","params":[{"commitment":"processed"}]}';

async function elapsedMs(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await work();
  return performance.now() - before;
}

test("slow answers wait, for the methods that were named, over HTTP and over a socket", async () => {
  await using faulty = await bootFaultyNode();
  const { rpcUrl, wsUrl } = faulty.node;
  await faulty.admin("devnet_slow", { ms: 150, share: 1, methods: ["getSlot", "getVersion"] });
  expect(await elapsedMs(() => createSolanaRpc(rpcUrl).getSlot().send())).toBeGreaterThanOrEqual(145);
  expect(await elapsedMs(() => call(rpcUrl, "getBlockHeight"))).toBeLessThan(145);
  using subscriber = await RawSubscriber.open(wsUrl);
  expect(await elapsedMs(() => subscriber.ask("getVersion"))).toBeGreaterThanOrEqual(145);
  await faulty.admin("devnet_clear");
  expect(await elapsedMs(() => call(rpcUrl, "getSlot"))).toBeLessThan(145);
});

test("the share that fails is the same calls each time the fault is set", async () => {
  await using faulty = await bootFaultyNode();
  const fates = async (): Promise<unknown[]> => {
    await faulty.admin("devnet_error", { share: 0.4, code: -32005 });
    const answers: unknown[] = [];
    for (let calls = 0; calls < 40; calls += 1) answers.push((await call(faulty.node.rpcUrl, "getSlot")).error?.code);
    return answers;
  };
  const first = await fates();
  expect(first.filter((code) => code === -32005).length).toBeWithin(6, 27);
  expect(await fates()).toEqual(first);
  await faulty.admin("devnet_clear");
  expect((await call(faulty.node.rpcUrl, "getSlot")).result).toBe(0);
});

test("an error on demand is a JSON-RPC error to kit, in a batch too, and devnet_* pass through every endpoint", async () => {
  await using faulty = await bootFaultyNode();
  const { rpcUrl } = faulty.node;
  await faulty.admin("devnet_error", { code: -32016 });
  await expect(createSolanaRpc(rpcUrl).getSlot().send()).rejects.toMatchObject({ context: { __code: -32016 } });
  const batch = await (await post(rpcUrl, `[${slotCall},${slotCall}]`)).json();
  const failure = { jsonrpc: "2.0", error: { code: -32016, message: "Fault on demand" }, id: 7 };
  expect(batch).toEqual([failure, failure]);
  expect(await call(rpcUrl, "devnet_clear")).toMatchObject({ result: {} });
  expect(await createSolanaRpc(rpcUrl).getSlot().send()).toBe(0n);
});

test("a node that refuses HTTP says 503; one that refuses connections resets them until it is cleared, on its old port", async () => {
  await using faulty = await bootFaultyNode();
  const { rpcUrl, wsUrl } = faulty.node;
  await faulty.admin("devnet_refuse", { connections: false });
  expect((await post(rpcUrl, slotCall)).status).toBe(503);
  using subscriber = await RawSubscriber.open(wsUrl);
  expect(await faulty.admin("devnet_refuse", { connections: true })).toEqual({ refuse: { connections: true } });
  expect(await subscriber.closed).toBeGreaterThan(1_000);
  await expect(post(rpcUrl, slotCall)).rejects.toThrow();
  await expect(RawSubscriber.open(wsUrl)).rejects.toBeDefined();
  expect(await faulty.admin("devnet_clear")).toEqual({});
  expect((await call(rpcUrl, "getHealth")).result).toBe("ok");
  using again = await RawSubscriber.open(wsUrl);
  expect(await again.ask("getVersion")).toHaveProperty("solana-core");
});

test("a frozen node closes no slot and answers nothing until its time is over or it is cleared", async () => {
  await using faulty = await bootFaultyNode();
  const { rpcUrl, wsUrl } = faulty.node;
  using subscriber = await RawSubscriber.open(wsUrl);
  await faulty.admin("devnet_freeze", 60_000);
  await faulty.closeSlots(3);
  let answered = 0;
  const hanging = [post(rpcUrl, slotCall), fetch(`${rpcUrl}/health`), subscriber.ask("getVersion")].map((answer) =>
    Promise.resolve(answer).then(() => {
      answered += 1;
    }),
  );
  await Bun.sleep(60);
  expect(answered).toBe(0);
  expect(await call(rpcUrl, "devnet_info")).toMatchObject({ result: { slot: 0, faults: { freeze: true } } });
  await faulty.admin("devnet_clear");
  await Promise.all(hanging);
  await faulty.closeSlots(1);
  expect((await call(rpcUrl, "getSlot", [{ commitment: "processed" }])).result).toBe(1);
  await faulty.admin("devnet_freeze", 80);
  expect(await elapsedMs(() => call(rpcUrl, "getSlot"))).toBeGreaterThanOrEqual(40);
});

test("corrupt answers: ended early, random bytes, a bit turned over, another call's id; then whole again", async () => {
  await using faulty = await bootFaultyNode();
  const { rpcUrl } = faulty.node;
  const whole = '{"jsonrpc":"2.0","result":0,"id":7}\n';
  const answer = async (kind: (typeof corruptions)[number]) => {
    await faulty.admin("devnet_corrupt", { share: 1, kind });
    return (await post(rpcUrl, slotCall)).bytes();
  };
  const cut = new TextDecoder().decode(await answer("truncate"));
  expect(whole.startsWith(cut) && cut.length < whole.length - 1).toBe(true);
  await expect(createSolanaRpc(rpcUrl).getSlot().send()).rejects.toThrow("JSON");
  expect(await answer("garbage")).toHaveLength(whole.length);
  expect(new TextDecoder().decode(await answer("wrong-id"))).toBe('{"jsonrpc":"2.0","result":0,"id":8}\n');
  const flipped = await answer("bitflip");
  const differing = [...new TextEncoder().encode(whole)].map((byte, index) => byte ^ (flipped[index] ?? 0));
  expect(differing.filter((bits) => bits !== 0)).toHaveLength(1);
  await faulty.admin("devnet_clear");
  expect(await createSolanaRpc(rpcUrl).getSlot().send()).toBe(0n);
  expect(await (await post(rpcUrl, slotCall)).text()).toBe(whole);
});

test("the corruption of an answer follows from the seed", () => {
  const answer = new TextEncoder().encode(
    '[{"jsonrpc":"2.0","result":1,"id":"a"},{"jsonrpc":"2.0","result":2,"id":null}]',
  );
  for (const kind of corruptions) {
    const once = corrupted(answer, kind, new TextRandom("x"));
    expect(corrupted(answer, kind, new TextRandom("x"))).toEqual(once);
    expect(once).not.toEqual(answer);
  }
  const wrong = corrupted(answer, "wrong-id", new TextRandom("x"));
  const ids = (JSON.parse(new TextDecoder().decode(wrong)) as { id: unknown }[]).map(({ id }) => id);
  expect(ids).toEqual(["ax", 0]);
});

test("the seeded draws are even, and differ between seeds", () => {
  const share = (seed: string) => {
    const random = new TextRandom(seed);
    let fell = 0;
    for (let draw = 0; draw < 20_000; draw += 1) if (random.falls(0.3)) fell += 1;
    return fell;
  };
  expect(share("a") / 20_000).toBeCloseTo(0.3, 1);
  expect(share("a")).toBe(share("a"));
  expect(share("a")).not.toBe(share("b"));
  expect(new TextRandom("a").falls(0)).toBe(false);
  expect(new TextRandom("a").falls(1)).toBe(true);
});

test("settings out of bounds or unknown are refused with -32602 and turn nothing on", async () => {
  await using faulty = await bootFaultyNode();
  for (const [method, params, said] of [
    ["devnet_slow", { ms: 10, share: 1.5 }, "share must be from 0 to 1"],
    ["devnet_slow", { ms: 700_000 }, "ms must be from 0 to 600000"],
    ["devnet_corrupt", { kind: "melt" }, "unknown variant `melt`"],
    ["devnet_error", { code: 5 }, "code must be a negative i32"],
    ["devnet_dropPubsub", { part: 1 }, "unknown field `part`"],
    ["devnet_lag", 0, "slots must be from 1 to 512"],
    ["devnet_freeze", 0, "ms must be from 1 to 600000"],
    ["devnet_skipSlots", -1, "expected u64"],
  ] as const) {
    await expect(faulty.admin(method, params)).rejects.toThrow(said);
  }
  expect(await faulty.admin("devnet_info")).toMatchObject({ faults: {} });
});
