import { expect, test } from "bun:test";
import { addressBytes } from "@sluice/wire/base58";
import { type Address, parseAddress } from "@sluice/wire/identifiers";
import { programs } from "@sluice/wire/programs";
import { bootNode, post } from "../../../../devnet/chain/testing/boot.ts";
import { type ChainValue, memberOf, parseChainJson } from "../../chain/index.ts";
import type { EngineChain } from "../model/chain-port.ts";
import { chainAccounts } from "./chain-accounts.ts";

const unknown = "GrAkKfEpTKQuVHG2Y97Y2FF4i7y7Q5AHLK94JBy7Y5yv" as Address;

test("accounts of a node have their owner, their size and as much of their data as was requested", async () => {
  await using node = await bootNode();
  const chain: Pick<EngineChain, "read"> = {
    async read(method, params) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      const answer = parseChainJson(await (await post(node.rpcUrl, body)).text());
      return memberOf(answer, "result") ?? null;
    },
  };
  const source = chainAccounts(chain);
  const addresses = [programs.system, programs.token, unknown].map((text) => parseAddress(text) ?? unknown);
  const whole = await source.accounts(addresses, { minimumSlot: 0n, dataBytes: null });
  const [system, token, none] = whole.accounts;
  expect(whole.slot).toBeGreaterThanOrEqual(0n);
  expect(none).toBeNull();
  expect(system).toMatchObject({ executable: true, owner: addressBytes(programs.nativeLoader) });
  expect(token?.space).toBe(token?.data.length ?? -1);
  const cut = await source.accounts(addresses, { minimumSlot: 0n, dataBytes: 8 });
  expect(cut.accounts[1]?.data.length).toBe(8);
  expect(cut.accounts[1]?.space).toBe(token?.space ?? -1);
});

test("without a size, data that fills the slice may be cut, and an answer without an owner is an error", async () => {
  const answering = (value: ChainValue): Pick<EngineChain, "read"> => ({
    read: async () => ({ context: { slot: 7n }, value: [value] }),
  });
  const account = { lamports: 5n, owner: unknown, executable: false, data: [btoa("12345678"), "base64"] };
  const options = { minimumSlot: 0n, dataBytes: 8 };
  const { accounts } = await chainAccounts(answering(account)).accounts([unknown], options);
  expect(accounts[0]).toMatchObject({ lamports: 5n, space: 9 });
  const broken = chainAccounts(answering({ lamports: 5n }));
  expect(broken.accounts([unknown], options)).rejects.toThrow(TypeError);
});
