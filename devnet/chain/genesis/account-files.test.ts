import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programs } from "@sluice/wire/programs";
import { Connection, Keypair, PublicKey, Transaction, TransactionInstruction } from "@solana/web3.js";
import { type NodeOptions, parseCommandLine } from "../options.ts";
import { Assembler } from "../programs/assembler/assembler.ts";
import { bootNode, call } from "../testing/boot.ts";
import { walletKeypair } from "../testing/wallets.ts";
import { GenesisFaults } from "./load.ts";

const maxU64 = "18446744073709551615";

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "accounts-"));
});
afterAll(() => rmSync(directory, { recursive: true }));

/** An address that nothing else has. */
const address = (): string => Keypair.generate().publicKey.toBase58();

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

/** As `solana account --output json` writes it. */
function toolFile(pubkey: string, data: readonly [string, string], members: string): string {
  return `{"pubkey":"${pubkey}","account":{"lamports":1500000,"data":${JSON.stringify(data)},${members}}}`;
}

/** The options of a command line; faults fail the test. */
function optionsOf(...flags: string[]): Partial<NodeOptions> {
  const parsed = parseCommandLine(flags);
  if (!parsed.ok) throw new Error(parsed.faults.join("; "));
  const { accountFiles, accountDirectories, genesisPath } = parsed.options;
  return { slotMs: 0, accountFiles, accountDirectories, genesisPath };
}

async function accountsAt(options: Partial<NodeOptions>, addresses: readonly string[]): Promise<unknown> {
  await using node = await bootNode(options);
  const { result } = await call(node.rpcUrl, "getMultipleAccounts", [addresses, { encoding: "base64" }]);
  return (result as { value: unknown }).value;
}

test("account files of Solana's tools load with their flags, epochs and every encoding", async () => {
  const owner = address();
  const [plain, packed, short, moved] = [address(), address(), address(), address()];
  const bytes = Buffer.from("account data");
  const members = (more: string) => `"owner":"${owner}","executable":false,${more}`;
  const base64 = file(
    "plain.json",
    toolFile(plain, [bytes.toString("base64"), "base64"], members(`"rentEpoch":${maxU64},"space":12`)),
  );
  const zstd = Buffer.from(Bun.zstdCompressSync(bytes)).toString("base64");
  const compressed = file("packed.json", toolFile(packed, [zstd, "base64+zstd"], members(`"rentEpoch":0`)));
  // JavaScript writes the largest u64 as a rounded number.
  const base58 = file(
    "short.json",
    toolFile(short, ["2NEpo7TZRRrLZSi2U", "base58"], members(`"rentEpoch":18446744073709552000`)),
  );
  const elsewhere = file("elsewhere.json", toolFile(address(), ["", "base64"], members(`"rentEpoch":361`)));
  const options = optionsOf(
    "--account",
    "-",
    base64,
    `--account=-=${compressed}`,
    "--account",
    "-",
    base58,
    "--account",
    moved,
    elsewhere,
  );
  expect(await accountsAt(options, [plain, packed, short, moved])).toMatchObject([
    { lamports: 1_500_000, owner, executable: false, data: [bytes.toString("base64"), "base64"], space: 12 },
    { data: [bytes.toString("base64"), "base64"], rentEpoch: 0 },
    { data: [Buffer.from("Hello World!").toString("base64"), "base64"], rentEpoch: Number(maxU64) },
    { data: ["", "base64"], rentEpoch: 361 },
  ]);
});

test("a directory's files and a genesis file's entries load alike", async () => {
  const owner = address();
  const [one, other, own] = [address(), address(), address()];
  const inside = mkdtempSync(join(directory, "dir-"));
  const members = `"owner":"${owner}","executable":false,"rentEpoch":7`;
  writeFileSync(join(inside, "one.json"), toolFile(one, ["AQ==", "base64"], members));
  writeFileSync(join(inside, "notes.txt"), "not an account");
  const entries = [
    JSON.parse(toolFile(other, ["Ag==", "base64"], members)),
    { address: own, lamports: 9, owner, executable: true, rentEpoch: 3 },
  ];
  const genesis = file("genesis.json", JSON.stringify({ accounts: entries }));
  const options = optionsOf("--account-dir", inside, "--genesis", genesis);
  expect(await accountsAt(options, [one, other, own])).toMatchObject([
    { data: ["AQ==", "base64"], rentEpoch: 7 },
    { data: ["Ag==", "base64"], rentEpoch: 7 },
    { lamports: 9, data: ["", "base64"], executable: true, rentEpoch: 3 },
  ]);
});

test("a program in an account file can be called", async () => {
  const asm = new Assembler();
  asm.wide("r0", 5n);
  asm.exit();
  const program = address();
  const elf = Buffer.from(asm.finish()).toString("base64");
  const members = `"owner":"${programs.bpfLoader}","executable":true,"rentEpoch":${maxU64}`;
  const path = file("program.json", toolFile(program, [elf, "base64"], members));
  await using node = await bootNode({ ...optionsOf("--account", "-", path) });
  const connection = new Connection(node.rpcUrl, "processed");
  const alice = walletKeypair("alice");
  const { blockhash } = await connection.getLatestBlockhash();
  const transaction = new Transaction({ feePayer: alice.publicKey, recentBlockhash: blockhash });
  transaction.add(new TransactionInstruction({ programId: new PublicKey(program), keys: [], data: Buffer.of() }));
  const { err } = (await connection.simulateTransaction(transaction, [alice])).value;
  expect(err).toEqual({ InstructionError: [0, { Custom: 5 }] });
});

test("every error of every account file is reported with its file and member", async () => {
  const broken = file("broken.json", "{");
  const wrong = file(
    "wrong.json",
    `{"pubkey":"x","account":{"lamports":0,"data":["***","base64"],"owner":"y","executable":1}}`,
  );
  const zstd = file(
    "zstd.json",
    toolFile(address(), ["AAAA", "base64+zstd"], `"owner":"${address()}","executable":false,"rentEpoch":0`),
  );
  const flags = [
    "--account",
    "-",
    broken,
    "--account",
    "-",
    wrong,
    "--account",
    "-",
    zstd,
    "--account",
    "-",
    "/nope.json",
    "--account-dir",
    "/nope",
  ];
  const started = bootNode(optionsOf(...flags));
  const error = await started.then(
    () => null,
    (fault: unknown) => fault,
  );
  expect(error).toBeInstanceOf(GenesisFaults);
  expect((error as GenesisFaults).faults).toEqual([
    expect.stringContaining("/nope cannot be read"),
    `${broken}: the file: is no JSON from character 1 on`,
    expect.stringContaining(`${wrong}: pubkey`),
    expect.stringContaining(`${wrong}: account.lamports`),
    expect.stringContaining(`${wrong}: account.owner`),
    expect.stringContaining(`${wrong}: account.data`),
    expect.stringContaining(`${wrong}: account.executable`),
    expect.stringContaining(`${wrong}: account.rentEpoch`),
    expect.stringContaining(`${zstd}: account.data: expected a zstd frame`),
    expect.stringContaining("/nope.json cannot be read"),
  ]);
  expect(parseCommandLine(["--account", "nowhere"])).toMatchObject({ ok: false });
});
