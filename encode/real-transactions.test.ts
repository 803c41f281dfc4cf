import { expect, test } from "bun:test";
import { isRecord, type JsonRecord, normal, readFixtures, record, records } from "./testing/fixtures.ts";
import { rebuildTransaction } from "./testing/rebuild-transaction.ts";
import { encodeTransaction } from "./transaction.ts";

const fixtures = readFixtures();

/** Balances that were altered by hand where they were published: their shown amount is not their raw amount. */
const alteredBalances = new Set(["swap-jupiter_v6-58FymkjJ.json"]);

/** Members that nodes of earlier versions left out or had otherwise; what is left must be alike in full. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (!isRecord(value)) return value;
  const { stackHeight: _height, source: _source, ...rest } = value;
  const isKey = typeof rest["pubkey"] === "string" && typeof rest["writable"] === "boolean";
  const kept: JsonRecord = isKey ? rest : { ...rest, ...(_source !== undefined && { source: _source }) };
  const parsed = kept["parsed"];
  // The associated token program once took the rent sysvar, and nodes showed it.
  if (isRecord(parsed) && parsed["type"] === "create") delete record(parsed["info"])["rentSysvar"];
  return Object.fromEntries(Object.entries(kept).map(([name, member]) => [name, comparable(member)]));
}

/** The members of `expected`, as `actual` has them. */
function onlyMembersOf(expected: JsonRecord, actual: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.keys(expected).map((name) => [name, actual[name] ?? null]));
}

for (const { name, result } of fixtures) {
  const shownMessage = record(record(result["transaction"])["message"]);
  const parsedForm = isRecord((shownMessage["accountKeys"] as unknown[])[0]);
  const encoding = parsedForm ? "jsonParsed" : "json";

  test(`${name}: rebuilt from its ${encoding} form, it is presented as the node presented it`, () => {
    const { executed, signaturesValid } = rebuildTransaction(result);
    // A memo's parsed form hides its accounts, so that a transaction with one cannot be rebuilt to the byte.
    const hidesAccounts = records(shownMessage["instructions"]).some((shown) => typeof shown["parsed"] === "string");
    expect(signaturesValid || hidesAccounts).toBe(true);
    const encoded = encodeTransaction(executed, { encoding, maxSupportedTransactionVersion: 0 });
    if (!encoded.ok) throw new Error(`version ${encoded.version} was refused`);
    const actual = record(normal(encoded.value));
    const expected = record(normal(result));

    const [actualTransaction, expectedTransaction] = [record(actual["transaction"]), record(expected["transaction"])];
    expect(actualTransaction["signatures"]).toEqual(expectedTransaction["signatures"] ?? []);
    const actualMessage = record(actualTransaction["message"]);
    const expectedMessage = record(expectedTransaction["message"]);
    expect(comparable(onlyMembersOf(expectedMessage, actualMessage))).toEqual(comparable(expectedMessage));

    const [actualMeta, expectedMeta] = [record(actual["meta"]), record(expected["meta"])];
    const { loadedAddresses, rewards: _rewards, preTokenBalances, postTokenBalances, ...rest } = expectedMeta;
    const recorded = Object.fromEntries(
      Object.entries(rest).filter(([member, value]) => member === "err" || value !== null),
    );
    expect(comparable(onlyMembersOf(recorded, actualMeta))).toEqual(comparable(recorded));
    if (!parsedForm && loadedAddresses !== undefined) expect(actualMeta["loadedAddresses"]).toEqual(loadedAddresses);
    const balanceLists = alteredBalances.has(name) ? {} : { preTokenBalances, postTokenBalances };
    for (const [member, balances] of Object.entries(balanceLists)) {
      const shown = records(balances);
      const ours = records(actualMeta[member]).map((balance, index) => onlyMembersOf(shown[index] ?? {}, balance));
      expect(ours).toEqual(shown);
    }
    if (expected["version"] !== undefined) expect(actual["version"]).toEqual(expected["version"]);
  });
}

test("some real transactions are at hand, or their absence was said loudly", () => {
  expect(fixtures.length === 0 || fixtures.length > 50).toBe(true);
});
