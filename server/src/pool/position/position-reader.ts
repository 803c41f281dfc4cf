import { createHash } from "node:crypto";
import type { Network } from "@sluice/contract/tiers";
import { decodeAddress } from "@sluice/wire/base58";
import { type Address, maxU64 } from "@sluice/wire/identifiers";
import { programAddress } from "@sluice/wire/program-address";
import { programs } from "@sluice/wire/programs";
import type {
  ChainReads,
  LamportChange,
  OwnedTokens,
  PoolSampleReads,
  ProgramCall,
  SampledPool,
  TokenChange,
  TokenReads,
  TransactionPlace,
} from "../../ledger/index.ts";
import type { PoolSnapshot } from "../snapshot.ts";
import type { WalletTokens } from "../wallet-tokens.ts";
import { basisOf, type PositionBasis, type PositionMovement } from "./basis.ts";
import { depositsOf, stakeAccounts } from "./deposit.ts";

/** The reads that tell what a wallet did with the pool's tokens. */
export interface PositionChain {
  readonly transactions: Pick<ChainReads["transactions"], "rows">;
  readonly activity: Pick<ChainReads["activity"], "places">;
  readonly tokens: TokenReads;
}

export interface PositionReaderDependencies {
  readonly chain: PositionChain;
  readonly samples: Pick<PoolSampleReads, "before">;
}

export interface PositionQuestion {
  readonly wallet: Address;
  readonly snapshot: PoolSnapshot;
  readonly of: SampledPool;
  readonly held: WalletTokens;
}

/** Transactions of a wallet's token accounts that are read, the newest ones; older tokens are of unknown cost. */
const transactionsMax = 2_000;
/**
 * Token accounts of a wallet whose transactions are read, those that hold the most: anybody can open accounts for
 * another, and what the others hold is of unknown cost.
 */
const accountsMax = 32;
/** A sample older than this says little about the rate of a moment; they are ten minutes apart. */
const sampleAgeMsMax = 3_600_000;

const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash("sha256").update(bytes).digest());
const keyOf = ({ slot, index }: TransactionPlace): string => `${slot} ${index}`;

/** Reads from the ledger what a wallet's tokens of a pool cost. */
export class PositionReader {
  readonly #dependencies: PositionReaderDependencies;

  constructor(dependencies: PositionReaderDependencies) {
    this.#dependencies = dependencies;
  }

  /** Throws LedgerUnavailableError, LedgerQueryError. */
  async read(question: PositionQuestion): Promise<PositionBasis> {
    const { wallet, snapshot, of, held } = question;
    const { poolMint: mint, tokenProgram } = snapshot.pool;
    const accounts = new Set([associatedAccount(wallet, mint, tokenProgram), ...held.accounts]);
    const places = await this.#places(of.network, [...accounts].slice(0, accountsMax));
    const tokens: OwnedTokens = { network: of.network, mint, owner: wallet };
    const changes = groupsOf(await this.#dependencies.chain.tokens.changes(tokens, places));
    const movements = await this.#movements(question, tokens, changes);
    return basisOf(movements, held.amount);
  }

  /** Transactions of the token accounts that succeeded, the oldest first. */
  async #places(network: Network, accounts: readonly Address[]): Promise<readonly TransactionPlace[]> {
    const range = { network, from: 0n, to: maxU64, order: "desc", after: null, limit: transactionsMax } as const;
    return (await this.#dependencies.chain.activity.places(range, accounts, true)).toReversed();
  }

  async #movements(
    { snapshot, of, held }: PositionQuestion,
    tokens: OwnedTokens,
    changes: ReadonlyMap<string, readonly TokenChange[]>,
  ): Promise<readonly PositionMovement[]> {
    const { chain, samples } = this.#dependencies;
    const places = [...changes.values()].flatMap(([first]) => first ?? []).map(({ slot, index }) => ({ slot, index }));
    const signatures = new Map(
      (await chain.transactions.rows(of.network, places, "asc")).map((row) => [keyOf(row), row.signature]),
    );
    const minted = new Map((await chain.tokens.minted(tokens, places)).map((each) => [keyOf(each), each.amount]));
    const deposits = places.filter((place) => minted.has(keyOf(place)));
    const calls = await chain.tokens.calls(of.network, deposits, snapshot.program);
    const callsOf = groupsOf(calls);
    const named = [...new Set(stakeAccounts(calls))];
    const lamports: ReadonlyMap<string, readonly LamportChange[]> =
      named.length === 0 ? new Map() : groupsOf(await chain.tokens.lamports(of.network, deposits, named));
    const rates = await samples.before(
      of,
      [...changes.values()].flatMap(([first]) => first?.atMs ?? []),
      sampleAgeMsMax,
    );
    return [...changes].flatMap(([key, own]) => {
      const [first] = own;
      if (first === undefined) return [];
      const { slot, atMs } = first;
      const accounts = new Set([...held.accounts, ...own.map(({ account }) => account)]);
      const facts = { calls: callsOf.get(key) ?? [], lamports: lamports.get(key) ?? [], accounts };
      const cost = costOf(snapshot.address, facts);
      const amount = minted.get(key) ?? 0n;
      const deposited = cost === null || amount === 0n ? null : { tokens: amount, lamports: cost };
      return [
        { signature: signatures.get(key) ?? "", slot, atMs, changes: own, deposited, rate: rates.get(atMs) ?? null },
      ];
    });
  }
}

/** What the deposits for one of the accounts cost; null without one, or where that is not told. */
function costOf(
  pool: string,
  facts: {
    readonly calls: readonly ProgramCall[];
    readonly lamports: readonly LamportChange[];
    readonly accounts: ReadonlySet<string>;
  },
): bigint | null {
  const own = depositsOf(pool, facts.calls, facts.lamports)?.filter(({ destination }) =>
    facts.accounts.has(destination),
  );
  if (own === undefined || own.length === 0) return null;
  return own.reduce((sum, { lamports }) => sum + lamports, 0n);
}

/** Rows of each transaction, in the order in which they come. */
function groupsOf<Row extends TransactionPlace>(rows: readonly Row[]): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}

function associatedAccount(owner: Address, mint: Address, tokenProgram: Address): Address {
  const bytes = (address: Address): Uint8Array => decodeAddress(address) ?? new Uint8Array(32);
  return programAddress([bytes(owner), bytes(tokenProgram), bytes(mint)], bytes(programs.associatedToken), sha256);
}
