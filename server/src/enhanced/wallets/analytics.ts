import { walletDaysMax, walletPageMax } from "@sluice/contract/enhanced";
import { SluiceError } from "@sluice/contract/errors";
import { parserVersion, parseTransaction, type RecordValue, recordText } from "@sluice/parser";
import type { AddressWindow, SlotWindow } from "../../ledger/index.ts";
import type { LedgerPages, LedgerTransaction } from "../transactions/ledger-pages.ts";
import { balanceMembers, tokenMembers, type WalletBalances } from "./balances.ts";
import { readHoldings } from "./holdings.ts";
import type { Identities } from "./identities.ts";
import { transfersOf } from "./transfers.ts";
import { anyRecord, type WalletAsking, type WalletLedger, type WalletLedgerDependencies } from "./wallet-ledger.ts";

export interface WalletAnalyticsDependencies extends WalletLedgerDependencies {
  readonly balances: Pick<WalletBalances, "valued">;
  readonly ledger: WalletLedger;
  readonly pages: LedgerPages;
  readonly identities: Identities;
}

/** Newest transactions whose partners are told, and whose types are where the ledger does not know them. */
const lookedAtMax = 1_000;
const counterpartiesMax = 25;

/** What is told of a wallet, and whether all of what was asked for was looked at. */
export interface WalletFigures {
  readonly text: string;
  readonly isWhole: boolean;
}

/** What a wallet holds and what it did, in figures. */
export class WalletAnalytics {
  readonly #dependencies: WalletAnalyticsDependencies;

  constructor(dependencies: WalletAnalyticsDependencies) {
    this.#dependencies = dependencies;
  }

  /** @throws {SluiceError} with the code under which nodes did not answer; and the errors of the ledger */
  async read(asking: WalletAsking, address: string): Promise<WalletFigures> {
    const { balances, ledger, identities } = this.#dependencies;
    const [read, reach, held] = await Promise.all([
      readHoldings(this.#dependencies, asking, address),
      ledger.reach(asking),
      ledger.held(asking.network),
    ]);
    if (!read.ok) throw new SluiceError(read.code);
    const { addresses, open } = ledger.watchedOf(asking.network, address, read.holdings);
    const window = { network: asking.network, addresses, ...(reach.window ?? emptyWindow) };
    const question = { ...asking, address, skip: 0, limit: walletPageMax, showsZero: false };
    const [valued, seen, activity] = await Promise.all([
      balances.valued(question, read.holdings),
      this.#seen(window),
      this.#activity(window),
    ]);
    if (!valued.ok) throw new SluiceError(valued.code);
    const record: RecordValue = {
      ...balanceMembers(valued.balances),
      identity: identities.known(address),
      tokens: valued.balances.shown.map(tokenMembers),
      ...seen,
      activity: activity.members,
      reach: {
        since: reach.dataSinceMs === null ? null : new Date(reach.dataSinceMs).toISOString(),
        from_slot: held?.from ?? null,
        to_slot: held?.to ?? null,
        token_accounts: open,
        token_accounts_watched: addresses.length - 1,
      },
    };
    return { text: recordText(record), isWhole: activity.isWhole };
  }

  /** The first and the last transaction. */
  async #seen({ network, addresses, from, to }: AddressWindow) {
    const { chain } = this.#dependencies;
    const edge = async (order: "asc" | "desc"): Promise<RecordValue> => {
      const range = { network, from, to, order, after: null, limit: 1 };
      const places = await chain.activity.places(range, addresses);
      const [row] = await chain.transactions.rows(network, places, order);
      return row === undefined ? null : { signature: row.signature, slot: row.slot, block_time: row.blockTime };
    };
    const [first_seen, last_seen] = await Promise.all([edge("asc"), edge("desc")]);
    return { first_seen, last_seen };
  }

  async #activity(window: AddressWindow): Promise<{ members: RecordValue; isWhole: boolean }> {
    const { activity } = this.#dependencies.chain;
    const [days, looked, types] = await Promise.all([
      activity.days(window),
      this.#lookedAt(window),
      activity.types(window, parserVersion),
    ]);
    const sum = (list: readonly { readonly transactions: number }[]): number =>
      list.reduce((all, { transactions }) => all + transactions, 0);
    const ofLedger = sum(types.rows);
    // Where the ledger has the types of fewer transactions than were parsed here, what was parsed says more.
    const told = ofLedger >= looked.transactions ? types.rows : looked.types;
    const counted = sum(days.rows);
    return {
      isWhole: days.isWhole && looked.isWhole,
      members: {
        transactions: counted,
        failed: days.rows.reduce((all, { failed }) => all + failed, 0),
        complete: days.isWhole,
        days: days.rows.slice(0, walletDaysMax).map((day) => ({ ...day })),
        types: told.map((each) => ({ ...each })),
        types_of: Math.max(ofLedger, looked.transactions),
        counterparties: looked.counterparties,
        counterparties_of: looked.transactions,
      },
    };
  }

  async #lookedAt({ network, addresses, ...slots }: AddressWindow) {
    const { pages, identities } = this.#dependencies;
    const figures = new Figures(addresses[0] ?? "");
    const page = await pages.read(
      {
        ...{ network, addresses, order: "desc", after: null, until: null, skip: 0, limit: lookedAtMax },
        window: slots.from > slots.to ? null : slots,
        filter: anyRecord,
      },
      (transaction) => [figures.add(transaction)],
    );
    return {
      transactions: page.items.length,
      isWhole: page.next === null,
      types: figures.types(),
      counterparties: figures.counterparties().map((each) => ({ ...each, identity: identities.known(each.address) })),
    };
  }
}

const emptyWindow: SlotWindow = { from: 1n, to: 0n };

interface Counterparty {
  readonly address: string;
  transfers_in: number;
  transfers_out: number;
  lamports_in: bigint;
  lamports_out: bigint;
  readonly last_slot: bigint;
}

/** Figures of a wallet's transactions, which come the newest first. */
class Figures {
  readonly #wallet: string;
  readonly #types = new Map<string, number>();
  /** At most a few for each transaction that is looked at. */
  readonly #counterparties = new Map<string, Counterparty>();

  constructor(wallet: string) {
    this.#wallet = wallet;
  }

  add(transaction: LedgerTransaction): null {
    const { type, movements } = parseTransaction(transaction.view);
    this.#types.set(type, (this.#types.get(type) ?? 0) + 1);
    for (const { counterparty, direction, kind, amount } of transfersOf(movements, this.#wallet)) {
      if (counterparty === null) continue;
      const known = this.#counterparties.get(counterparty) ?? {
        ...{ address: counterparty, transfers_in: 0, transfers_out: 0, lamports_in: 0n, lamports_out: 0n },
        last_slot: transaction.row.slot,
      };
      this.#counterparties.set(counterparty, known);
      const lamports = kind === "native" ? amount : 0n;
      known[`transfers_${direction}`] += 1;
      known[`lamports_${direction}`] += lamports;
    }
    return null;
  }

  /** The most frequent first. */
  types(): { readonly type: string; readonly transactions: number }[] {
    const types = [...this.#types].map(([type, transactions]) => ({ type, transactions }));
    return types.sort((one, other) => other.transactions - one.transactions || (one.type < other.type ? -1 : 1));
  }

  /** Those with most transfers, the most frequent first. */
  counterparties(): readonly Counterparty[] {
    const transfers = ({ transfers_in: came, transfers_out: went }: Counterparty): number => came + went;
    return [...this.#counterparties.values()]
      .sort((one, other) => transfers(other) - transfers(one) || (one.address < other.address ? -1 : 1))
      .slice(0, counterpartiesMax);
  }
}
