import { AccountMaker } from "../account-maker.ts";
import { Invoker, type Seed } from "../invoke.ts";
import { ProgramWriter } from "../program-writer.ts";
import { accountTag, record, tagNumber } from "../runtime.ts";
import { listingBytes, listingOffsets, listingSeed, marketplaceErrors } from "./layout.ts";

const tokenInstructions = { transferChecked: 12, closeAccount: 9 } as const;
const decimals = 44;
const never = 0x7fff_ffff_ffff_ffffn;

/** Positions of the accounts of each instruction; those that are named in none of them are not read. */
const listAccounts = {
  owner: 0,
  source: 1,
  listing: 2,
  escrow: 3,
  mint: 4,
  payer: 5,
  token: 6,
  associated: 7,
  system: 9,
};
const delistAccounts = { owner: 0, target: 1, listing: 2, escrow: 3, mint: 4, rent: 5, token: 6 };
const buyAccounts = {
  buyer: 1,
  target: 2,
  listing: 3,
  escrow: 4,
  mint: 5,
  owner: 6,
  payer: 7,
  rent: 9,
  token: 10,
  associated: 11,
  system: 13,
};

/** The code that the marketplace's instructions share. */
export class MarketplaceWriter {
  readonly writer = new ProgramWriter();
  readonly invoker = new Invoker(this.writer);
  readonly maker = new AccountMaker(this.writer, this.invoker);
  readonly #seed = this.writer.asm.constant(new TextEncoder().encode(listingSeed));
  readonly #data = this.writer.slot(12);
  readonly #bump = this.writer.slot();

  seeds(mint: number): readonly Seed[] {
    return [{ constant: this.#seed }, { key: mint }];
  }

  #signing(mint: number): readonly Seed[] {
    return [...this.seeds(mint), { slot: this.#bump, length: 1 }];
  }

  /** Moves the one unit; `byListing` when it comes out of escrow. */
  move(way: { from: number; mint: number; to: number; authority: number; token: number; byListing: boolean }): void {
    const { asm } = this.writer;
    asm.store(1, "r9", this.#data, tokenInstructions.transferChecked);
    asm.store(8, "r9", this.#data + 1, 1);
    this.writer.account("r1", way.mint);
    asm.load(1, "r1", "r1", record.data + decimals);
    asm.store(1, "r9", this.#data + 9, "r1");
    this.invoker.invoke({
      program: way.token,
      accounts: [
        { account: way.from, writes: true },
        { account: way.mint },
        { account: way.to, writes: true },
        { account: way.authority, signs: true },
      ],
      data: { slot: this.#data, length: 10 },
      ...(way.byListing ? { seeds: this.#signing(way.mint) } : {}),
    });
  }

  /** Opens an associated token account unless it is open: the program's CreateIdempotent. */
  open(way: {
    payer: number;
    at: number;
    owner: number;
    mint: number;
    system: number;
    token: number;
    program: number;
  }): void {
    this.writer.asm.store(1, "r9", this.#data, 1);
    this.invoker.invoke({
      program: way.program,
      accounts: [
        { account: way.payer, signs: true, writes: true },
        { account: way.at, writes: true },
        { account: way.owner },
        { account: way.mint },
        { account: way.system },
        { account: way.token },
      ],
      data: { slot: this.#data, length: 1 },
    });
  }

  /** Pays lamports out of a slot. */
  pay(from: number, to: number, system: number, amount: number): void {
    const { asm } = this.writer;
    asm.store(4, "r9", this.#data, 2);
    asm.load(8, "r1", "r9", amount);
    asm.store(8, "r9", this.#data + 4, "r1");
    this.invoker.invoke({
      program: system,
      accounts: [
        { account: from, signs: true, writes: true },
        { account: to, writes: true },
      ],
      data: { slot: this.#data, length: 12 },
    });
  }

  /** The account must be a listing of this mint, this owner, and this payer of its rent. */
  openListing(at: { listing: number; mint: number; owner: number; rent: number }): void {
    const { writer } = this;
    const { asm } = writer;
    const wrong = writer.failure(marketplaceErrors.wrongListing);
    writer.requireOwned(at.listing);
    writer.account("r1", at.listing);
    asm.load(8, "r2", "r1", record.size);
    asm.branch("ne", "r2", listingBytes, wrong);
    asm.load(8, "r2", "r1", record.data);
    asm.wide("r3", tagNumber(accountTag("ListState")));
    asm.branch("ne", "r2", "r3", wrong);
    for (const [offset, account] of [
      [listingOffsets.mint, at.mint],
      [listingOffsets.owner, at.owner],
      [listingOffsets.rentPayer, at.rent],
    ] as const) {
      writer.account("r2", account);
      writer.requireSameKey("r1", record.data + offset, "r2", record.key, wrong);
    }
    asm.load(1, "r2", "r1", record.data + listingOffsets.bump);
    asm.store(1, "r9", this.#bump, "r2");
  }

  /** The unit leaves escrow, and escrow and listing give their rent back. */
  release(at: { listing: number; escrow: number; mint: number; rent: number; token: number }, to: number): void {
    this.move({ from: at.escrow, mint: at.mint, to, authority: at.listing, token: at.token, byListing: true });
    this.writer.asm.store(1, "r9", this.#data, tokenInstructions.closeAccount);
    this.invoker.invoke({
      program: at.token,
      accounts: [
        { account: at.escrow, writes: true },
        { account: at.rent, writes: true },
        { account: at.listing, signs: true },
      ],
      data: { slot: this.#data, length: 1 },
      seeds: this.#signing(at.mint),
    });
    this.maker.close(at.listing, at.rent);
  }
}

export function list(market: MarketplaceWriter): void {
  const { writer, maker } = market;
  const { asm } = writer;
  const price = writer.slot();
  writer.log("Instruction: ListLegacy");
  writer.requireAccounts(10);
  writer.requireData(16);
  writer.requireSigner(listAccounts.owner);
  writer.requireTokenProgram(listAccounts.token);
  writer.argument(8, 8, price);
  maker.requireAddress(listAccounts.listing, market.seeds(listAccounts.mint));
  const seeds = market.seeds(listAccounts.mint);
  maker.create({
    payer: listAccounts.payer,
    account: listAccounts.listing,
    system: listAccounts.system,
    bytes: listingBytes,
    seeds,
  });
  writer.account("r1", listAccounts.listing);
  asm.wide("r2", tagNumber(accountTag("ListState")));
  asm.store(8, "r1", record.data, "r2");
  asm.store(1, "r1", record.data + listingOffsets.version, 1);
  asm.load(1, "r2", "r9", maker.bump);
  asm.store(1, "r1", record.data + listingOffsets.bump, "r2");
  for (const [offset, account] of [
    [listingOffsets.owner, listAccounts.owner],
    [listingOffsets.mint, listAccounts.mint],
    [listingOffsets.rentPayer, listAccounts.payer],
  ] as const) {
    writer.account("r2", account);
    writer.copyKey(["r2", record.key], ["r1", record.data + offset]);
  }
  asm.load(8, "r2", "r9", price);
  asm.store(8, "r1", record.data + listingOffsets.amount, "r2");
  asm.wide("r2", never);
  asm.store(8, "r1", record.data + listingOffsets.expiry, "r2");
  const { payer, escrow: at, listing: owner, mint, system, token, associated: program } = listAccounts;
  market.open({ payer, at, owner, mint, system, token, program });
  market.move({ from: listAccounts.source, mint, to: at, authority: listAccounts.owner, token, byListing: false });
}

export function delist(market: MarketplaceWriter): void {
  const { writer } = market;
  writer.log("Instruction: DelistLegacy");
  writer.requireAccounts(10);
  writer.requireSigner(delistAccounts.owner);
  writer.requireTokenProgram(delistAccounts.token);
  market.openListing(delistAccounts);
  market.release(delistAccounts, delistAccounts.target);
}

export function buy(market: MarketplaceWriter): void {
  const { writer } = market;
  const { asm } = writer;
  const [most, price] = [writer.slot(), writer.slot()];
  writer.log("Instruction: BuyLegacy");
  writer.requireAccounts(14);
  writer.requireData(16);
  writer.requireSigner(buyAccounts.buyer);
  writer.requireTokenProgram(buyAccounts.token);
  writer.argument(8, 8, most);
  market.openListing(buyAccounts);
  asm.load(8, "r2", "r1", record.data + listingOffsets.amount);
  asm.store(8, "r9", price, "r2");
  asm.load(8, "r3", "r9", most);
  asm.branch("gt", "r2", "r3", writer.failure(marketplaceErrors.priceMismatch));
  market.pay(buyAccounts.payer, buyAccounts.owner, buyAccounts.system, price);
  const { payer, target: at, buyer: owner, mint, system, token, associated: program } = buyAccounts;
  market.open({ payer, at, owner, mint, system, token, program });
  market.release(buyAccounts, buyAccounts.target);
}
