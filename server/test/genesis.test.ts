import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Assembler } from "../../devnet/chain/programs/assembler/assembler.ts";
import { freePortOffset, runSluice, startNetwork } from "./testing/network.ts";

const wallet = "So11111111111111111111111111111111111111113";
const held = "So11111111111111111111111111111111111111115";
const program = "So11111111111111111111111111111111111111114";

async function account(rpcUrl: string, address: string) {
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "getAccountInfo",
    params: [address, { encoding: "base64" }],
  });
  const response = await fetch(rpcUrl, { method: "POST", body, headers: { "content-type": "application/json" } });
  // biome-ignore lint/suspicious/noExplicitAny: the answer is asserted on, member by member.
  return ((await response.json()) as any).result.value;
}

test("`sluice dev` begins its chain with a genesis file and programs of its own, and reports what is wrong with them", async () => {
  const directory = mkdtempSync(join(tmpdir(), "sluice-genesis-"));
  const [good, bad, so] = ["good.json", "bad.json", "own.so"].map((name) => join(directory, name));
  const toolFile = join(directory, "account.json");
  const asm = new Assembler();
  asm.mov("r0", 0);
  asm.exit();
  writeFileSync(so ?? "", asm.finish());
  writeFileSync(good ?? "", JSON.stringify({ wallets: [{ name: "shop", lamports: "7000000000", address: wallet }] }));
  writeFileSync(bad ?? "", JSON.stringify({ wallets: [{ name: "shop", lamports: "7e9" }], pools: 1 }));
  try {
    const dumped = { lamports: 3, data: ["AQ==", "base64"], owner: program, executable: false, rentEpoch: 0 };
    writeFileSync(toolFile, JSON.stringify({ pubkey: wallet, account: dumped }));
    const accountFlags = ["--account", `${held}=${toolFile}`];
    await using network = await startNetwork({
      args: ["--oracle", "off", "--genesis", good ?? "", "--program", `${program}=${so}`, ...accountFlags],
    });
    expect(await account(network.rpcUrl, held)).toMatchObject({
      lamports: 3,
      data: ["AQ==", "base64"],
      owner: program,
    });
    expect(await account(network.rpcUrl, wallet)).toMatchObject({ lamports: 7_000_000_000 });
    expect(await account(network.rpcUrl, program)).toMatchObject({ executable: true });
    const flags = ["dev", "--port-offset", String(await freePortOffset()), "--genesis", bad ?? ""];
    const failed = await runSluice(flags, { directory: join(directory, "state") });
    expect(failed.code).not.toBe(0);
    expect(failed.err).toContain("wallets[0].lamports");
    expect(failed.err).toContain("pools: expected a list");
  } finally {
    rmSync(directory, { recursive: true });
  }
}, 120_000);

async function rpc(url: string, method: string, ...params: readonly unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const response = await fetch(url, { method: "POST", body, headers: { "content-type": "application/json" } });
  return ((await response.json()) as { result: unknown }).result;
}

test("`sluice chain` moves the chain on, forks it and pays from the faucet; the first call sees finalized slots", async () => {
  await using network = await startNetwork({ args: ["--oracle", "off"] });
  expect(await rpc(network.rpcUrl, "getSlot", { commitment: "finalized" })).toBeGreaterThanOrEqual(32);
  expect(network.said()).toContain(network.dev.chainAdmin ?? "no address");
  const run = (...args: string[]) => runSluice(["chain", ...args], { directory: network.directory });
  const before = Number(await rpc(network.rpcUrl, "getSlot", { commitment: "processed" }));
  const advanced = await run("advance", "--slots", "100", "--json");
  expect([advanced.code, JSON.parse(advanced.out).slot >= before + 100]).toEqual([0, true]);
  const paid = await run("airdrop", held, "1.5");
  expect([paid.code, paid.out.trim().length > 80]).toEqual([0, true]);
  await run("advance", "--slots", "2");
  expect(await account(network.rpcUrl, held)).toMatchObject({ lamports: 1_500_000_000 });
  const forked = await run("fork", "3", "--confirmed", "--json");
  expect([forked.code, JSON.parse(forked.out).abandoned.length >= 3]).toEqual([0, true]);
  expect(await run("advance", "--slots", "1", "--epochs", "1")).toMatchObject({
    code: 1,
    err: expect.stringContaining("--slots"),
  });
  expect(await run("airdrop", "nobody", "1")).toMatchObject({
    code: 1,
    err: expect.stringContaining("requestAirdrop"),
  });
  expect(await run("airdrop", held, "1e9")).toMatchObject({ code: 1, err: expect.stringContaining("such as 1.5") });
  const nowhere = await runSluice(["chain", "fork"], { directory: join(network.directory, "none") });
  expect(nowhere).toMatchObject({ code: 1, err: expect.stringContaining("sluice dev") });
}, 120_000);
