import { expect, test } from "bun:test";
import { encodeBase58 } from "@sluice/wire/base58";
import { stringifyJsonExact } from "@sluice/wire/json";
import { programs } from "@sluice/wire/programs";
import { processLog } from "../../log.ts";
import { PerformanceSamples } from "../bank/performance.ts";
import type { ChainAccount } from "../model/records.ts";
import { startManualChain } from "../testing/chain.ts";
import type { AccountForm } from "./accounts.ts";
import { RpcError } from "./errors.ts";
import { FaucetRequests } from "./faucet-requests.ts";
import type { RpcNode } from "./method.ts";
import { presentAll } from "./programs.ts";

const neverSlot = 0xffff_ffff_ffff_ffffn;

test("a listing ends in -32012 at its bound, and never has more text than was counted", async () => {
  await using manual = await startManualChain();
  const { chain } = manual;
  const bank = chain.at("processed");
  const endpoints = { rpc: "", pubsub: "" };
  const performance = new PerformanceSamples(bank);
  const node: RpcNode = {
    chain,
    performance,
    faucet: new FaucetRequests(),
    endpoints,
    now: () => 0,
    log: processLog("test chain"),
  };
  const nonce = new Uint8Array(80);
  nonce.set([1, 0, 0, 0, 1, 0, 0, 0]);
  const found = Array.from({ length: 20 }, (_, number): [string, ChainAccount] => {
    const data = number % 2 === 0 ? new Uint8Array(120).fill(number) : nonce;
    const account = { lamports: neverSlot, data, owner: programs.system, executable: false, rentEpoch: neverSlot };
    return [encodeBase58(new Uint8Array(32).fill(255 - number)), account];
  });
  for (const encoding of ["base64", "base58", "base64+zstd", "binary", "jsonParsed"] as const) {
    const form: AccountForm = { encoding, dataSlice: undefined };
    const text = stringifyJsonExact(presentAll(node, bank, found, form));
    // Were less counted than is written, a bound of one byte less than the text would let it pass.
    for (const bytesMax of [0, 1_000, text.length - 1]) {
      const refused = () => presentAll(node, bank, found, form, bytesMax);
      expect(refused).toThrow(RpcError);
      expect(refused).toThrow(`Scan aborted: the answer is larger than ${bytesMax} bytes`);
    }
    expect(presentAll(node, bank, found, form, text.length * 4)).toHaveLength(20);
  }
});
