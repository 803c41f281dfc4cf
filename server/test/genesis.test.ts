import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Assembler } from "../../devnet/chain/programs/assembler/assembler.ts";
import { freePortOffset, runSluice, startNetwork } from "./testing/network.ts";

const wallet = "So11111111111111111111111111111111111111113";
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
  const asm = new Assembler();
  asm.mov("r0", 0);
  asm.exit();
  writeFileSync(so ?? "", asm.finish());
  writeFileSync(good ?? "", JSON.stringify({ wallets: [{ name: "shop", lamports: "7000000000", address: wallet }] }));
  writeFileSync(bad ?? "", JSON.stringify({ wallets: [{ name: "shop", lamports: "7e9" }], pools: 1 }));
  try {
    await using network = await startNetwork({ args: ["--genesis", good ?? "", "--program", `${program}=${so}`] });
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
