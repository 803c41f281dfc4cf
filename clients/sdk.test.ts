import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type Bundles, createBundles } from "../sdk/index.ts";
import { memo, pay, signed, tip } from "../server/test/testing/bundles.ts";
import { ChainReader } from "../server/test/testing/chain-reader.ts";
import { type EngineNetwork, startEngineNetwork } from "../server/test/testing/engine-network.ts";

setDefaultTimeout(30_000);

let world: EngineNetwork;
let chain: ChainReader;
let bundles: Bundles;

beforeAll(async () => {
  world = await startEngineNetwork();
  chain = new ChainReader(world.chain.rpc);
  bundles = createBundles({ url: world.rest, apiKey: world.network.dev.key });
}, 60_000);
afterAll(async () => await world?.[Symbol.asyncDispose](), 30_000);

async function bundle() {
  const [payer, friend] = await chain.wallets(2);
  const blockhash = await chain.blockhash();
  const made = [
    signed(payer, blockhash, pay(payer, friend.publicKey, 1_000_000)),
    signed(friend, blockhash, tip(friend)),
  ];
  return { transactions: made.map((each) => each.serialize()), tip: 10_000n };
}

test("the SDK lands a bundle, unsealed and sealed, and receives its slot", async () => {
  for (const submit of ["submit", "submitSealed"] as const) {
    const id = await bundles[submit](await bundle());
    const { status, slot, signatures } = await bundles.outcome(id, { pollMs: 50, signal: AbortSignal.timeout(25_000) });
    expect(status).toBe("included");
    expect(signatures).toHaveLength(2);
    expect(await bundles.status(id)).toMatchObject({ bundleId: id, status: "included", slot });
  }
});

test("the reason for dropping a sealed bundle is reported under its id", async () => {
  const [payer] = await chain.wallets(1);
  const unpaid = signed(payer, await chain.blockhash(), memo("no tip"));
  const id = await bundles.submitSealed({ transactions: [unpaid.serialize()], tip: 10_000n });
  const outcome = await bundles.outcome(id, { pollMs: 50, signal: AbortSignal.timeout(25_000) });
  expect(outcome).toMatchObject({ status: "dropped", reason: "tip_not_paid" });
});
