import { expect, test } from "bun:test";
import { isRecord, type JsonRecord, records } from "@sluice/encode/testing/fixtures";
import { recordText } from "./enhanced/exact-decimal.ts";
import { enhancedRecord } from "./enhanced/record.ts";
import { type ParsedTransaction, parseTransaction } from "./parse.ts";
import { realTransactions } from "./testing/fixtures.ts";
import { labels } from "./testing/labels.ts";
import { TransactionView } from "./transaction-view.ts";

const transactions = new Map(realTransactions().map((each) => [each.name, each]));

function parsed(file: string): { view: TransactionView; result: ParsedTransaction } {
  const found = transactions.get(file);
  if (found === undefined) throw new Error(`no ${file}`);
  const view = new TransactionView(found.executed);
  return { view, result: parseTransaction(view) };
}

const text = (amount: bigint | null | undefined): string | null =>
  amount === null || amount === undefined ? null : String(amount);

/** The members of a label that tell facts, as the parser tells them. */
function facts(type: string, { swap, nfts, created, closed, stakes, transfers }: ParsedTransaction): object {
  const leg = (each: { mint: string; amount: bigint } | null | undefined) =>
    each === null || each === undefined ? null : { mint: each.mint, amount: String(each.amount) };
  const [nft, ...more] = nfts;
  switch (type) {
    case "SWAP":
      return {
        user: swap?.user,
        input: leg(swap?.input),
        output: leg(swap?.output),
        topLevelSolTransfersOut: swap?.nativeFees.map(({ account, lamports }) => ({
          to: account,
          lamports: text(lamports),
        })),
      };
    case "TRANSFER":
      return {
        transfers: transfers.map(({ from, to, mint, amount, fromTokenAccount, toTokenAccount }) => ({
          from,
          to,
          mint,
          amount: String(amount),
          ...(mint === null ? {} : { fromTokenAccount, toTokenAccount }),
        })),
      };
    case "CREATE_ACCOUNT":
      return {
        accounts: created.map(({ account, payer, lamports }) => ({ account, payer, lamports: text(lamports) })),
      };
    case "CLOSE_ACCOUNT":
      return closed.map(({ lamports, ...each }) => ({ ...each, lamports: text(lamports) }))[0] ?? {};
    case "STAKE":
      return (
        stakes.map(({ user, account, voteAccount, lamports }) => ({
          from: user,
          stakeAccount: account,
          voteAccount,
          lamports: text(lamports),
        }))[0] ?? {}
      );
    case "UNKNOWN":
      return {};
    default:
      return {
        mint: nft?.mint ?? null,
        seller: nft?.seller ?? null,
        buyer: nft?.buyer ?? null,
        priceLamports: text(nft?.priceLamports),
        priceToken: leg(nft?.priceToken),
        more: more.length,
      };
  }
}

for (const label of labels()) {
  const file = String(label["file"]);
  const type = String(label["type"]);
  test(`${file}: type, source, cause and facts are those of its independent label`, () => {
    const { result } = parsed(file);
    const found = facts(type, result);
    const members = Object.keys(found).filter((member) => member !== "more");
    const wanted = Object.fromEntries(members.map((member) => [member, label[member]]));
    const common = type === "UNKNOWN" ? {} : { source: label["source"], programId: label["program"] };
    const told = type === "UNKNOWN" ? {} : { source: result.source, programId: result.programId };
    expect<unknown>({ type: result.type, ...told, ...found }).toEqual({
      type,
      ...common,
      ...wanted,
      ...("more" in found ? { more: 0 } : {}),
    });
  });

  test(`${file}: its record keeps the balances that the label tells, and is exact JSON`, () => {
    const { view, result } = parsed(file);
    const place = { slot: BigInt(String(label["slot"])), blockTime: null };
    const shown: unknown = JSON.parse(recordText(enhancedRecord(view, result, { place })));
    if (!isRecord(shown)) throw new Error("no record");
    const changes = records(shown["accountData"]).flatMap(({ account, nativeBalanceChange }) =>
      String(nativeBalanceChange) === "0" ? [] : [[String(account), String(nativeBalanceChange)]],
    );
    expect<unknown>(Object.fromEntries(changes)).toEqual(label["nativeDeltas"]);
    expect(tokenDeltas(shown)).toEqual(labelledDeltas(label));
    expect(String(shown["description"]).endsWith(".")).toBe(result.type !== "UNKNOWN");
  });
}

function byKey(deltas: JsonRecord[], amountOf: (each: JsonRecord) => bigint): [string, string][] {
  const sums = new Map<string, bigint>();
  for (const each of deltas) {
    const key = `${each["owner"] ?? each["userAccount"] ?? null} ${each["mint"]}`;
    sums.set(key, (sums.get(key) ?? 0n) + amountOf(each));
  }
  return [...sums]
    .filter(([, amount]) => amount !== 0n)
    .map(([key, amount]): [string, string] => [key, String(amount)])
    .sort();
}

function tokenDeltas(shown: JsonRecord): [string, string][] {
  const changes = records(shown["accountData"]).flatMap((each) => records(each["tokenBalanceChanges"]));
  return byKey(changes, ({ rawTokenAmount }) =>
    BigInt(String(isRecord(rawTokenAmount) ? rawTokenAmount["tokenAmount"] : 0)),
  );
}

function labelledDeltas(label: JsonRecord): [string, string][] {
  return byKey(records(label["tokenDeltas"]), (each) => BigInt(String(each["amount"] ?? each["delta"] ?? 0)));
}
