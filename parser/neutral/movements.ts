import type { Call, TransactionView } from "../transaction-view.ts";
import { LamportBalances, lamportMove, type NativeKind } from "./lamports.ts";
import { isWrapped, type TokenAccount, TokenAccounts, wrappedBy } from "./token-accounts.ts";
import { namesNothing, type TokenCall, tokenCalls } from "./token-calls.ts";

/** Lamports that moved. Over all of them and the fee, each key's sum is the change of its balance. */
export interface NativeMovement {
  /** `wrapped`: the lamports behind a movement of wrapped native tokens, which is a token movement as well. */
  readonly kind: NativeKind | "wrapped";
  /** Null where the partner cannot be told: several accounts gained and several lost without a call. */
  readonly from: string | null;
  readonly to: string | null;
  readonly lamports: bigint;
  /** Position among the calls; null for what no call states. */
  readonly call: number | null;
}

/** Tokens that moved. Each account's sum over all of them is the change of its balance, where the node kept any. */
export interface TokenMovement {
  /**
   * `wrap` and `unwrap`: lamports became wrapped native tokens of the account, or the reverse. `withheld`: fees of
   * transfers came out of accounts or the mint. `program`: a change that no call states.
   */
  readonly kind: "transfer" | "mint" | "burn" | "wrap" | "unwrap" | "withheld" | "program";
  /** Null where neither the call nor a balance names it. */
  readonly mint: string | null;
  readonly decimals: number | null;
  readonly fromAccount: string | null;
  readonly toAccount: string | null;
  /** Owners at that time; null where the transaction does not tell them. */
  readonly fromOwner: string | null;
  readonly toOwner: string | null;
  /** What leaves the source, in the mint's smallest unit. */
  readonly amount: bigint;
  /** What is withheld of `amount` on its way. */
  readonly fee: bigint;
  readonly call: number | null;
}

export interface Movements {
  /** In the order of execution; what no call states comes last. */
  readonly native: readonly NativeMovement[];
  readonly tokens: readonly TokenMovement[];
}

const nothing: Movements = { native: [], tokens: [] };

/** What moved in a transaction; nothing but its fee in one that failed, and nothing where the node does not know. */
export function movementsOf(view: TransactionView): Movements {
  return view.succeeded ? new MovementReader(view).read() : nothing;
}

/** A token movement while fees are not known yet. */
interface DraftMovement {
  readonly movement: Omit<TokenMovement, "fee"> & { fee: bigint };
  readonly to: TokenAccount | null;
  /** Whether the call stated the fee. */
  readonly feeStated: boolean;
}

class MovementReader {
  readonly #view: TransactionView;
  readonly #lamports: LamportBalances;
  readonly #accounts: TokenAccounts;
  readonly #native: NativeMovement[] = [];
  readonly #tokens: DraftMovement[] = [];

  constructor(view: TransactionView) {
    this.#view = view;
    this.#lamports = new LamportBalances(view);
    this.#accounts = new TokenAccounts(view);
  }

  read(): Movements {
    const { calls } = this.#view;
    for (let position = 0; position < calls.length; position += 1) {
      const call = calls[position];
      if (call !== undefined) this.#take(call, position);
    }
    if (this.#accounts.known) for (const account of this.#accounts) this.#settle(account);
    this.#settleLamports();
    return { native: this.#native, tokens: this.#tokens.map(({ movement }) => movement) };
  }

  #take(call: Call, position: number): void {
    const move = lamportMove(call);
    if (move !== null) {
      const { kind, from, to, lamports } = move;
      this.#moveLamports({ kind, from, to, lamports: lamports ?? this.#lamports.of(from), call: position });
      return;
    }
    for (const each of tokenCalls(call)) this.#takeToken(each, position);
  }

  #moveLamports(move: {
    kind: NativeMovement["kind"];
    from: number;
    to: number;
    lamports: bigint;
    call: number;
  }): void {
    const { kind, from, to, lamports, call } = move;
    const { length } = this.#view.keys;
    // An account that the transaction does not have is one that a node made up.
    if (lamports === 0n || from >= length || to >= length) return;
    this.#lamports.move(from, to, lamports);
    this.#native.push({ kind, from: this.#key(from), to: this.#key(to), lamports, call });
  }

  #key(index: number): string | null {
    return this.#view.keys[index] ?? null;
  }

  #takeToken(call: TokenCall, position: number): void {
    if (namesNothing(call, this.#view.keys.length)) return;
    switch (call.type) {
      case "open": {
        const account = this.#accounts.open(call);
        this.#sync(account, position);
        return;
      }
      case "owner":
        this.#accounts.at(call.account).owner = call.owner;
        return;
      case "sync":
        this.#sync(this.#accounts.at(call.account), position);
        return;
      case "close":
        this.#close(call, position);
        return;
      case "unwrap":
        this.#unwrap(call, position);
        return;
      default:
        this.#moveTokens(call, position);
    }
  }

  /** An account of wrapped native tokens holds as many as its lamports beyond the rent. */
  #sync(account: TokenAccount, position: number): void {
    if (!isWrapped(account.mint)) return;
    const gained = wrappedBy(this.#lamports.of(account.key)) - account.held;
    if (gained > 0n) this.#add({ kind: "wrap", from: null, to: account, amount: gained, call: position });
  }

  #close({ account, to }: Extract<TokenCall, { type: "close" }>, position: number): void {
    const closed = this.#accounts.at(account);
    if (closed.held > 0n) {
      this.#add({ kind: "unwrap", from: closed, to: null, amount: closed.held, call: position });
    }
    const lamports = this.#lamports.of(account);
    this.#moveLamports({ kind: "close", from: account, to, lamports, call: position });
  }

  #unwrap({ account, to, amount }: Extract<TokenCall, { type: "unwrap" }>, position: number): void {
    const source = this.#accounts.at(account);
    const lamports = amount ?? source.held;
    if (lamports > 0n) this.#add({ kind: "unwrap", from: source, to: null, amount: lamports, call: position });
    this.#moveLamports({ kind: "transfer", from: account, to, lamports, call: position });
  }

  #moveTokens(
    call: Extract<TokenCall, { amount: bigint; type: "transfer" | "mint" | "burn" }>,
    position: number,
  ): void {
    const { type: kind, amount } = call;
    const named = call.mint === null ? null : this.#key(call.mint);
    const from = call.type === "mint" ? null : this.#accounts.at(call.from);
    const to = call.type === "burn" ? null : this.#accounts.at(call.to);
    if (from !== null && to !== null) this.#accounts.sameMint(from, to, named);
    else for (const account of [from, to]) if (account !== null) account.mint ??= named;
    const fee = call.type === "transfer" ? call.fee : null;
    this.#add({ kind, from, to, amount, fee, call: position });
    if (from !== null && to !== null && isWrapped(from.mint)) {
      this.#moveLamports({ kind: "wrapped", from: from.key, to: to.key, lamports: amount, call: position });
    }
  }

  #add(movement: {
    kind: TokenMovement["kind"];
    from: TokenAccount | null;
    to: TokenAccount | null;
    amount: bigint;
    fee?: bigint | null;
    call: number | null;
  }): void {
    const { kind, from, to, amount, fee = null, call } = movement;
    if (from !== null) from.held -= amount;
    if (to !== null) to.held += amount - (fee ?? 0n);
    const mint = from?.mint ?? to?.mint ?? null;
    const drafted = {
      kind,
      mint,
      decimals: this.#accounts.decimalsOf(mint),
      fromAccount: from === null ? null : this.#key(from.key),
      toAccount: to === null ? null : this.#key(to.key),
      fromOwner: from?.owner ?? null,
      toOwner: to?.owner ?? null,
      amount,
      fee: fee ?? 0n,
      call,
    };
    this.#tokens.push({ movement: drafted, to, feeStated: fee !== null });
  }

  /**
   * Explains the difference between what an account holds by the calls and by its balance: fees that Token-2022
   * withheld from what came in, then fees that were paid out, then what no call states.
   */
  #settle(account: TokenAccount): void {
    const { key, held, mayWithhold } = account;
    const missing = held - this.#accounts.amountAfter(key);
    if (missing === 0n) return;
    if (missing > 0n && mayWithhold && this.#withhold(account, missing)) return;
    const amount = missing > 0n ? missing : -missing;
    const kind = missing < 0n && mayWithhold ? "withheld" : "program";
    const [from, to] = missing > 0n ? [account, null] : [null, account];
    this.#add({ kind, from, to, amount, call: null });
  }

  /**
   * Divides what is missing among the transfers that came in without a stated fee, by their amounts; the fee of a mint
   * is a share of the amount, so that several are exact but for rounding. False where there are none or not enough.
   */
  #withhold(account: TokenAccount, missing: bigint): boolean {
    const incoming = this.#tokens.filter(
      ({ movement, to, feeStated }) => movement.kind === "transfer" && to === account && !feeStated,
    );
    const total = incoming.reduce((sum, { movement }) => sum + movement.amount, 0n);
    if (total < missing) return false;
    let left = missing;
    for (const { movement } of incoming) {
      const share = (movement.amount * missing + total - 1n) / total;
      movement.fee = share < left ? share : left;
      left -= movement.fee;
    }
    account.held -= missing;
    return true;
  }

  /** What programs did to balances of their own accounts: partners are certain where one side is one account. */
  #settleLamports(): void {
    const after = this.#view.meta?.postBalances ?? [];
    const lost: { key: number; lamports: bigint }[] = [];
    const gained: { key: number; lamports: bigint }[] = [];
    for (let key = 0; key < after.length; key += 1) {
      const change = (after[key] ?? 0n) - this.#lamports.of(key);
      if (change < 0n) lost.push({ key, lamports: -change });
      else if (change > 0n) gained.push({ key, lamports: change });
    }
    const onlyFrom = lost.length === 1 ? this.#key(lost[0]?.key ?? -1) : null;
    const onlyTo = gained.length === 1 ? this.#key(gained[0]?.key ?? -1) : null;
    if (onlyFrom !== null || onlyTo === null) {
      for (const { key, lamports } of gained) {
        this.#native.push({ kind: "program", from: onlyFrom, to: this.#key(key), lamports, call: null });
      }
    }
    if (onlyFrom !== null) return;
    for (const { key, lamports } of lost) {
      this.#native.push({ kind: "program", from: this.#key(key), to: onlyTo, lamports, call: null });
    }
  }
}
