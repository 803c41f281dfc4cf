import { tokenCalls, tokenInstructions } from "../neutral/token-calls.ts";
import { type Deed, type Instruction, isAnchorEvent, isExchangeEvent, type ProgramParser } from "../program.ts";
import { associatedToken } from "../programs/associated-token.ts";
import { parserFor } from "../programs/table.ts";
import type { Call } from "../transaction-view.ts";
import { endOfCall } from "./call-tree.ts";
import type { Context } from "./context.ts";
import { exchangeIn, looseExchangeIn } from "./exchange.ts";
import { marketDeed } from "./nft-moves.ts";

/** One thing that a transaction does. What its call called belongs to it. */
export interface Action {
  readonly does: Exclude<Deed, "helper" | "look">;
  /** Null where movements alone tell it of a program that is not known. */
  readonly parser: ProgramParser | null;
  readonly programId: string;
  readonly instruction: Instruction;
  /** Positions of its call and of the end of what that called. */
  readonly start: number;
  readonly end: number;
  readonly outer: boolean;
}

export interface Actions {
  /** In the order of execution. */
  readonly list: readonly Action[];
  /** Whether an outer call changes accounts in a way that nothing here knows. */
  readonly unknown: boolean;
}

const looked: Instruction = { tag: "", name: "unknown", does: "look" };

/** What an action of the chain's own programs decides only when the transaction itself calls for it. */
const plain: ReadonlySet<Deed> = new Set(["transfer", "asset_transfer", "create_account", "close_account"]);

export function readActions(context: Context): Actions {
  return new ActionReader(context).read();
}

class ActionReader {
  readonly #context: Context;
  readonly #list: Action[] = [];
  #unknown = false;

  constructor(context: Context) {
    this.#context = context;
  }

  read(): Actions {
    const { calls } = this.#context.view;
    for (let position = 0; position < calls.length; ) {
      const call = calls[position];
      position = call === undefined ? position + 1 : this.#take(call, position);
    }
    return { list: this.#list, unknown: this.#unknown };
  }

  /** Takes a call and gives the position that comes next: after what belongs to it, or the first of what it calls. */
  #take(call: Call, start: number): number {
    const parser = parserFor(call.programId);
    const end = endOfCall(this.#context.view, start);
    if (parser === undefined || parser.kind === "bot") return this.#takeUnknown(call, parser ?? null, [start, end]);
    if (isAnchorEvent(call)) return end;
    const instruction = parser.instructionOf(call, this.#context.view);
    const does = instruction?.does ?? (parser.kind === "helper" || parser.kind === "core" ? "helper" : "look");
    if (does === "helper") return parser.kind === "helper" || parser.kind === "core" ? end : start + 1;
    if (does === "look") return this.#look(call, parser, [start, end]);
    if (call.inner !== null && plain.has(does)) return parser.kind === "nft" ? end : start + 1;
    if (parser === associatedToken && !this.#opens(call, start, end)) return end;
    this.#add({ does, parser, instruction: instruction ?? looked }, call, [start, end]);
    return end;
  }

  #add(
    found: { does: Action["does"]; parser: ProgramParser | null; instruction: Instruction },
    call: Call,
    [start, end]: readonly [number, number],
  ): void {
    this.#list.push({ ...found, programId: call.programId, start, end, outer: call.inner === null });
  }

  /**
   * An associated account that was there already is left as it is. A transaction that failed meant to open it. Where
   * the node kept no inner calls, the account's lamports tell.
   */
  #opens(call: Call, start: number, end: number): boolean {
    const { meta, succeeded } = this.#context.view;
    if (end > start + 1 || !succeeded) return true;
    const key = call.accounts[1] ?? -1;
    return meta?.innerInstructions === null && meta.preBalances[key] === 0n && (meta.postBalances[key] ?? 0n) > 0n;
  }

  /** An instruction of a known program that its parser does not know. */
  #look(call: Call, parser: ProgramParser, range: readonly [number, number]): number {
    const [start, end] = range;
    const does = this.#deedByMovements(parser, start, end);
    if (does !== null) {
      this.#add({ does, parser, instruction: { ...looked, does } }, call, range);
      return end;
    }
    if (call.inner === null) this.#add({ does: "other", parser, instruction: looked }, call, [start, start + 1]);
    return start + 1;
  }

  #deedByMovements(parser: ProgramParser, start: number, end: number): Action["does"] | null {
    switch (parser.kind) {
      case "dex":
      case "orders":
        return exchangeIn(this.#context, start, end) === null && !this.#trades(parser, start, end) ? null : "swap";
      case "aggregator":
        return looseExchangeIn(this.#context, start, end) === null ? null : "swap";
      case "market": {
        const deed = marketDeed(this.#context, start, end);
        return deed === "helper" || deed === "look" ? null : deed;
      }
      default:
        return null;
    }
  }

  /** Whether a bonding curve tells of a trade: lamports that it gives or takes move without a call. */
  #trades(parser: ProgramParser, start: number, end: number): boolean {
    return this.#context.view.calls.slice(start, end).some((call) => isExchangeEvent(call, parser, "trade"));
  }

  /** A call of a program that nothing here knows, or that wraps others: what it calls may be known. */
  #takeUnknown(call: Call, parser: ProgramParser | null, [start, end]: readonly [number, number]): number {
    if (call.inner !== null) return start + 1;
    const before = this.#list.length;
    for (let position = start + 1; position < end; ) {
      const inner = this.#context.view.calls[position];
      position = inner === undefined ? position + 1 : this.#take(inner, position);
    }
    if (this.#list.length > before) return end;
    const own = parser?.instructionOf(call, this.#context.view) ?? null;
    if (own?.does === "swap") this.#add({ does: "swap", parser, instruction: own }, call, [start, end]);
    else if (exchangeIn(this.#context, start, end) !== null) {
      this.#add({ does: "swap", parser, instruction: { ...looked, does: "swap" } }, call, [start, end]);
    } else if (this.#changes(call, end - start > 1)) this.#unknown = true;
    return end;
  }

  /** Whether a call may change anything: it calls others, or writes an account that signs nothing. */
  #changes(call: Call, callsOthers: boolean): boolean {
    if (callsOthers) return true;
    const { message } = this.#context.view;
    return Array.from(call.accounts).some((index) => message.isWritable(index) && !message.isSigner(index));
  }
}

/**
 * The mint of which the transaction itself makes one unit and no more: no decimals, one unit minted, and the authority
 * over units given away for good. Null where there is none.
 */
export function mintOfOne({ view }: Context): string | null {
  const begun = new Set<string>();
  const minted = new Set<string>();
  for (const call of view.calls) {
    if (call.inner !== null) continue;
    for (const { data, accounts } of tokenInstructions(call)) {
      const first = view.keys[accounts[0] ?? -1] ?? "";
      if ((data[0] === 0 || data[0] === 20) && data[1] === 0) begun.add(first);
      for (const each of tokenCalls({ ...call, data, accounts })) {
        if (each.type !== "mint") continue;
        const mint = view.keys[each.mint] ?? "";
        if (each.amount === 1n && begun.has(mint) && !minted.has(mint)) minted.add(mint);
        else minted.delete(mint);
      }
      const endsMinting = data[0] === 6 && data[1] === 0 && data[2] === 0;
      if (endsMinting && minted.has(first)) return first;
    }
  }
  return null;
}
