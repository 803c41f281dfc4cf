import { SluiceError } from "@sluice/contract/errors";
import type { Network } from "@sluice/contract/tiers";
import { type TokenBalance, unpackTransaction } from "@sluice/encode";
import { ExactDecimal, movementsOf, TransactionView } from "@sluice/parser";
import { decodeBase58 } from "@sluice/wire/base58";
import { programAddress } from "@sluice/wire/program-address";
import { programs } from "@sluice/wire/programs";
import type { SlotWindow, TransactionBodyRow } from "../../ledger/index.ts";
import { sha256 } from "../node-accounts.ts";
import { callNode } from "../node-calls.ts";
import type { LedgerPages } from "../transactions/ledger-pages.ts";
import { readHoldings } from "./holdings.ts";
import type { Identities } from "./identities.ts";
import { anyRecord, type WalletAsking, type WalletLedger, type WalletLedgerDependencies } from "./wallet-ledger.ts";

export interface PastBalancesDependencies extends WalletLedgerDependencies {
  readonly ledger: WalletLedger;
  readonly pages: LedgerPages;
  readonly identities: Identities;
}

/** The mint under which helius-sdk asks for lamports. */
export const nativePseudoMint = "So11111111111111111111111111111111111111111";

const nativeDecimals = 9;
/** Accounts of one mint that a balance is summed over. */
const accountsMax = 8;
/** Of the first block after the genesis, before which there is no transaction. */
const firstSlot = 1n;
/** Transactions that are looked at for the one that funded a wallet. */
const fundingScanMax = 200;

/** What a wallet had of a mint after a slot is asked for. */
interface BalanceQuestion {
  readonly wallet: string;
  readonly mint: string;
  readonly slot: bigint;
}

/** A balance as a transaction left or found it. */
interface FoundBalance {
  readonly amount: bigint;
  readonly decimals: number;
  readonly row: TransactionBodyRow;
}

export interface BalanceAt {
  readonly amount: bigint;
  readonly decimals: number;
  /** The newest of the transactions that it was read from; null for a wallet that had none by then. */
  readonly row: TransactionBodyRow | null;
}

/** What wallets had, and where they were funded from, by the transactions of the ledger. */
export class PastBalances {
  readonly #dependencies: PastBalancesDependencies;

  constructor(dependencies: PastBalancesDependencies) {
    this.#dependencies = dependencies;
  }

  /** The last slot whose block is of a moment (Unix seconds) or earlier. */
  async slotAt(network: Network, seconds: bigint): Promise<bigint> {
    const { chain } = this.#dependencies;
    const next = await chain.firstSlotSince(network, seconds + 1n);
    if (next !== null) return next - 1n;
    return (await chain.held(network)).blocks?.to ?? 0n;
  }

  /**
   * What a wallet had after a slot: what its last transaction until then left in each of its accounts of the mint,
   * else what the first one after it found there. @throws {SluiceError} BALANCE_NOT_HELD, TIER_REQUIRED
   */
  async at(asking: WalletAsking, { wallet, mint, slot }: BalanceQuestion): Promise<BalanceAt> {
    const { ledger } = this.#dependencies;
    const { window } = await ledger.reach(asking);
    const held = await ledger.held(asking.network);
    if (window === null || held === null || slot < window.from) throw new SluiceError("BALANCE_NOT_HELD");
    const accounts = mint === nativePseudoMint ? [wallet] : await this.#accountsOf(asking, wallet, mint);
    const found: FoundBalance[] = [];
    let isKnown = true;
    for (const account of accounts) {
      const balance =
        (await this.#left({ asking, account, wallet, mint }, { from: window.from, to: slot })) ??
        (await this.#foundLater({ asking, account, wallet, mint }, { from: slot + 1n, to: window.to }));
      if (balance === null) isKnown &&= held.from <= firstSlot && window.from === 0n;
      else found.push(balance);
    }
    const [first] = found;
    if (first === undefined && !isKnown) throw new SluiceError("BALANCE_NOT_HELD");
    return {
      amount: found.reduce((sum, { amount }) => sum + amount, 0n),
      decimals: first?.decimals ?? (mint === nativePseudoMint ? nativeDecimals : 0),
      row: found.reduce<TransactionBodyRow | null>(
        (newest, { row }) => (newest === null || row.slot > newest.slot ? row : newest),
        null,
      ),
    };
  }

  /** The associated accounts of a mint under both token programs, and the others that are open. */
  async #accountsOf(asking: WalletAsking, wallet: string, mint: string): Promise<readonly string[]> {
    const read = await readHoldings(this.#dependencies, asking, wallet);
    if (!read.ok) throw new SluiceError(read.code);
    const open = read.holdings.tokens.find((token) => token.mint === mint)?.accounts ?? [];
    const derived = [programs.token, programs.token2022].map((program) => associatedAccount(wallet, mint, program));
    return [...new Set([...derived, ...open])].slice(0, accountsMax);
  }

  #left(question: AccountQuestion, window: SlotWindow): Promise<FoundBalance | null> {
    return this.#edge(question, window, "desc");
  }

  #foundLater(question: AccountQuestion, window: SlotWindow): Promise<FoundBalance | null> {
    return this.#edge(question, window, "asc");
  }

  /** What the last transaction of a window left in an account (desc), or the first one found there (asc). */
  async #edge(
    { asking: { network }, account, wallet, mint }: AccountQuestion,
    window: SlotWindow,
    order: "asc" | "desc",
  ): Promise<FoundBalance | null> {
    const { activity, transactions } = this.#dependencies.chain;
    const range = { network, ...window, order, after: null, limit: 1 };
    const [row] = await transactions.bodies(network, await activity.places(range, [account]), order);
    if (row === undefined) return null;
    const { keys, meta } = new TransactionView(unpackTransaction(row.body));
    const at = keys.indexOf(account);
    if (mint === nativePseudoMint) {
      const balances = order === "desc" ? meta?.postBalances : meta?.preBalances;
      const amount = balances?.[at];
      return amount === undefined ? null : { amount, decimals: nativeDecimals, row };
    }
    const [chosen, other] =
      order === "desc"
        ? [meta?.postTokenBalances, meta?.preTokenBalances]
        : [meta?.preTokenBalances, meta?.postTokenBalances];
    const isIts = (balance: TokenBalance): boolean => balance.accountIndex === at && balance.mint === mint;
    const balance = (chosen ?? []).find(isIts);
    const decimals = balance?.decimals ?? (other ?? []).find(isIts)?.decimals;
    if (decimals === undefined) return null;
    // Of an account that is closed, or that was given away, nothing is the wallet's.
    return { amount: balance?.owner === wallet ? balance.amount : 0n, decimals, row };
  }

  /**
   * The transfer that funded a wallet: the first that ever brought lamports into its account. A wallet may have been
   * funded and emptied before what is held, so that it is told only where that is known not to be: by the ledger, or by
   * nodes whose history begins with the chain.
   * @throws {SluiceError} FUNDING_NOT_FOUND
   */
  async funding(asking: WalletAsking, wallet: string) {
    const { ledger, pages, identities } = this.#dependencies;
    const { window } = await ledger.reach(asking);
    const { items } = await pages.read(
      {
        ...{ network: asking.network, addresses: [wallet], window, order: "asc", after: null, until: null, skip: 0 },
        ...{ limit: fundingScanMax, filter: anyRecord },
      },
      (transaction) => [transaction],
    );
    for (const { row, view } of items) {
      const at = view.keys.indexOf(wallet);
      const [before, after] = [view.meta?.preBalances[at], view.meta?.postBalances[at]];
      // Lamports were there before the first transaction that is held: where they came from is not.
      if (before === undefined || before > 0n) break;
      const funder = fundingSource(view, wallet);
      if (funder === null && after === 0n) continue;
      // What came by no transfer came first; and what is not held may have come before.
      if (
        funder === null ||
        !(await this.#isFirst(asking, wallet, { window, slot: row.slot, oldest: items[0]?.row }))
      ) {
        break;
      }
      const identity = identities.known(funder.from);
      return {
        funder: funder.from,
        funderName: identity?.name ?? null,
        funderType: identity?.type ?? null,
        amount: new ExactDecimal(funder.lamports, nativeDecimals),
        amountRaw: funder.lamports.toString(),
        decimals: nativeDecimals,
        row,
      };
    }
    throw new SluiceError("FUNDING_NOT_FOUND");
  }

  /** Whether nothing named a wallet before the oldest of its transactions that are held. */
  async #isFirst(
    asking: WalletAsking,
    wallet: string,
    of: { readonly window: SlotWindow | null; readonly slot: bigint; readonly oldest: TransactionBodyRow | undefined },
  ): Promise<boolean> {
    if (await this.#isHeldUntil(asking.network, of.slot, of.window)) return true;
    const begin = await callNode(this.#dependencies, asking, { method: "getFirstAvailableBlock", params: [] });
    const first = begin.ok ? begin.result : null;
    if ((typeof first !== "number" && typeof first !== "bigint") || first > firstSlot) return false;
    const before = of.oldest?.signature;
    const params = [wallet, { before, limit: 1, commitment: "confirmed" }];
    const older = await callNode(this.#dependencies, asking, { method: "getSignaturesForAddress", params });
    return older.ok && Array.isArray(older.result) && older.result.length === 0;
  }

  /** Whether all blocks from the first of the chain up to a slot are held, and the caller sees them. */
  async #isHeldUntil(network: Network, slot: bigint, seen: SlotWindow | null): Promise<boolean> {
    const { ranges, finalBefore, blocks } = await this.#dependencies.chain.held(network);
    const [first] = ranges;
    const begin = first?.from ?? blocks?.from;
    if (begin === undefined || begin > firstSlot || seen === null || seen.from > begin) return false;
    // Blocks that are not final yet are held one after the other.
    const isAtHead = slot >= finalBefore && ranges.length <= 1;
    return isAtHead || (first !== undefined && slot <= first.to);
  }
}

interface AccountQuestion {
  readonly asking: WalletAsking;
  readonly account: string;
  readonly wallet: string;
  readonly mint: string;
}

/** The account that a wallet has of a mint unless it chose another. */
function associatedAccount(wallet: string, mint: string, program: string): string {
  const seeds = [wallet, program, mint].map(bytesOf);
  return programAddress(seeds, bytesOf(programs.associatedToken), sha256);
}

function bytesOf(address: string): Uint8Array {
  const bytes = decodeBase58(address);
  if (bytes === null) throw new TypeError("an address that was read is base58");
  return bytes;
}

/** Who sent a wallet lamports in a transaction. */
function fundingSource(view: TransactionView, wallet: string): { from: string; lamports: bigint } | null {
  for (const { kind, from, to, lamports } of movementsOf(view).native) {
    if (kind !== "wrapped" && to === wallet && from !== null && from !== wallet) return { from, lamports };
  }
  return null;
}
