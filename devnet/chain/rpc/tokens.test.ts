import { afterAll, beforeAll, expect, test } from "bun:test";
import { decodeAddress, encodeBase58 } from "@sluice/wire/base58";
import { ByteWriter } from "@sluice/wire/bytes";
import type { Address } from "@sluice/wire/identifiers";
import { programs } from "@sluice/wire/programs";
import type { ChainNode } from "../node.ts";
import { bootNode, call } from "../testing/boot.ts";

const secondsAYear = 60 * 60 * 24 * 365.24;
const interestBearing = 10;
const scaledUiAmountType = 25;
const never = 0xffff_ffff_ffff_ffffn;

const address = (fill: number): Address => encodeBase58(new Uint8Array(32).fill(fill)) as Address;
const bytesOf = (text: Address): Uint8Array => decodeAddress(text) ?? new Uint8Array(32);
const scaledMint = address(1);
const interestMint = address(2);
const plainMint = address(3);

/** A Token-2022 mint of 2 decimals with one extension. */
function mintData(supply: bigint, extension: { type: number; value: Uint8Array } | null): Uint8Array {
  const mint = new ByteWriter().bytes(new Uint8Array(36)).u64(supply).u8(2).u8(1).finish(165);
  if (extension === null) return mint.slice(0, 82);
  const { type, value } = extension;
  return new ByteWriter().bytes(mint).u8(1).u8(type).u8(0).u8(value.length).u8(0).bytes(value).finish();
}

function holdingData(mint: Address, amount: bigint): Uint8Array {
  const data = new ByteWriter().bytes(bytesOf(mint)).bytes(new Uint8Array(32).fill(9)).u64(amount).finish(165);
  data[108] = 1;
  return data;
}

let node: ChainNode;

beforeAll(async () => {
  node = await bootNode({ slotMs: 0 });
  const write = (at: string, data: Uint8Array) => {
    // Without lamports, since a slot conserves them.
    const account = { lamports: 0n, data, owner: programs.token2022, executable: false, rentEpoch: never };
    node.chain.accounts.write(node.chain.openSlot, at, account);
  };
  const scale = new ByteWriter().bytes(new Uint8Array(32)).f64(2.5).i64(0n).f64(2.5).finish();
  // Five percent a year since 1970, compounding.
  const rate = Uint8Array.of(0xf4, 0x01);
  const interest = new ByteWriter().bytes(new Uint8Array(32)).i64(0n).bytes(rate).i64(0n).bytes(rate).finish();
  write(scaledMint, mintData(1_000n, { type: scaledUiAmountType, value: scale }));
  write(interestMint, mintData(1_000n, { type: interestBearing, value: interest }));
  write(plainMint, mintData(1_000n, null));
  for (const [number, mint] of [scaledMint, interestMint, plainMint].entries()) {
    write(address(11 + number), holdingData(mint, 400n));
  }
  await node.closeSlot();
});

afterAll(async () => await node[Symbol.asyncDispose]());

/** What the three methods show of a mint whose supply is 1000 and of which one account holds 400. */
async function shown(mint: string, holding: string): Promise<{ supply: unknown; balance: unknown; largest: unknown }> {
  const ask = async (method: string, of: string): Promise<unknown> => {
    const answer = await call(node.rpcUrl, method, [of, { commitment: "processed" }]);
    return (answer.result as { value?: unknown } | undefined)?.value;
  };
  const largest = (await ask("getTokenLargestAccounts", mint)) as readonly unknown[];
  expect(largest).toHaveLength(1);
  return {
    supply: await ask("getTokenSupply", mint),
    balance: await ask("getTokenAccountBalance", holding),
    largest: largest[0],
  };
}

test("a mint that scales what it shows is scaled in supply, balances and largest accounts; the raw amount stays", async () => {
  const balance = { amount: "400", decimals: 2, uiAmount: 10, uiAmountString: "10" };
  expect(await shown(scaledMint, address(11))).toEqual({
    supply: { amount: "1000", decimals: 2, uiAmount: 25, uiAmountString: "25" },
    balance,
    largest: { address: address(11), ...balance },
  });
});

test("a mint that bears interest shows it up to the time of the slot that is read", async () => {
  const growth = Math.exp((0.05 * Number(node.chain.at("processed").time)) / secondsAYear);
  const { supply, balance, largest } = await shown(interestMint, address(12));
  const near = (units: number) => expect.closeTo(units * growth, 2);
  expect(supply).toMatchObject({ amount: "1000", uiAmount: near(10) });
  expect(balance).toMatchObject({ amount: "400", uiAmount: near(4) });
  expect(largest).toMatchObject({ address: address(12), amount: "400", uiAmount: near(4) });
});

test("a plain mint shows its amounts as they are", async () => {
  const balance = { amount: "400", decimals: 2, uiAmount: 4, uiAmountString: "4" };
  expect(await shown(plainMint, address(13))).toEqual({
    supply: { amount: "1000", decimals: 2, uiAmount: 10, uiAmountString: "10" },
    balance,
    largest: { address: address(13), ...balance },
  });
});
