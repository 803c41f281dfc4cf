import { expect, test } from "bun:test";
import { until } from "@sluice/lib/testing";
import { Keypair, PublicKey, SystemProgram } from "@solana/web3.js";
import { signed } from "../../../../devnet/chain/testing/chain.ts";
import { run } from "./simulator-kills.campaign.ts";
import { startSimulatedChain, tipAccounts } from "./testing/chain-harness.ts";

test("killed machines change no answer, in blocks and out of them", async () => {
  const { passed, summary } = await run({ n: 160, seed: 7 });
  expect({ passed, summary }).toMatchObject({ passed: true });
}, 60_000);

test("a machine that hangs is killed, and its next life answers the bundles that it had", async () => {
  await using world = await startSimulatedChain({ frameMsMax: 1_000 });
  const payer = Keypair.generate();
  world.manual.fund(payer, 1_000_000_000n);
  await world.closeSlots(2);
  const pay = SystemProgram.transfer({
    ...{ fromPubkey: payer.publicKey, toPubkey: new PublicKey(tipAccounts[0] ?? ""), lamports: 1_000 },
  });
  const { bytes } = signed(payer, world.manual.chain.at("processed").blockhash, pay);
  const { simulator } = world;
  expect(await simulator.simulate({ id: "before", transactions: [bytes] })).toMatchObject({ ok: true, tip: 1_000n });
  const [pid = 0] = simulator.facts.pids;
  process.kill(pid, "SIGSTOP");
  expect(await simulator.simulate({ id: "stopped", transactions: [bytes] })).toMatchObject({ ok: true, tip: 1_000n });
  expect(simulator.facts.ended).toBeGreaterThan(0);
  expect(simulator.facts.pids).not.toContain(pid);
  expect(world.machinesEnded).toEqual(["hung"]);
}, 60_000);

test("each end of a machine's process is reported once, with its reason", async () => {
  await using world = await startSimulatedChain();
  const [pid = 0] = world.simulator.facts.pids;
  process.kill(pid, "SIGKILL");
  await until(() => world.machinesEnded.length > 0 && world.simulator.facts.pids.length > 0);
  expect(world.machinesEnded).toEqual(["SIGKILL"]);
}, 60_000);
