import type { Random } from "@sluice/lib";
import {
  AccountMatcher,
  type BalanceUpdate,
  type BlockEvents,
  type TransactionEvent,
  TransactionMatcher,
} from "../../events/index.ts";
import type { NewDelivery, WebhookStage } from "../../state/index.ts";
import type {
  BlockInterest,
  ClosureInterest,
  CompiledWebhook,
  CreationInterest,
  IndexedWebhook,
  TransactionInterest,
  UpdateInterest,
} from "./compiled-webhook.ts";
import { MatchedBlock } from "./matched-block.ts";
import type { TokenPrices } from "./token-prices.ts";
import type { TradeVerdict } from "./trade-conditions.ts";
import { TransactionTraits } from "./transaction-traits.ts";
import { writtenBy, writtenKeys } from "./written-accounts.ts";

interface Interested<Interest> {
  readonly webhook: IndexedWebhook;
  readonly interest: Interest;
}

type Transactions = Omit<TransactionInterest, "filter">;
/** Lists of accounts are in the index alone. */
type Updates = Omit<UpdateInterest, "accounts">;
/** Of all accounts of a program. */
type Owned = Updates & { readonly owner: string };

export interface MatchOptions {
  readonly stage: WebhookStage;
  readonly genesisHash: string;
  /** Whether a webhook is told what matches. */
  readonly tells: (webhook: IndexedWebhook) => boolean;
  /** What tokens were worth at the time of the block; null where nobody asks, and while it cannot be read. */
  readonly prices: TokenPrices | null;
}

/** A block of before a webhook is not for it; clocks of hosts and of the chain differ by less than this. */
const clockSkewMs = 60_000;

/**
 * The webhooks of a shard by what they ask for. A block is matched by its transactions, whose keys lead to the webhooks
 * that name them, and by the changes of its accounts; what keys do not decide is asked of the webhooks that were found.
 */
export class WebhookIndex {
  readonly #members = new Map<string, Disposable[]>();
  readonly #transactions: TransactionMatcher<Interested<Transactions>>;
  /** Transactions that may change the data of an account that is watched for it. */
  readonly #writes: TransactionMatcher<Interested<Updates>>;
  readonly #written: AccountMatcher<Interested<Updates>>;
  /** Transactions that call a program all of whose accounts are asked for: it alone writes the data of its accounts. */
  readonly #calls: TransactionMatcher<Interested<Owned>>;
  readonly #updates: AccountMatcher<Interested<Updates>>;
  readonly #creations: AccountMatcher<Interested<CreationInterest>>;
  readonly #closures: AccountMatcher<Interested<ClosureInterest>>;
  readonly #blocks = new Set<Interested<BlockInterest>>();
  #valued = 0;

  /** @param random - for the hash of keys, which must not be known outside */
  constructor(random: Random) {
    this.#transactions = new TransactionMatcher(random);
    this.#writes = new TransactionMatcher(random);
    this.#written = new AccountMatcher(random);
    this.#calls = new TransactionMatcher(random);
    this.#updates = new AccountMatcher(random);
    this.#creations = new AccountMatcher(random);
    this.#closures = new AccountMatcher(random);
  }

  get size(): number {
    return this.#members.size;
  }

  /** Whether a webhook asks what trades are worth. */
  get asksForPrices(): boolean {
    return this.#valued > 0;
  }

  has(id: string): boolean {
    return this.#members.has(id);
  }

  /** Adds a webhook, in place of the one of the same id. */
  add({ id, sinceMs, transactions, updates, creations, closures, blocks }: CompiledWebhook): void {
    this.remove(id);
    const webhook = { id, sinceMs };
    const members: Disposable[] = [];
    this.#members.set(id, members);
    if (transactions !== null) {
      const { filter, ...interest } = transactions;
      members.push(this.#transactions.add(filter, { webhook, interest }));
      if (interest.trades?.defi?.leastUsd != null) members.push(this.#value());
    }
    if (updates !== null) members.push(...this.#watch(webhook, updates));
    if (creations !== null) {
      members.push(this.#creations.add(ownedBy(creations.owner), { webhook, interest: creations }));
    }
    if (closures !== null) members.push(this.#closures.add(ownedBy(closures.owner), { webhook, interest: closures }));
    if (blocks !== null) {
      const entry = { webhook, interest: blocks };
      this.#blocks.add(entry);
      members.push({ [Symbol.dispose]: () => void this.#blocks.delete(entry) });
    }
  }

  #value(): Disposable {
    this.#valued += 1;
    return {
      [Symbol.dispose]: () => {
        this.#valued -= 1;
      },
    };
  }

  remove(id: string): void {
    for (const member of this.#members.get(id) ?? []) member[Symbol.dispose]();
    this.#members.delete(id);
  }

  /** Whether a block of the stage may be for anybody; if not, it need not be read. */
  asksFor(stage: WebhookStage): boolean {
    return this.#members.size > 0 && (stage === "confirmed" || this.#asksAboutFinal());
  }

  /**
   * What a block says to the webhooks, in the order of the chain. Where a trade takes more to decide than is at hand, a
   * delivery is made, and decided before it is first sent.
   */
  match(block: BlockEvents, { tells, prices, ...at }: MatchOptions): NewDelivery[] {
    const { blockTime } = block.block;
    const untilMs = blockTime === null ? Number.POSITIVE_INFINITY : Number(blockTime) * 1_000 + clockSkewMs;
    const matched = new MatchedBlock(block.block, {
      ...at,
      takes: (webhook) => webhook.sinceMs <= untilMs && tells(webhook),
    });
    const turns = at.stage === "confirmed" ? new AccountTurns(block, this.#asksAboutTurns()) : null;
    for (const transaction of block.transactions) {
      if (this.#transactions.groups > 0) this.#matchTransaction(transaction, { matched, prices });
      if (turns !== null) this.#matchTurns(turns.of(transaction.index), matched);
    }
    if (at.stage === "confirmed" && this.#updates.groups > 0) this.#matchUpdates(block, matched);
    const count = block.transactions.length;
    for (const { webhook, interest } of this.#blocks) {
      const event = interest.events[at.stage];
      if (event !== null && count >= interest.transactionsMin) matched.tell(webhook, event, {});
    }
    return matched.deliveries;
  }

  *#watch(webhook: IndexedWebhook, { accounts, ...interest }: UpdateInterest): Generator<Disposable> {
    const entry = { webhook, interest };
    const { owner } = interest;
    // Of named accounts the owner is asked when it is known, which it may not be of the block.
    yield this.#updates.add(accounts.length > 0 ? { accounts } : ownedBy(owner), entry);
    if (accounts.length === 0) {
      if (owner !== null) yield this.#calls.add({ programs: [owner] }, { webhook, interest: { ...interest, owner } });
    } else if (interest.dataAlone) {
      yield this.#writes.add({ accountInclude: accounts }, entry);
      yield this.#written.add({ accounts }, entry);
    }
  }

  #asksAboutFinal(): boolean {
    return this.#transactions.groups > 0 || this.#blocks.size > 0;
  }

  #asksAboutTurns(): boolean {
    return this.#creations.groups > 0 || this.#closures.groups > 0;
  }

  #matchTransaction(
    transaction: TransactionEvent,
    { matched, prices }: { readonly matched: MatchedBlock; readonly prices: TokenPrices | null },
  ): void {
    const groups = this.#transactions.match(transaction.facts);
    if (groups.length === 0) return;
    const traits = new TransactionTraits(transaction, prices);
    const at = { txIndex: transaction.index };
    for (const group of groups) {
      for (const { webhook, interest } of group.members()) {
        const settled = interest.settled[matched.stage];
        const verdict = settled === null ? false : settledVerdict(interest, traits);
        if (settled !== null && verdict !== false) {
          matched.tell(webhook, settled, { ...at, undecided: verdict === null ? interest.openTrades : null });
        }
        if (interest.failedAt === matched.stage && hasFailed(interest, traits)) {
          matched.tell(webhook, "transaction.failed", at);
        }
      }
    }
  }

  #matchTurns({ creations, closures }: Turns, matched: MatchedBlock): void {
    for (const { account, owner, creator, lamports, index: txIndex } of creations) {
      for (const group of this.#creations.match(account, owner)) {
        for (const { webhook, interest } of group.members()) {
          if (interest.creator !== null && interest.creator !== creator) continue;
          if (lamports >= interest.least) matched.tell(webhook, "account.created", { txIndex, account });
        }
      }
    }
    for (const { account, owner, reclaimedBy, index: txIndex } of closures) {
      for (const group of this.#closures.match(account, owner)) {
        for (const { webhook, interest } of group.members()) {
          if (interest.reclaimedBy !== null && interest.reclaimedBy !== reclaimedBy) continue;
          matched.tell(webhook, "account.closed", { txIndex, account });
        }
      }
    }
  }

  /** Net changes of balances, then accounts whose data may have changed or whose owner the block does not tell. */
  #matchUpdates(block: BlockEvents, matched: MatchedBlock): void {
    const changed = new Map<string, BalanceUpdate>();
    for (const update of block.accounts.updates) {
      const { account, owner } = update;
      changed.set(account, update);
      for (const group of this.#updates.match(account, owner)) {
        for (const { webhook, interest } of group.members()) {
          if (deltaOf(update) < interest.least || !mayOwn(interest.owner, owner)) continue;
          matched.tell(webhook, "account.updated", { account, undecided: owner === null ? interest.openOwner : null });
        }
      }
    }
    const told = new Set<string>();
    for (const transaction of block.transactions) {
      if (this.#writes.groups > 0) this.#matchWrites(transaction, { changed, told, matched });
      if (this.#calls.groups > 0) this.#matchCalls(transaction, { changed, told, matched });
    }
  }

  #matchWrites({ facts, view }: TransactionEvent, { changed, told, matched }: Updating): void {
    if (this.#writes.match(facts).length === 0) return;
    for (const key of writtenKeys(view)) {
      const account = view.keys[key];
      if (account === undefined || changed.has(account) || told.has(account)) continue;
      told.add(account);
      for (const group of this.#written.match(account, null)) {
        for (const { webhook, interest } of group.members()) {
          matched.tell(webhook, "account.updated", { account, undecided: interest.openOwner });
        }
      }
    }
  }

  #matchCalls({ facts, view }: TransactionEvent, { changed, told, matched }: Updating): void {
    for (const group of this.#calls.match(facts)) {
      const members = [...group.members()];
      const program = members[0]?.interest.owner;
      if (program === undefined) continue;
      for (const { account, owner } of writtenBy(program, view)) {
        const update = changed.get(account);
        const known = update === undefined ? owner : update.owner;
        // Changes of balances of what the block tells to be the program's are told by now.
        const isOver = known !== null && (known !== program || update !== undefined);
        const place = `${program} ${account}`;
        if (isOver || told.has(place)) continue;
        told.add(place);
        for (const { webhook, interest } of members) {
          if (update === undefined ? !interest.dataAlone : deltaOf(update) < interest.least) continue;
          matched.tell(webhook, "account.updated", { account, undecided: known === null ? interest.openOwner : null });
        }
      }
    }
  }
}

/** What is known of the block's accounts while its transactions are looked at. */
interface Updating {
  /** Accounts whose balance the block changed. */
  readonly changed: ReadonlyMap<string, BalanceUpdate>;
  /** Those of the others that were looked at, by account, or by program and account. */
  readonly told: Set<string>;
  readonly matched: MatchedBlock;
}

const deltaOf = ({ before, after }: BalanceUpdate): bigint => (after > before ? after - before : before - after);

const ownedBy = (owner: string | null): { readonly owners: readonly string[] } => ({
  owners: owner === null ? [] : [owner],
});

/** What the block does not tell is found out when the account is read. */
const mayOwn = (asked: string | null, owner: string | null): boolean =>
  asked === null || owner === null || asked === owner;

/** Null where it takes more than the block to say what the transaction made. */
function settledVerdict({ success, lamports, tokens, trades }: Transactions, traits: TransactionTraits): TradeVerdict {
  if (success !== null && success === traits.failed) return false;
  if (lamports !== null) {
    const { largestMovement } = traits;
    if (largestMovement < lamports.least) return false;
    if (lamports.most !== null && largestMovement > lamports.most) return false;
  }
  if (tokens !== null && !traits.movesTokens(tokens)) return false;
  // What a transaction was is asked last, as it costs most.
  return trades === null || traits.makesTrades(trades);
}

function hasFailed({ errorTypes }: Transactions, traits: TransactionTraits): boolean {
  if (!traits.failed) return false;
  return errorTypes === null || errorTypes.has(traits.errorType ?? "");
}

type Creation = BlockEvents["accounts"]["creations"][number];
type Closure = BlockEvents["accounts"]["closures"][number];

interface Turns {
  readonly creations: readonly Creation[];
  readonly closures: readonly Closure[];
}

/** Creations and closures of a block by transaction, whose indexes are asked for in ascending order. */
class AccountTurns {
  readonly #creations: readonly Creation[];
  readonly #closures: readonly Closure[];
  #created = 0;
  #closed = 0;

  constructor(block: BlockEvents, isAsked: boolean) {
    this.#creations = isAsked ? block.accounts.creations : [];
    this.#closures = isAsked ? block.accounts.closures : [];
  }

  of(index: number): Turns {
    const [created, closed] = [this.#created, this.#closed];
    while (this.#creations[this.#created]?.index === index) this.#created += 1;
    while (this.#closures[this.#closed]?.index === index) this.#closed += 1;
    return {
      creations: this.#creations.slice(created, this.#created),
      closures: this.#closures.slice(closed, this.#closed),
    };
  }
}
