import type { Clock } from "@sluice/lib";
import type { IdlPrograms, TransactionView } from "@sluice/parser";
import type { TransactionPlace } from "../../ledger/index.ts";
import type { EnhancedEvents } from "../events.ts";
import type { LedgerPage, LedgerPages, LedgerQuestion } from "../transactions/ledger-pages.ts";
import type { SentenceSource } from "../transactions/sentence-source.ts";
import { parsedOf, recordTextOf } from "../transactions/transaction-record.ts";
import type { WalletAsking, WalletLedger } from "./wallet-ledger.ts";

export interface WalletHistoryDependencies {
  readonly ledger: WalletLedger;
  readonly pages: LedgerPages;
  readonly clock: Pick<Clock, "monotonic">;
  readonly events: EnhancedEvents;
  /** Of the operator's files. */
  readonly programs: IdlPrograms;
  readonly names: SentenceSource;
}

/** Which transactions beside those that name the wallet are its own. */
export type TokenAccountsChoice = "none" | "balanceChanged" | "all";

export interface HistoryQuestion extends WalletAsking, Omit<LedgerQuestion, "addresses" | "network"> {
  readonly address: string;
  readonly tokenAccounts: TokenAccountsChoice;
}

/** A record and where it is. */
export interface PlacedRecord {
  readonly place: TransactionPlace;
  readonly signature: string;
  readonly text: string;
}

/** Records of a wallet's transactions, from the ledger. */
export class WalletHistory {
  readonly #dependencies: WalletHistoryDependencies;

  constructor(dependencies: WalletHistoryDependencies) {
    this.#dependencies = dependencies;
  }

  async read(question: HistoryQuestion): Promise<LedgerPage<PlacedRecord>> {
    const { pages, programs } = this.#dependencies;
    const { filter, address, tokenAccounts } = question;
    const addresses = await this.addressesOf(question);
    const { items, ...page } = await pages.read({ ...question, addresses }, (transaction) => {
      if (tokenAccounts === "balanceChanged" && !concerns(transaction.view, address)) return [];
      const parsed = parsedOf(transaction, filter, this.#dependencies);
      return parsed === null ? [] : [{ transaction, parsed }];
    });
    const { names } = await this.#dependencies.names.of(
      question,
      items.map(({ parsed }) => parsed),
    );
    return {
      ...page,
      items: items.map(({ transaction, parsed }) => {
        const { slot, index, signature } = transaction.row;
        return { place: { slot, index }, signature, text: recordTextOf(transaction, parsed, { names, programs }) };
      }),
    };
  }

  async addressesOf({
    address,
    tokenAccounts,
    ...asking
  }: Pick<HistoryQuestion, keyof WalletAsking | "address" | "tokenAccounts">): Promise<readonly string[]> {
    if (tokenAccounts === "none") return [address];
    return (await this.#dependencies.ledger.watched(asking, address)).addresses;
  }
}

/** Whether a transaction names a wallet, or changed what it has of a token. */
export function concerns({ keys, meta }: TransactionView, wallet: string): boolean {
  if (keys.includes(wallet)) return true;
  const amountAt = (balances: NonNullable<typeof meta>["preTokenBalances"], account: number): bigint =>
    (balances ?? []).find(({ accountIndex }) => accountIndex === account)?.amount ?? 0n;
  const before = meta?.preTokenBalances ?? [];
  const after = meta?.postTokenBalances ?? [];
  return [...before, ...after].some(
    ({ owner, accountIndex }) => owner === wallet && amountAt(before, accountIndex) !== amountAt(after, accountIndex),
  );
}
