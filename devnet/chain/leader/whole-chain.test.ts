import { expect, test } from "bun:test";
import { Keypair, PublicKey, SystemProgram } from "@solana/web3.js";
import { tipAccounts } from "../consensus/tips/tip-programs.ts";
import { bootFaultyNode } from "../faults/testing/faulty-node.ts";
import { parseCommandLine } from "../options.ts";
import { call } from "../testing/boot.ts";
import { signed } from "../testing/chain.ts";
import { FakeBlockEngine, packetOf } from "./testing/fake-block-engine.ts";

const entryPath = new URL("../main.ts", import.meta.url).pathname;

interface Ready {
  readonly rpc: string;
  readonly admin: string;
  readonly blockEngine?: string;
}

async function readyLine(child: { readonly stdout: ReadableStream<Uint8Array> }): Promise<Ready> {
  let text = "";
  for await (const part of child.stdout) {
    text += new TextDecoder().decode(part);
    if (text.includes("\n")) break;
  }
  return JSON.parse(text) as Ready;
}

const result = async <T>(url: string, method: string, ...params: readonly unknown[]): Promise<T> =>
  (await call(url, method, params)).result as T;

interface Info {
  readonly blockEngine: { readonly url: string | null; readonly links: readonly { readonly connected: boolean }[] };
  readonly bundles: { readonly landed: number };
  readonly validators: readonly { readonly identity: string }[];
}

/**
 * Gives a bundle to the current leader until it has landed, as an engine that knows the schedule does, and gives its
 * slot.
 */
async function deliver(engine: FakeBlockEngine, rpc: string, bundle: readonly ReturnType<typeof signed>[]) {
  for (let given = ""; ; ) {
    const leader = await result<string>(rpc, "getSlotLeader", { commitment: "processed" });
    if (leader !== given) engine.sendBundle(leader, bundle.map(packetOf));
    given = leader;
    const found = await result<{ value: readonly ({ slot: number; err: unknown } | null)[] }>(
      rpc,
      "getSignatureStatuses",
      bundle.map(({ id }) => id),
    );
    if (found.value.every((status) => status !== null)) return found.value;
  }
}

test("the chain's process serves an engine with all its validators, outlives it, and ends in order", async () => {
  await using engine = await FakeBlockEngine.start();
  const flags = ["--rpc-port", "0", "--pubsub-port", "0", "--admin", "--slot-ms", "100", "--finalized-after", "4"];
  const linked = ["--block-engine", engine.url, "--block-engine-retry-ms", "20"];
  const child = Bun.spawn([process.execPath, entryPath, ...flags, ...linked], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  });
  const { rpc, admin, blockEngine } = await readyLine(child);
  expect(blockEngine).toBe(engine.url);
  const payer = Keypair.generate();
  const airdrop = await result<string>(rpc, "requestAirdrop", payer.publicKey.toBase58(), 5_000_000_000);
  const isDone = async () => (await result<unknown>(rpc, "getTransaction", airdrop, { encoding: "base64" })) !== null;
  while (!(await isDone()));
  const { validators } = await result<Info>(admin, "devnet_info");
  await Promise.all(validators.map(({ identity }) => engine.subscribed(identity)));
  const { value } = await result<{ value: { blockhash: string } }>(rpc, "getLatestBlockhash");
  const pay = (toPubkey: PublicKey, lamports: bigint) =>
    signed(payer, value.blockhash, SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey, lamports }));
  const bundle = [pay(Keypair.generate().publicKey, 1_000_000_000n), pay(new PublicKey(tipAccounts[3] ?? ""), 1_000n)];
  const statuses = await deliver(engine, rpc, bundle);
  expect(new Set(statuses.map((status) => status?.slot)).size).toBe(1);
  expect(statuses.map((status) => status?.err)).toEqual([null, null]);
  expect((await result<Info>(admin, "devnet_info")).bundles.landed).toBe(1);
  engine.kill();
  const links = async () => (await result<Info>(admin, "devnet_info")).blockEngine.links;
  while ((await links()).some(({ connected }) => connected));
  expect(await result<string>(rpc, "getHealth")).toBe("ok");
  await engine.listen();
  while (!(await links()).every(({ connected }) => connected));
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
}, 30_000);

test("devnet_blockEngine gives the validators an engine and takes it away", async () => {
  await using engine = await FakeBlockEngine.start();
  await using faulty = await bootFaultyNode({ blockEngineRetryMs: 20 });
  const { node, admin } = faulty;
  expect(((await admin("devnet_info")) as Info).blockEngine).toEqual({ url: null, links: [] });
  await admin("devnet_blockEngine", { url: engine.url });
  await Promise.all(node.chain.genesis.validators.map(({ identity }) => engine.subscribed(identity)));
  expect(((await admin("devnet_info")) as Info).blockEngine).toMatchObject({ url: engine.url });
  await expect(admin("devnet_blockEngine", { url: "ftp://nowhere" })).rejects.toThrow("-32602");
  expect(await admin("devnet_blockEngine", { url: null })).toEqual({ url: null, links: [] });
});

test("--block-engine takes a URL or off, and says when it is neither", () => {
  const engine = (...flags: string[]) => {
    const parsed = parseCommandLine(flags);
    if (!parsed.ok) return parsed.faults;
    const { blockEngine, blockEngineNearest, blockEngineRetryMs } = parsed.options;
    return [blockEngine, blockEngineNearest, blockEngineRetryMs];
  };
  expect(engine()).toEqual([null, true, 5_000]);
  expect(engine("--block-engine", "off")).toEqual([null, true, 5_000]);
  const url = "http://127.0.0.1:7440";
  expect(engine("--block-engine", url, "--disable-block-engine-autoconfig")).toEqual([url, false, 5_000]);
  expect(engine("--block-engine", url, "--block-engine-retry-ms", "50")).toEqual([url, true, 50]);
  expect(engine("--block-engine", "127.0.0.1:7440")).toEqual(["--block-engine must be an http or https URL, or off"]);
});
