import { SluiceError } from "@sluice/contract/errors";
import type { Network } from "@sluice/contract/tiers";
import type { ChainReads, SlotWindow, TransactionPlace } from "../../ledger/index.ts";
import type { PlacedRecord, WalletHistory } from "../wallets/history.ts";
import type { WalletAsking, WalletLedger } from "../wallets/wallet-ledger.ts";
import type { AddressPage, AddressQuestion } from "./address-question.ts";

export interface LedgerTransactionsDependencies {
  readonly chain: ChainReads;
  readonly ledger: WalletLedger;
  readonly history: Pick<WalletHistory, "read">;
}

type Query = AddressQuestion["query"];

const slotMax = 2n ** 64n - 1n;

const greatest = (one: bigint, other: bigint): bigint => (one > other ? one : other);
const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);

const invalid = (path: string, message: string): SluiceError =>
  new SluiceError("INVALID_INPUT", { message: `${path} ${message}`, details: { errors: [{ path, message }] } });

/** Records of transactions of an address from the ledger: the oldest first, or with those of its token accounts. */
export class LedgerTransactions {
  readonly #dependencies: LedgerTransactionsDependencies;

  constructor(dependencies: LedgerTransactionsDependencies) {
    this.#dependencies = dependencies;
  }

  /** @throws {SluiceError} INVALID_INPUT where the ledger lacks what is named; and the errors of the ledger */
  async read(question: AddressQuestion & WalletAsking): Promise<AddressPage> {
    const { ledger, history } = this.#dependencies;
    const { query, network } = question;
    const order = query["sort-order"];
    if ((await ledger.held(network)) === null) {
      throw invalid("sort-order", "must be desc without token-accounts: the ledger holds no block of this network");
    }
    const [high, low] = await Promise.all([
      this.#placeOf(network, "before-signature", query["before-signature"] ?? query.before),
      this.#placeOf(network, "after-signature", query["after-signature"] ?? query.until),
    ]);
    const { window: seen } = await ledger.reach(question);
    const window = seen === null ? null : await this.#within(network, query, seen);
    const bounds = order === "asc" ? { after: low, until: high } : { after: high, until: low };
    const page = await history.read({
      ...question,
      ...{ order, window, ...bounds, skip: 0, limit: query.limit, tokenAccounts: query["token-accounts"] },
      filter: { type: query.type ?? null, source: query.source ?? null },
    });
    return {
      texts: page.items.map(({ text }: PlacedRecord) => text),
      nextSignature: await this.#signatureAt(network, page.next?.after ?? null, order),
    };
  }

  /** The transaction behind which the next page begins. */
  async #signatureAt(network: Network, place: TransactionPlace | null, order: "asc" | "desc"): Promise<string | null> {
    if (place === null) return null;
    const [row] = await this.#dependencies.chain.transactions.rows(network, [place], order);
    return row?.signature ?? null;
  }

  async #placeOf(network: Network, path: string, signature: string | undefined): Promise<TransactionPlace | null> {
    if (signature === undefined) return null;
    const place = await this.#dependencies.chain.transactions.placeOf(network, signature);
    if (place === null) throw invalid(path, "is no transaction that the ledger holds");
    return place;
  }

  /** The slots of a window that lie within the bounds of a query; null where none does. */
  async #within(network: Network, query: Query, { from, to }: SlotWindow): Promise<SlotWindow | null> {
    const { chain } = this.#dependencies;
    const since = async (seconds: number): Promise<bigint> =>
      (await chain.firstSlotSince(network, BigInt(Math.max(0, seconds)))) ?? slotMax;
    const lows = [from];
    const highs = [to];
    const slots = [query["gt-slot"], query["gte-slot"], query["lt-slot"], query["lte-slot"]] as const;
    const times = [query["gt-time"], query["gte-time"], query["lt-time"], query["lte-time"]] as const;
    if (slots[0] !== undefined) lows.push(BigInt(slots[0]) + 1n);
    if (slots[1] !== undefined) lows.push(BigInt(slots[1]));
    if (slots[2] !== undefined) highs.push(BigInt(slots[2]) - 1n);
    if (slots[3] !== undefined) highs.push(BigInt(slots[3]));
    if (times[0] !== undefined) lows.push(await since(times[0] + 1));
    if (times[1] !== undefined) lows.push(await since(times[1]));
    if (times[2] !== undefined) highs.push((await since(times[2])) - 1n);
    if (times[3] !== undefined) highs.push((await since(times[3] + 1)) - 1n);
    const low = lows.reduce(greatest);
    const high = highs.reduce(least);
    return low > high || high < 0n ? null : { from: low, to: high };
  }
}
