import { AccountStates } from "@sluice/parser";
import type { TransactionEvent } from "./transaction-event.ts";

/** An account whose lamports a block changed, over all its transactions. */
export interface BalanceUpdate {
  readonly account: string;
  /** Lamports before the block and after it; they differ. */
  readonly before: bigint;
  readonly after: bigint;
  /** The program that owns it; null where no transaction of the block tells it. */
  readonly owner: string | null;
}

/** An account that a transaction created or closed. */
interface AccountTurn {
  readonly account: string;
  /** The transaction's place in the block. */
  readonly index: number;
  readonly signature: string;
  readonly owner: string | null;
}

export interface AccountCreation extends AccountTurn {
  /** After the transaction. */
  readonly lamports: bigint;
  /** Bytes; null where no call states it. */
  readonly dataSize: bigint | null;
  /** Who paid the fee. */
  readonly creator: string;
}

export interface AccountClosure extends AccountTurn {
  /** Before the transaction. */
  readonly finalLamports: bigint;
  /** Who gained most lamports in the transaction, without its fee; null where nobody gained. */
  readonly reclaimedBy: string | null;
}

/** What the balances of a block say of accounts. */
export interface AccountEvents {
  /** In the order in which the block first changed them. */
  readonly updates: readonly BalanceUpdate[];
  /** In the order of execution. */
  readonly creations: readonly AccountCreation[];
  readonly closures: readonly AccountClosure[];
}

interface Change {
  readonly before: bigint;
  after: bigint;
  owner: string | null;
}

/** Reads the balances of a block's transactions, in the order of execution. */
export function accountEventsOf(transactions: readonly TransactionEvent[]): AccountEvents {
  const reader = new BalanceReader();
  for (const transaction of transactions) reader.take(transaction);
  return reader.events();
}

class BalanceReader {
  readonly #changes = new Map<string, Change>();
  readonly #creations: AccountCreation[] = [];
  readonly #closures: AccountClosure[] = [];

  take({ view, index, signature }: TransactionEvent): void {
    const { meta, keys } = view;
    if (meta === null) return;
    const { preBalances, postBalances } = meta;
    let states: AccountStates | undefined;
    for (let key = 0; key < preBalances.length; key++) {
      const before = preBalances[key] ?? 0n;
      const after = postBalances[key] ?? before;
      const account = keys[key];
      if (before === after || account === undefined) continue;
      states ??= new AccountStates(view);
      const { owner, space } = states.of(key);
      this.#change(account, { before, after, owner });
      if (before === 0n) {
        const creator = keys[0] ?? "";
        this.#creations.push({ account, index, signature, owner, lamports: after, dataSize: space, creator });
      } else if (after === 0n) {
        const reclaimedBy = largestGainer(view);
        this.#closures.push({ account, index, signature, owner, finalLamports: before, reclaimedBy });
      }
    }
  }

  #change(account: string, change: Change): void {
    const known = this.#changes.get(account);
    if (known === undefined) {
      this.#changes.set(account, change);
      return;
    }
    known.after = change.after;
    known.owner = change.owner ?? known.owner;
  }

  events(): AccountEvents {
    const updates: BalanceUpdate[] = [];
    for (const [account, { before, after, owner }] of this.#changes) {
      if (before !== after) updates.push({ account, before, after, owner });
    }
    return { updates, creations: this.#creations, closures: this.#closures };
  }
}

/** The first of those that gained most; what the payer lost as the fee is not counted. */
function largestGainer({ meta, keys }: TransactionEvent["view"]): string | null {
  let gainer: string | null = null;
  let most = 0n;
  const { preBalances = [], postBalances = [], fee = 0n } = meta ?? {};
  for (let key = 0; key < preBalances.length; key++) {
    const gained = (postBalances[key] ?? 0n) - (preBalances[key] ?? 0n) + (key === 0 ? fee : 0n);
    if (gained <= most) continue;
    most = gained;
    gainer = keys[key] ?? null;
  }
  return gainer;
}

/** What was read of an account after a block changed it. */
export interface ReadAccountState {
  /** The slot at which it was read. */
  readonly slot: bigint;
  readonly owner: string | null;
  readonly executable: boolean | null;
  readonly rentEpoch: bigint | null;
  /** JSON text. */
  readonly data: string;
  /** Bytes. */
  readonly dataSize: bigint | null;
}

/** What blocks do not tell of an account. */
const untold = '"executable":null,"rent_epoch":null';

/**
 * The JSON text of `data` of account.updated and of a message of `/ws`: `accountUpdatedData` of contract.
 *
 * @param read - null where nothing was read
 */
export function updateText(
  slot: bigint,
  { account, before, after, owner }: BalanceUpdate,
  read: ReadAccountState | null = null,
): string {
  const state =
    read === null
      ? `${untold},"data":null,"data_size":null`
      : `"executable":${read.executable},"rent_epoch":${read.rentEpoch},"data":${read.data},"data_size":${read.dataSize}`;
  return (
    `{"account":${JSON.stringify(account)},"slot":${slot},"lamports":${after},` +
    `"owner":${JSON.stringify(owner ?? read?.owner ?? null)},${state},` +
    `"changes":{"lamports":{"old":${before},"new":${after},"delta":${after - before}}},` +
    `"observed_slot":${read?.slot ?? null}}`
  );
}

/** The JSON text of `data` of account.created: `accountCreatedData` of contract. */
export function creationText(slot: bigint, creation: AccountCreation): string {
  const { account, lamports, owner, dataSize, creator, signature } = creation;
  return (
    `{"account":${JSON.stringify(account)},"slot":${slot},"lamports":${lamports},"owner":${JSON.stringify(owner)},` +
    `${untold},"data_size":${dataSize},"creator":${JSON.stringify(creator)},` +
    `"creation_transaction":${JSON.stringify(signature)}}`
  );
}

/** The JSON text of `data` of account.closed: `accountClosedData` of contract. */
export function closureText(slot: bigint, closure: AccountClosure): string {
  const { account, finalLamports, owner, reclaimedBy, signature } = closure;
  return (
    `{"account":${JSON.stringify(account)},"slot":${slot},"final_lamports":${finalLamports},` +
    `"owner":${JSON.stringify(owner)},"reclaimed_by":${JSON.stringify(reclaimedBy)},` +
    `"closing_transaction":${JSON.stringify(signature)}}`
  );
}
