import type { Call, TransactionView } from "./transaction-view.ts";

/**
 * What an instruction does, as far as types of transactions are concerned. `other` is known and is none of the types;
 * `helper` stands beside any type and decides nothing; `look` is not known by its tag: movements decide.
 */
export type Deed =
  | "swap"
  | "nft_sale"
  | "nft_mint"
  | "nft_bid"
  | "nft_listing"
  | "nft_cancel_listing"
  | "stake"
  | "unstake"
  | "transfer"
  | "asset_transfer"
  | "create_account"
  | "close_account"
  | "add_liquidity"
  | "remove_liquidity"
  | "create_pool"
  | "order"
  | "other"
  | "helper"
  | "look";

/** An instruction of a program. Numbers are positions in its accounts, but for offsets into its data. */
export interface Instruction {
  /** The first bytes of the data, in hex. */
  readonly tag: string;
  readonly name: string;
  readonly does: Deed;
  /** Who trades, stakes or provides. */
  readonly user?: number;
  /** Token accounts of who trades. */
  readonly source?: number;
  readonly destination?: number;
  readonly pool?: number;
  readonly seller?: number;
  readonly buyer?: number;
  /** The mint, or the asset of MPL Core. */
  readonly mint?: number;
  /** A token account of the NFT, where the mint is not among the accounts. */
  readonly tokenAccount?: number;
  /** The mint in which the price is stated. */
  readonly currency?: number;
  /** The tree of a compressed NFT. */
  readonly tree?: number;
  /** Offset of the price, u64. */
  readonly price?: number;
  /** Offset of the most or the least that is agreed to, u64: no price. */
  readonly bound?: number;
  /** Who gets the price in one transfer, all fees being paid on top of it by others. */
  readonly paid?: number;
}

/**
 * What a program is. Calls of a `bot` and of an unknown program are looked into; those of the others belong to the
 * outermost of them.
 */
export type ProgramKind =
  | "core"
  | "dex"
  | "aggregator"
  | "orders"
  | "bot"
  | "market"
  | "minter"
  | "nft"
  | "staking"
  | "helper"
  | "other";

export interface ProgramParser {
  readonly id: string;
  /** The short name of the program or market, as records and filters have it. */
  readonly source: string;
  /** The name for people. */
  readonly name: string;
  readonly kind: ProgramKind;
  /** How it tells of exchanges by calling itself: of each of a route, or of a trade with a bonding curve. */
  readonly events?: "route" | "trade";
  readonly instructions: readonly Instruction[];
  /** Null for an instruction that is not known. */
  instructionOf(call: Call, view: TransactionView): Instruction | null;
}

/** Decides what the tag alone does not. */
export type Decide = (instruction: Instruction, call: Call, view: TransactionView) => Instruction | null;

interface Definition extends Omit<ProgramParser, "instructionOf"> {
  readonly decide?: Decide;
}

const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

function tagOf(data: Uint8Array, length: number): string {
  let tag = "";
  for (let at = 0; at < length; at += 1) tag += hexOfByte[data[at] ?? 0] ?? "";
  return tag;
}

/** A parser by a table of tags, which have one length in a program. */
export function parserOf({ decide, ...definition }: Definition): ProgramParser {
  const byTag = new Map(definition.instructions.map((instruction) => [instruction.tag, instruction]));
  const length = (definition.instructions[0]?.tag.length ?? 0) / 2;
  return {
    ...definition,
    instructionOf(call, view) {
      if (length === 0 || call.data.length < length) return null;
      const instruction = byTag.get(tagOf(call.data, length)) ?? null;
      return instruction === null || decide === undefined ? instruction : decide(instruction, call, view);
    },
  };
}

const eventTag = Uint8Array.of(0xe4, 0x45, 0xa5, 0x2e, 0x51, 0xcb, 0x9a, 0x1d);

/** The first four bytes of SHA-256 of `event:SwapEvent` and of `event:TradeEvent`, by which a program tells them. */
const exchangeEvents = { route: 0x40c6cde8, trade: 0xbddb7fd3 } as const;

/**
 * Whether a call is an event of an exchange that a program tells by calling itself. Other programs may be called with
 * the same data, and others give the same name to an event of another layout: neither tells anything.
 */
export function isExchangeEvent(call: Call, { id, events }: ProgramParser, kind: "route" | "trade"): boolean {
  if (events !== kind || call.programId !== id || !isAnchorEvent(call)) return false;
  return new DataView(call.data.buffer, call.data.byteOffset).getUint32(8) === exchangeEvents[kind];
}

/** Whether a call is an event that an Anchor program tells by calling itself. */
export function isAnchorEvent({ data }: Call): boolean {
  if (data.length < 16 || data[0] !== eventTag[0]) return false;
  for (let at = 1; at < 8; at += 1) if (data[at] !== eventTag[at]) return false;
  return true;
}
