import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getAccount, getMint, getTokenMetadata, TOKEN_2022_PROGRAM_ID } from "@solana/spl-token";
import {
  Connection,
  Keypair,
  PublicKey,
  sendAndConfirmTransaction,
  Transaction,
  TransactionInstruction,
} from "@solana/web3.js";
import { startMachine } from "../machine/index.ts";
import type { ChainNode } from "../node.ts";
import { type NodeOptions, parseCommandLine } from "../options.ts";
import { Assembler } from "../programs/assembler/assembler.ts";
import { holding, poolNamed, swapInstruction } from "../programs/testing/pool-instructions.ts";
import { bootNode, call } from "../testing/boot.ts";
import { walletKeypair } from "../testing/wallets.ts";
import { programDataAddress } from "./elf-accounts.ts";
import { GenesisFaults } from "./load.ts";

const memo = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr";
const sysvars = "Sysvar1111111111111111111111111111111111111";

let directory: string;
let node: ChainNode;
let connection: Connection;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "genesis-"));
  node = await bootNode();
  connection = new Connection(node.rpcUrl, { commitment: "confirmed", wsEndpoint: node.wsUrl });
});
afterAll(async () => {
  await node[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

function file(name: string, content: string | Uint8Array): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

/** A program that fails with this code. */
function failing(code: bigint): Uint8Array {
  const asm = new Assembler();
  asm.wide("r0", code);
  asm.exit();
  return asm.finish();
}

async function errorOf(at: ChainNode, program: PublicKey): Promise<unknown> {
  const alice = walletKeypair("alice");
  const connected = new Connection(at.rpcUrl, "processed");
  const { blockhash } = await connected.getLatestBlockhash();
  const transaction = new Transaction({ feePayer: alice.publicKey, recentBlockhash: blockhash });
  transaction.add(new TransactionInstruction({ programId: program, keys: [], data: Buffer.of(1) }));
  return (await connected.simulateTransaction(transaction, [alice])).value.err;
}

async function faultsOf(options: Partial<NodeOptions>): Promise<readonly string[]> {
  const started = bootNode(options);
  const fault = await started.then(
    async (unexpected) => {
      await unexpected[Symbol.asyncDispose]();
      return null;
    },
    (error: unknown) => error,
  );
  if (!(fault instanceof GenesisFaults)) throw new Error(`expected faults, got ${String(fault)}`);
  return fault.faults;
}

test("unmodified clients read the genesis's tokens and swap in its pools", async () => {
  const alice = walletKeypair("alice");
  const { pools, mints } = node.chain.genesis.description;
  const pool = poolNamed(pools, "dev-usdc");
  const gem = new PublicKey(mints.get("gem") ?? "");
  expect(await getTokenMetadata(connection, gem)).toMatchObject({
    name: "Devnet Gem",
    symbol: "GEM",
    additionalMetadata: [
      ["kind", "points"],
      ["cut", "brilliant"],
    ],
  });
  expect((await getMint(connection, gem, "confirmed", TOKEN_2022_PROGRAM_ID)).supply).toBe(123_498n);
  const from = pool.sides[0].mint.decimals === 6 ? 0 : 1;
  const bought = new PublicKey(holding(alice.publicKey, pool.sides[from === 0 ? 1 : 0]));
  const before = (await getAccount(connection, bought)).amount;
  const swap = swapInstruction({ owner: alice.publicKey, pool, from, by: "input", amounts: [100_000_000n, 1n] });
  await sendAndConfirmTransaction(connection, new Transaction().add(swap), [alice]);
  // A hundred dollars into 50,000 against 500,000, less 0.3%.
  const gained = (await getAccount(connection, bought)).amount - before;
  expect(gained).toBe((500_000_000_000_000n * 99_700_000n) / (50_000_000_000n + 99_700_000n));
});

test("devnet_info lists pools from which a price can be read, and how every program comes about", async () => {
  await using faulty = await bootNode({ admin: true, slotMs: 0 });
  const { result } = await call(faulty.adminUrl ?? "", "devnet_info");
  const { pools, programs } = result as {
    readonly pools: Record<
      string,
      { readonly sides: readonly { readonly vault: string; readonly mint: string; readonly decimals: number }[] }
    >;
    readonly programs: Record<string, string>;
  };
  const amounts = new Map<string, number>();
  for (const { vault, mint } of pools["xnt-usdc"]?.sides ?? []) {
    const balance = (await call(faulty.rpcUrl, "getTokenAccountBalance", [vault])).result;
    const { value } = balance as { readonly value: { readonly uiAmount: number } };
    amounts.set(mint, value.uiAmount);
  }
  const native = amounts.get("So11111111111111111111111111111111111111112") ?? 0;
  const [quote = 0] = [...amounts].flatMap(([mint, amount]) => (mint.startsWith("So111") ? [] : [amount]));
  expect(quote / native).toBe(0.42);
  const { executable, listed } = { executable: new Set<string>(), listed: new Set(Object.keys(programs)) };
  for (const [address, account] of faulty.chain.accounts.all(0n)) if (account.executable) executable.add(address);
  expect(listed).toEqual(executable);
  expect(programs["metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s"]).toBe("assembled");
});

test("accounts are cloned from another chain, programs with their files, and the copy runs", async () => {
  const id = Keypair.generate().publicKey;
  const path = file("origin.so", failing(77n));
  await using origin = await bootNode({ seed: "origin", programs: [{ address: id.toBase58(), path }] });
  const { mints } = origin.chain.genesis.description;
  const usdc = mints.get("usdc") ?? "";
  const clones = [{ url: origin.rpcUrl, addresses: [id.toBase58(), usdc] }];
  const genesisPath = file("empty.json", '{"wallets":[{"name":"alice","lamports":1000000000}]}');
  await using copy = await bootNode({ seed: "copy", genesisPath, clones });
  expect(await errorOf(copy, id)).toEqual({ InstructionError: [0, { Custom: 77 }] });
  for (const address of [id.toBase58(), programDataAddress(id.toBase58()), usdc]) {
    const [there, here] = [origin.chain.accounts.newest(address), copy.chain.accounts.newest(address)];
    expect(there).not.toBeNull();
    expect(here).toEqual(there);
  }
  const nowhere = Keypair.generate().publicKey.toBase58();
  const missing = await faultsOf({ clones: [{ url: origin.rpcUrl, addresses: [nowhere, usdc] }] });
  expect(missing).toEqual([expect.stringContaining(nowhere)]);
});

test("a program comes from a file, in place of one of genesis, and one that cannot run is named", async () => {
  const id = Keypair.generate().publicKey;
  const pool = poolNamed(node.chain.genesis.description.pools, "dev-usdc");
  const programs = [
    { address: id.toBase58(), path: file("own.so", failing(5n)) },
    { address: pool.program, path: file("pools.so", failing(6n)) },
  ];
  await using other = await bootNode({ programs });
  expect(await errorOf(other, id)).toEqual({ InstructionError: [0, { Custom: 5 }] });
  expect(await errorOf(other, new PublicKey(pool.program))).toEqual({ InstructionError: [0, { Custom: 6 }] });
  expect(other.chain.genesis.description.programKinds.get(pool.program)).toBe("given");
  const elf = failing(1n);
  const broken = elf.slice();
  broken.fill(0xff, 240, 256);
  expect(await faultsOf({ programs: [{ address: id.toBase58(), path: file("broken.so", broken) }] })).toEqual([
    expect.stringContaining(id.toBase58()),
  ]);
});

test("programs of genesis run on after the machine's process was killed", async () => {
  const id = Keypair.generate().publicKey;
  const programs = [{ address: id.toBase58(), path: file("lasting.so", failing(8n)) }];
  const machine = await startMachine();
  await using other = await bootNode({ programs }, machine);
  const { pid } = machine.facts;
  if (pid !== null) process.kill(pid, "SIGKILL");
  // The first call finds the machine gone, and is answered by the one built anew.
  expect(await errorOf(other, id)).toEqual({ InstructionError: [0, { Custom: 8 }] });
  expect(machine.facts.pid).not.toBe(pid);
  const connected = new Connection(other.rpcUrl, "processed");
  const alice = walletKeypair("alice");
  const pool = poolNamed(other.chain.genesis.description.pools, "dev-usdc");
  const swap = swapInstruction({ owner: alice.publicKey, pool, from: 0, by: "input", amounts: [1_000_000n, 1n] });
  const { blockhash } = await connected.getLatestBlockhash();
  const transaction = new Transaction({ feePayer: alice.publicKey, recentBlockhash: blockhash }).add(swap);
  expect((await connected.simulateTransaction(transaction, [alice])).value.err).toBeNull();
});

test("a genesis file loads its own programs under either loader", async () => {
  file("loaded.so", failing(9n));
  const [upgradeable, old] = [Keypair.generate().publicKey, Keypair.generate().publicKey];
  const described = {
    wallets: [{ name: "alice", lamports: 1_000_000_000 }],
    programs: [
      { address: upgradeable.toBase58(), file: "loaded.so", authority: "alice" },
      { address: old.toBase58(), file: "loaded.so", loader: "loader-2" },
    ],
  };
  await using own = await bootNode({ genesisPath: file("programs.json", JSON.stringify(described)) });
  for (const id of [upgradeable, old]) expect(await errorOf(own, id)).toEqual({ InstructionError: [0, { Custom: 9 }] });
});

test("errors of file, clones and programs are reported together, without the secrets of a URL", async () => {
  await using refusing = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response("<html>", { status: 500 }),
  });
  const url = `http://user:secret@127.0.0.1:${refusing.port}/?api-key=hidden`;
  const faults = await faultsOf({
    genesisPath: file("faulty.json", '{"wallets":[{"name":"ann"}],"listings":[{"nft":"x","price":0}]}'),
    clones: [{ url, addresses: [walletKeypair("alice").publicKey.toBase58()] }],
    programs: [{ address: walletKeypair("bob").publicKey.toBase58(), path: join(directory, "absent.so") }],
  });
  expect(faults.length).toBe(5);
  expect(faults.join("\n")).toContain("wallets[0].lamports: is missing");
  expect(faults.join("\n")).toContain("listings[0].price");
  expect(faults.join("\n")).toContain("absent.so");
  expect(faults.join("\n")).not.toMatch(/secret|hidden/);
  expect(await faultsOf({ genesisPath: join(directory, "nowhere.json") })).toHaveLength(1);
  expect(
    await faultsOf({
      programs: [{ address: programDataAddress(PublicKey.default.toBase58()), path: file("text.so", "no program") }],
    }),
  ).toEqual([expect.stringContaining("is no ELF file")]);
});

test("a node's answer to a clone is validated, not trusted", async () => {
  const address = walletKeypair("alice").publicKey.toBase58();
  const account = { lamports: 1, owner: address, executable: false, data: ["", "base64"] };
  const answers = [
    '{"result":{"value":[]}}',
    '{"error":{"code":-32601,"message":"no"}}',
    "null",
    JSON.stringify({ result: { value: [{ ...account, lamports: -1 }] } }),
    JSON.stringify({ result: { value: [{ ...account, owner: "x" }] } }),
    JSON.stringify({ result: { value: [{ ...account, data: "" }] } }),
    JSON.stringify({ result: { value: [{ ...account, executable: "no" }] } }),
    JSON.stringify({ result: { value: [{ ...account, data: ["A".repeat(14 * 1_024 ** 2), "base64"] }] } }),
  ];
  let next = 0;
  await using odd = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(answers[next++]) });
  for (const _ of answers) {
    const faults = await faultsOf({ clones: [{ url: `http://127.0.0.1:${odd.port}`, addresses: [address] }] });
    expect(faults).toEqual([expect.stringContaining("did not give the accounts")]);
  }
  expect(next).toBe(answers.length);
});

test("an account of a genesis file may be as large as the chain allows any", async () => {
  const data = Buffer.alloc(10 * 1_024 ** 2, 7).toString("base64");
  const account = { address: Keypair.generate().publicKey.toBase58(), lamports: "100000000000", owner: memo, data };
  const genesisPath = file("large.json", JSON.stringify({ accounts: [account] }));
  await using large = await bootNode({ genesisPath, slotMs: 0 });
  const slice = { encoding: "base64", dataSlice: { offset: 10 * 1_024 ** 2 - 2, length: 9 } };
  const { result } = await call(large.rpcUrl, "getAccountInfo", [account.address, slice]);
  expect(result).toMatchObject({ value: { space: 10 * 1_024 ** 2, data: ["Bwc=", "base64"] } });
  // A hundred of them together are more text than one answer may have; two are not.
  const many = (count: number) => Array.from({ length: count }, () => account.address);
  const asked = (count: number) => call(large.rpcUrl, "getMultipleAccounts", [many(count), { encoding: "base64" }]);
  expect((await asked(100)).error).toMatchObject({ code: -32012 });
  expect((await asked(2)).error).toBeUndefined();
  const more = { ...account, data: Buffer.alloc(10 * 1_024 ** 2 + 1).toString("base64") };
  const faults = await faultsOf({ genesisPath: file("larger.json", JSON.stringify({ accounts: [more] })) });
  expect(faults).toEqual([expect.stringContaining("accounts[0].data: expected at most 10485760 bytes")]);
});

test("contents with which no chain can begin are reported, in every form", async () => {
  const wallets = [{ name: "greedy", lamports: "18446744073709551615" }];
  const sysvar = { address: "SysvarC1ock11111111111111111111111111111111", lamports: 1, owner: sysvars, data: "AAAA" };
  const joinedFaults = async (content: object) =>
    (await faultsOf({ genesisPath: file("impossible.json", JSON.stringify(content)) })).join();
  expect(await joinedFaults({ wallets })).toContain("all accounts together hold");
  expect(await joinedFaults({ accounts: [sysvar] })).toContain("does not take an account");
  for (const genesisPath of [directory, "/dev/null"]) {
    expect(await faultsOf({ genesisPath })).toEqual([expect.stringContaining("it is no file")]);
    const programs = [{ address: sysvar.address, path: genesisPath }];
    expect(await faultsOf({ programs })).toEqual([expect.stringContaining("it is no file")]);
  }
});

test("the chain's process reports errors of its genesis and ends with 2", async () => {
  const id = Keypair.generate().publicKey.toBase58();
  const broken = failing(1n);
  broken.fill(0xff, 240, 256);
  const main = new URL("../main.ts", import.meta.url).pathname;
  const flags = ["--rpc-port", "0", "--pubsub-port", "0", "--program", id, file("unsound.so", broken)];
  const child = Bun.spawn([process.execPath, main, ...flags], { stdin: "pipe", stdout: "ignore", stderr: "pipe" });
  const text = await new Response(child.stderr).text();
  expect(text).toContain(`cannot load the program ${id}`);
  expect(await child.exited).toBe(2);
});

test("the command line takes both forms of --clone and --program, and reports errors in them", () => {
  const [one, two] = [walletKeypair("alice").publicKey.toBase58(), walletKeypair("bob").publicKey.toBase58()];
  const url = "https://node.invalid/?key=a=b";
  const argv = [
    "--clone",
    url,
    one,
    "--clone",
    `${url}=${one},${two}`,
    "--program",
    two,
    "./x.so",
    "--program",
    `${one}=y.so`,
  ];
  const parsed = parseCommandLine([...argv, "--genesis", "g.json", "--admin"]);
  if (!parsed.ok) throw new Error(parsed.faults.join());
  expect(parsed.options).toMatchObject({
    genesisPath: "g.json",
    admin: true,
    clones: [
      { url, addresses: [one] },
      { url, addresses: [one, two] },
    ],
    programs: [
      { address: two, path: "./x.so" },
      { address: one, path: "y.so" },
    ],
  });
  const wrong = parseCommandLine(["--clone", "ftp://x", one, "--program", "short", "x.so", "--slot-ms", "x"]);
  expect(wrong.ok ? [] : wrong.faults).toHaveLength(3);
});
