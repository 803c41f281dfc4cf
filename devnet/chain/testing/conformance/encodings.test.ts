import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { zstdDecompressSync } from "node:zlib";
import type { JsonObject, JsonValue } from "@sluice/encode";
import { programs } from "@sluice/wire/programs";
import { parseTransaction } from "@sluice/wire/transaction";
import { account, block, results } from "./results.ts";
import { makeWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await makeWorld();
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());

const encodings = ["json", "jsonParsed", "base58", "base64", "binary"] as const;
const details = ["full", "accounts", "signatures", "none"] as const;

/** Asserts that the call has a result and gives it. */
async function result(method: string, params: readonly JsonValue[]): Promise<JsonValue> {
  const answer = await world.call(method, params);
  expect({ method, params, error: answer.error }).toEqual({ method, params, error: undefined });
  return answer.result ?? null;
}

/** Every slot of the chain that has transactions, so that each kind of them is seen. */
function busySlots(): bigint[] {
  const { history } = world.node.chain;
  return history
    .slots(0n, world.node.chain.at("finalized").slot, 1_000)
    .filter((slot) => (history.block(slot)?.transactions.length ?? 0) > 0);
}

describe.each(encodings)("blocks in %s", (encoding) => {
  for (const transactionDetails of details) {
    for (const rewards of [true, false]) {
      test(`${transactionDetails}, ${rewards ? "with" : "without"} rewards, have their members and no others`, async () => {
        const config = { encoding, transactionDetails, rewards, maxSupportedTransactionVersion: 0n };
        for (const slot of busySlots().slice(0, 25)) {
          const found = (await result("getBlock", [slot, config])) as JsonObject;
          expect(block(found, "block")).toBeNull();
          expect("rewards" in found).toBe(rewards);
          expect("signatures" in found).toBe(transactionDetails === "signatures");
          expect("transactions" in found).toBe(transactionDetails === "full" || transactionDetails === "accounts");
        }
      });
    }
  }
});

describe.each(encodings)("transactions in %s", (encoding) => {
  test("are the same bytes, or say the same, and place loaded addresses where the encoding does", async () => {
    const { history } = world.node.chain;
    for (const slot of busySlots().slice(-25)) {
      for (const executed of history.block(slot)?.transactions ?? []) {
        const config = { encoding, maxSupportedTransactionVersion: 0n };
        const found = (await result("getTransaction", [executed.signature, config])) as JsonObject;
        expect(results["getTransaction"]?.(found, "getTransaction")).toBeNull();
        const meta = found["meta"] as JsonObject;
        expect("loadedAddresses" in meta).toBe(encoding !== "jsonParsed");
        const shown = found["transaction"];
        const written = Array.isArray(shown) ? shown[0] : shown;
        if (encoding === "base64") expect(Buffer.from(String(written), "base64").equals(executed.bytes)).toBe(true);
        if (typeof shown === "object" && !Array.isArray(shown)) {
          const message = (shown as JsonObject)["message"] as JsonObject;
          const parsed = parseTransaction(executed.bytes);
          if (!parsed.ok) throw new Error("a transaction of the chain cannot be parsed");
          const { staticAddresses } = parsed.transaction.message;
          const loaded = [...executed.loadedAddresses.writable, ...executed.loadedAddresses.readonly];
          const keys = (message["accountKeys"] as JsonValue[]).map((key) =>
            typeof key === "string" ? key : (key as JsonObject)["pubkey"],
          );
          expect(keys).toEqual(encoding === "json" ? [...staticAddresses] : [...staticAddresses, ...loaded]);
        }
      }
    }
  });
});

test("without a version given, legacy transactions have none", async () => {
  const found = (await result("getTransaction", [world.legacy])) as JsonObject;
  expect("version" in found).toBe(false);
  const presented = await result("getTransaction", [world.legacy, { maxSupportedTransactionVersion: 0n }]);
  expect(presented).toMatchObject({ version: "legacy" });
  const versioned = await result("getTransaction", [world.versioned, { maxSupportedTransactionVersion: 0n }]);
  expect(versioned).toMatchObject({ version: 0 });
});

test("the old form of a bare encoding is taken", async () => {
  expect(await result("getTransaction", [world.legacy, "base64"])).toMatchObject({
    transaction: [expect.any(String), "base64"],
  });
  const [slot = 0n] = busySlots();
  expect(await world.call("getBlock", [slot, "base64"])).toBeDefined();
});

describe("accounts of every owner", () => {
  test("have their members in each encoding, the same bytes in all, and parsed ones where a parser exists", async () => {
    const { chain } = world.node;
    const bank = chain.at("finalized");
    const seen = new Map<string, number>();
    for (const [address, stored] of chain.accounts.all(bank.slot)) {
      const kind = `${stored.owner}/${stored.data.length}`;
      if ((seen.get(kind) ?? 0) >= 2 || stored.data.length > 100_000) continue;
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
      for (const encoding of ["base64", "base64+zstd", "jsonParsed"]) {
        const { value } = (await result("getAccountInfo", [address, { encoding }])) as { value: JsonObject };
        expect(account(value, address)).toBeNull();
        expect(value["space"]).toBe(stored.data.length);
        const data = value["data"];
        if (!Array.isArray(data)) continue;
        const bytes = Buffer.from(String(data[0]), "base64");
        const plain = data[1] === "base64+zstd" ? zstdDecompressSync(bytes) : bytes;
        expect(plain.equals(stored.data)).toBe(true);
      }
    }
    expect(seen.size).toBeGreaterThan(20);
  });

  test("are parsed under the names that a node gives their programs", async () => {
    const parsed = async (address: JsonValue) => {
      const { value } = (await result("getAccountInfo", [address, { encoding: "jsonParsed" }])) as {
        value: JsonObject;
      };
      return (value["data"] as JsonObject)["program"];
    };
    const { names } = world;
    expect(await parsed(names.vote)).toBe("vote");
    expect(await parsed(names.stake)).toBe("stake");
    expect(await parsed(names.mint)).toMatch(/^spl-token(-2022)?$/);
    expect(await parsed(names["token account"])).toMatch(/^spl-token(-2022)?$/);
    expect(await parsed(names["lookup table"])).toBe("address-lookup-table");
    expect(await parsed("SysvarC1ock11111111111111111111111111111111")).toBe("sysvar");
  });

  test("a slice is cut before it is encoded, past the end it is empty, and parsed data is never cut", async () => {
    const { stake } = world.names;
    const whole = world.node.chain.accounts.newest(String(stake));
    for (const [offset, length] of [
      [0, 4],
      [100, 50],
      [190, 500],
      [5_000, 5],
      [0, 0],
    ] as const) {
      const dataSlice = { offset, length };
      const { value } = (await result("getAccountInfo", [stake, { encoding: "base64", dataSlice }])) as {
        value: { data: [string, string]; space: number };
      };
      const expected = Buffer.from(whole?.data.slice(offset, offset + length) ?? []);
      expect(value.data).toEqual([expected.toString("base64"), "base64"]);
      expect(value.space).toBe(whole?.data.length ?? -1);
    }
    const dataSlice = { offset: 0, length: 4 };
    expect(await result("getAccountInfo", [stake, { encoding: "jsonParsed", dataSlice }])).toMatchObject({
      value: { data: { program: "stake" } },
    });
  });
});

test("filters hold together: what they give is what a walk over all accounts gives", async () => {
  const { chain } = world.node;
  const bank = chain.at("finalized");
  const all = [...chain.accounts.all(bank.slot)];
  const mint = String(world.names.mint);
  const owner = all.find(([address]) => address === mint)?.[1].owner ?? programs.token;
  const cases: JsonValue[][] = [
    [],
    [{ dataSize: 165n }],
    ["tokenAccountState"],
    [{ memcmp: { offset: 0n, bytes: mint } }],
    [{ memcmp: { offset: 0n, bytes: mint } }, { dataSize: 165n }],
    [{ memcmp: { offset: 108n, bytes: "AQ==", encoding: "base64" } }, { dataSize: 165n }],
    [{ memcmp: { offset: 108n, bytes: [1n] } }, { dataSize: 165n }, "tokenAccountState"],
    [{ memcmp: { offset: 0n, bytes: mint } }, { memcmp: { offset: 108n, bytes: [1n] } }, { dataSize: 165n }],
    [{ dataSize: 7n }],
  ];
  for (const filters of cases) {
    const rows = (await result("getProgramAccounts", [owner, { filters, encoding: "base64" }])) as {
      pubkey: string;
      account: { data: [string, string] };
    }[];
    const expected = all.filter(([, { owner: of, data }]) => of === owner && passes(filters, Buffer.from(data)));
    expect(rows.map(({ pubkey }) => pubkey).toSorted()).toEqual(expected.map(([address]) => address).toSorted());
  }
});

/** The filters read a second time, by nothing of the node's. */
function passes(filters: readonly JsonValue[], data: Buffer): boolean {
  return filters.every((filter) => {
    if (filter === "tokenAccountState") {
      return (
        (data.length === 165 || (data.length > 165 && data.length !== 355 && data[165] === 2)) &&
        [1, 2].includes(data[108] ?? 0)
      );
    }
    const { dataSize, memcmp } = filter as { dataSize?: bigint; memcmp?: { offset: bigint; bytes: unknown } };
    if (dataSize !== undefined) return BigInt(data.length) === dataSize;
    const { offset = 0n, bytes } = memcmp ?? {};
    const at = Number(offset);
    if (Array.isArray(bytes) || bytes === "AQ==") return data[at] === 1;
    const { mintBytes } = { mintBytes: data.subarray(at, at + 32) };
    return mintBytes.equals(mintKey(String(bytes)));
  });
}

const mintKey = (text: string): Buffer => {
  const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  let value = 0n;
  for (const letter of text) value = value * 58n + BigInt(alphabet.indexOf(letter));
  return Buffer.from(value.toString(16).padStart(64, "0"), "hex");
};
