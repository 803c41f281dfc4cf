import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Svm } from "@sluice/svm/bank";
import { LiteSvmMachine } from "@sluice/svm/testing/litesvm-machine";
import { addressBytes } from "@sluice/wire/base58";
import { ByteWriter } from "@sluice/wire/bytes";
import { programs } from "@sluice/wire/programs";
import { encodeMessage, encodeTransaction } from "@sluice/wire/transaction";
import { Keypair, SystemProgram } from "@solana/web3.js";
import { airdropTransaction } from "../rpc/airdrop.ts";
import { parsedTransaction } from "../rpc/params.ts";
import { call } from "../testing/boot.ts";
import { type ManualChain, signed, startManualChain } from "../testing/chain.ts";
import { hostileTransactions } from "./hostile-instructions.campaign.ts";
import { startMachine } from "./index.ts";
import { run } from "./machine-kills.campaign.ts";
import { killMachine } from "./testing/kill-machine.ts";

const sol = 1_000_000_000n;

function transfer(manual: ManualChain, payer: Keypair, to: Keypair, lamports: bigint) {
  const { publicKey: toPubkey } = to;
  const pay = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey, lamports });
  return signed(payer, manual.chain.at("processed").blockhash, pay);
}

async function chainOf(svm: Svm, seed: number): Promise<unknown> {
  await using manual = await startManualChain({ slotsMax: 300 }, svm);
  const { chain } = manual;
  for (let slot = 0; slot < 6; slot += 1) {
    for (const transaction of hostileTransactions(seed + slot, 100, chain)) {
      const simulation = await chain.simulate({ transaction, commitment: "processed", checkAge: true });
      expect(simulation.bank.slot).toBe(BigInt(slot));
      chain.submit(transaction, true);
    }
    await manual.closeSlots(1);
  }
  const { slot } = chain.at("processed");
  return {
    bank: chain.at("processed"),
    blocks: chain.history.slots(0n, slot, 100).map((at) => chain.history.block(at)),
    accounts: new Map([...chain.accounts.all(slot)].sort(([one], [other]) => (one < other ? -1 : 1))),
  };
}

test("a chain has the same records with its machine in its own process and in another", async () => {
  expect(await chainOf(await startMachine(), 7)).toEqual(await chainOf(new LiteSvmMachine(), 7));
});

test("simulations have the same outcomes with the machine in either process", async () => {
  const answers = async (svm: Svm) => {
    await using manual = await startManualChain({}, svm);
    await manual.closeSlots(1);
    const found: unknown[] = [];
    for (const transaction of hostileTransactions(11, 200, manual.chain)) {
      const { error, outcome } = await manual.chain.simulate({ transaction, commitment: "processed", checkAge: true });
      found.push({ error, outcome });
    }
    return found;
  };
  expect(await answers(await startMachine())).toEqual(await answers(new LiteSvmMachine()));
});

test("bundles have the same outcomes, run or simulated over older banks, with the machine in either process", async () => {
  const chainOfBundles = async (svm: Svm) => {
    await using manual = await startManualChain({}, svm);
    const { chain } = manual;
    const found: unknown[] = [];
    const payment = (distinct: number, lamports = sol) => {
      const { faucet } = chain.genesis;
      const receiver = new Uint8Array(32).fill(distinct + 1);
      return airdropTransaction(faucet, receiver, lamports, chain.at("confirmed").blockhash, distinct);
    };
    for (let slot = 0; slot < 2; slot += 1) {
      await manual.closeSlots(1);
      for (const [at, hostile] of hostileTransactions(20 + slot, 16, chain).entries()) {
        const sound = [payment(4 * at), payment(4 * at + 1)];
        const bundle = at % 2 === 0 ? sound : [...sound, payment(4 * at + 2, 2n ** 63n)];
        for (const bank of [chain.at("confirmed"), chain.tip]) {
          const transactions = at % 3 === 0 ? bundle : [...bundle, hostile];
          const { steps } = await chain.simulateBundle({ transactions, checkAge: true }, bank);
          found.push(steps.map(({ before: _, after: __, resolved: ___, ...step }) => step));
        }
        chain.bundles.submit(
          bundle.map(({ bytes }) => ({ data: bytes, isDiscarded: false })),
          null,
        );
        await chain.settled();
      }
    }
    await manual.closeSlots(1);
    const { slot } = chain.at("processed");
    expect(chain.bundles.facts).toMatchObject({ landed: 16, dropped: { failed: 15 } });
    return {
      found,
      facts: chain.bundles.facts,
      blocks: chain.history.slots(0n, slot, 100).map((at) => chain.history.block(at)),
      accounts: new Map([...chain.accounts.all(slot)].sort(([one], [other]) => (one < other ? -1 : 1))),
    };
  };
  expect(await chainOfBundles(await startMachine())).toEqual(await chainOfBundles(new LiteSvmMachine()));
});

for (const version of ["legacy", 0, 1] as const) {
  test(`the machine checks the signatures of a transaction of version ${version}, sent or simulated`, async () => {
    await using manual = await startManualChain({}, await startMachine());
    const { chain } = manual;
    const { faucet } = chain.genesis;
    const pay = (lamports: bigint, spoilt: boolean) => {
      const message = encodeMessage({
        version,
        numRequiredSignatures: 1,
        numReadonlySignedAccounts: 0,
        numReadonlyUnsignedAccounts: 1,
        staticKeys: [faucet.publicKey, new Uint8Array(32).fill(9), addressBytes(programs.system)],
        blockhash: addressBytes(chain.at("processed").blockhash),
        instructions: [
          { programIndex: 2, accountIndexes: [0, 1], data: new ByteWriter().u32(2).u64(lamports).finish() },
        ],
        config: { computeUnitLimit: 1_000, loadedAccountsDataSizeLimit: 100_000 },
      });
      const signature = faucet.sign(message);
      if (spoilt) signature[7] = (signature[7] ?? 0) ^ 1;
      return parsedTransaction(encodeTransaction({ signatures: [signature], message }));
    };
    const [right, wrong] = [pay(sol, false), pay(2n * sol, true)];
    const simulate = async (transaction: typeof right) =>
      (await chain.simulate({ transaction, commitment: "processed", checkAge: true, verify: true })).error;
    expect([await simulate(right), await simulate(wrong)]).toEqual([null, "SignatureFailure"]);
    chain.submit(wrong);
    chain.submit(right);
    await manual.closeSlots(1);
    const landed = chain.history.block(chain.at("processed").slot)?.transactions.map(({ signature }) => signature);
    expect(landed).toEqual([right.id]);
  });
}

test("killed in the middle of batches, the machine is rebuilt: each transaction lands once, and no lamport is lost", async () => {
  const { passed, summary } = await run({ n: 1_500, seed: 20_261_121 });
  expect({ passed, summary }).toMatchObject({ passed: true });
}, 30_000);

test("killed during simulations and while it is idle, the machine is rebuilt: the answers are the same", async () => {
  const svm = await startMachine();
  await using manual = await startManualChain({}, svm);
  const { chain } = manual;
  const payer = Keypair.generate();
  manual.fund(payer, sol);
  await manual.closeSlots(1);
  const transaction = transfer(manual, payer, Keypair.generate(), sol / 2n);
  const simulate = async () => {
    const { error, postBalances } = await chain.simulate({ transaction, commitment: "processed", checkAge: true });
    return { error, postBalances };
  };
  const before = await simulate();
  expect(before.error).toBeNull();
  const asked = Array.from({ length: 20 }, simulate);
  killMachine(svm);
  expect(await Promise.all(asked)).toEqual(Array.from({ length: 20 }, () => before));
  expect(svm.facts.ended).toBe(1);
  killMachine(svm);
  await manual.closeSlots(2);
  expect(await simulate()).toEqual(before);
  expect(svm.facts.ended).toBe(2);
});

test("a rebuilt machine holds what the bank holds: closed accounts stay closed, and so does its own faucet", async () => {
  const svm = await startMachine();
  await using manual = await startManualChain({}, svm);
  const { chain } = manual;
  const payer = Keypair.generate();
  manual.fund(payer, sol);
  await manual.closeSlots(1);
  chain.submit(transfer(manual, payer, Keypair.generate(), sol - 5_000n));
  await manual.closeSlots(40);
  await svm.rebuild([...chain.accounts.all(chain.openSlot)].map(([address, account]) => ({ address, account })));
  const held = new Map((await svm.genesisAccounts()).map(({ address, account }) => [address, account]));
  expect(held.get(payer.publicKey.toBase58())).toBeUndefined();
  for (const [address, account] of held) {
    const recorded = chain.accounts.newest(address);
    expect({ address, lamports: account?.lamports ?? 0n }).toEqual({ address, lamports: recorded?.lamports ?? 0n });
  }
});

test.skipIf(process.platform !== "linux")(
  "the accounts that every slot writes do not stay in the machine's memory",
  async () => {
    await using svm = await startMachine();
    const written = (await svm.genesisAccounts()).find(({ account }) => account?.data.length === 131_097);
    if (written === undefined) throw new Error("no slot history");
    const residentMb = () => {
      const status = readFileSync(`/proc/${svm.facts.pid}/status`, "utf8");
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
    };
    const before = residentMb();
    for (let slot = 0; slot < 1_500; slot += 1) await svm.write([written]);
    // 190 MB were written; what is not given back stays.
    expect(residentMb() - before).toBeLessThan(100);
  },
);

test("the machine releases the accounts of its answers: its memory does not grow with the transactions that it ran", async () => {
  await using svm = await startMachine();
  const [payer, to] = [Keypair.generate(), Keypair.generate()];
  const account = { data: new Uint8Array(), owner: programs.system, executable: false, rentEpoch: 0n };
  const [address, other] = [payer.publicKey.toBase58(), to.publicKey.toBase58()];
  await svm.write([
    { address, account: { ...account, lamports: 1_000_000n * sol } },
    { address: other, account: { ...account, lamports: sol } },
  ]);
  const pay = SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to.publicKey, lamports: 1n });
  // Head, keys and blockhash of a legacy transaction of one signature and three keys.
  const [keysStart, lifetimeStart] = [69, 69 + 96];
  const transaction = {
    bytes: signed(payer, programs.system, pay).bytes,
    version: "legacy" as const,
    payer: address,
    fee: 5_000n,
    writable: [address, other],
    keysStart,
    writablePositions: [0, 1],
    loadedWritable: [],
    lifetimeStart,
    nonceAddress: null,
    verify: false,
    // Accounts and not balances alone are handed out.
    movesLamportsOnly: false,
  };
  const batch = Array.from({ length: 64 }, () => transaction);
  const residentAfter = async (batches: number): Promise<number> => {
    for (let run = 0; run < batches; run += 1) {
      const outcomes = await svm.execute(batch, new Uint8Array(32));
      expect(outcomes.every(({ included, error }) => included && error === null)).toBe(true);
    }
    return Number(Bun.spawnSync(["ps", "-o", "rss=", "-p", String(svm.facts.pid)]).stdout.toString()) * 1_024;
  };
  const before = await residentAfter(100);
  const grown = (await residentAfter(300)) - before;
  // 19,200 transactions, each of which leaves 2 KB behind when nothing is released.
  expect(grown).toBeLessThan(20 * 1_024 ** 2);
}, 30_000);

test("the machine's process ends with the chain's, even when that is killed", async () => {
  const main = new URL("../main.ts", import.meta.url).pathname;
  const flags = ["--rpc-port", "0", "--pubsub-port", "0", "--admin", "--slot-ms", "50"];
  const chain = Bun.spawn([process.execPath, main, ...flags], { stdin: "pipe", stdout: "pipe", stderr: "pipe" });
  const { value } = await chain.stdout.getReader().read();
  const { admin } = JSON.parse(new TextDecoder().decode(value)) as { admin: string };
  const { result } = (await call(admin, "devnet_info")) as { result: { machine: { pid: number } } };
  process.kill(result.machine.pid, 0);
  chain.kill("SIGKILL");
  // Both hold the error stream, so that its end is the end of both. (A process that is gone may still be listed.)
  expect(await new Response(chain.stderr).text()).toBe("");
});
