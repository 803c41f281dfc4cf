import type { TextRandom } from "../../random.ts";
import { type ChainAccount, type GenesisKeypair, isTokenAccount, mintState, tokenAmount } from "../model/index.ts";
import type { Draft, TrafficInstruction, UsableTable } from "./message.ts";
import type { Holding, TrafficMint, Wallet } from "./parties.ts";
import type { TrafficAccounts } from "./wallets.ts";

const sol = 1_000_000_000n;
/** The faucet's payment to a wallet, unless the faucet holds too little for all wallets. */
const allowance = 100n * sol;
/** With less than this a wallet could not open an account and pay fees; a faucet that poor gives nothing. */
const allowanceMin = sol / 10n;
const floorMin = sol / 100n;
/** Slots for which what a transaction touched is left alone: by then the transaction has landed or never will. */
const heldSlots = 2n;

/** The part of the chain's newest state that the traffic needs. */
export interface WorldChain {
  read(address: string): ChainAccount | null;
  readonly faucet: string;
}

/** Accounts that a transaction under way will change, so that no other transaction counts on how they are now. */
export class Holds {
  readonly #until = new Map<string, bigint>();

  /** Forgets what is no longer held in this slot. The rest is bounded by the accounts of the traffic. */
  open(slot: bigint): void {
    for (const [address, until] of this.#until) if (until <= slot) this.#until.delete(address);
  }

  has(address: string): boolean {
    return this.#until.has(address);
  }

  hold(slot: bigint, ...addresses: readonly string[]): void {
    for (const address of addresses) this.#until.set(address, slot + heldSlots);
  }
}

/** A token account that is open and free to be used. */
export interface OpenHolding {
  readonly holding: Holding;
  readonly amount: bigint;
}

interface TrafficWorldParts {
  readonly accounts: TrafficAccounts;
  readonly chain: WorldChain;
  readonly draw: TextRandom;
  readonly holds: Holds;
  readonly table: UsableTable | null;
  readonly slot: bigint;
  readonly epoch: bigint;
  /** Vote accounts that stakes may be delegated to. */
  readonly votes: readonly string[];
}

/** The accounts of the traffic when a slot opens, and the numbers that are drawn for that slot. */
export class TrafficWorld {
  readonly accounts: TrafficAccounts;
  readonly chain: WorldChain;
  readonly draw: TextRandom;
  readonly holds: Holds;
  readonly table: UsableTable | null;
  readonly slot: bigint;
  readonly epoch: bigint;
  /** Vote accounts that stakes may be delegated to. */
  readonly votes: readonly string[];
  /** The amount of one payment from the faucet; 0 when the faucet holds too little. */
  readonly allowance: bigint;
  /** Wallets that can pay. */
  readonly payers: readonly Wallet[];
  readonly #payers: ReadonlySet<Wallet>;

  constructor(parts: TrafficWorldParts) {
    this.accounts = parts.accounts;
    this.chain = parts.chain;
    this.draw = parts.draw;
    this.holds = parts.holds;
    this.table = parts.table;
    this.slot = parts.slot;
    this.epoch = parts.epoch;
    this.votes = parts.votes;
    const faucet = this.lamports(parts.chain.faucet);
    const share = faucet / 1_000n;
    this.allowance = share > allowance ? allowance : share < allowanceMin ? 0n : share;
    this.payers = parts.accounts.wallets.filter((wallet) => this.lamports(wallet.address) >= this.floor);
    this.#payers = new Set(this.payers);
  }

  /** Below this a wallet is given more. */
  get floor(): bigint {
    const tenth = this.allowance / 10n;
    return tenth > floorMin ? tenth : floorMin;
  }

  lamports(address: string): bigint {
    return this.chain.read(address)?.lamports ?? 0n;
  }

  hold(...addresses: readonly string[]): void {
    this.holds.hold(this.slot, ...addresses);
  }

  canPay(wallet: Wallet): boolean {
    return this.#payers.has(wallet);
  }

  payer(): Wallet | null {
    return this.draw.pick(this.payers);
  }

  /** Another wallet than this one. */
  other(wallet: Wallet): Wallet {
    const { wallets } = this.accounts;
    const at = wallets.indexOf(wallet);
    return wallets[(at + 1 + this.draw.below(wallets.length - 1)) % wallets.length] ?? this.accounts.treasury;
  }

  supply(mint: TrafficMint): bigint | null {
    const account = this.chain.read(mint.address);
    return account === null ? null : (mintState(account)?.supply ?? null);
  }

  #free(holdings: readonly Holding[]): Holding[] {
    return holdings.filter(({ address, owner }) => !this.holds.has(address) && this.canPay(owner));
  }

  open(mint: TrafficMint): OpenHolding[] {
    return this.#free(mint.holdings).flatMap((holding) => {
      const account = this.chain.read(holding.address);
      return account === null || !isTokenAccount(account) ? [] : [{ holding, amount: tokenAmount(account) }];
    });
  }

  closed(mint: TrafficMint): Holding[] {
    return this.#free(mint.holdings).filter(({ address }) => this.chain.read(address) === null);
  }
}

/** A transaction that is not yet signed, and the compute units that it asks for when it bids for its place. */
export interface Plan extends Draft {
  readonly units: number;
}

/** `units` is what the whole transaction may use at most. */
export function plan(
  signers: readonly [GenesisKeypair, ...GenesisKeypair[]],
  units: number,
  instructions: readonly TrafficInstruction[],
): Plan {
  return { signers, units, instructions };
}

/** The signers when units are minted: the treasury pays, and the mint authority signs. */
export function mintSigners(
  { accounts }: TrafficWorld,
  mint: TrafficMint,
): readonly [GenesisKeypair, ...GenesisKeypair[]] {
  const { treasury } = accounts;
  return mint.authority === treasury ? [treasury.keypair] : [treasury.keypair, mint.authority.keypair];
}
