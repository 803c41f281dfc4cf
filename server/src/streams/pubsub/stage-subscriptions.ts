import type { Random } from "@sluice/lib";
import { type BlockReader, type FilterMember, type TransactionFilter, TransactionMatcher } from "../../events/index.ts";
import type { FlowBlock } from "../flow/flow-block.ts";
import type { FlowEnd, FlowReceiver } from "../flow/flow-receiver.ts";
import { type BlockForm, BlockNotifications, blockFormOf } from "./block-notifications.ts";
import type { SharedSubscription } from "./shared-subscription.ts";
import type { SubscriptionSpec } from "./subscription-spec.ts";

export interface StageSubscriptionsDependencies {
  readonly random: Random;
  readonly reader: BlockReader;
  /** Nothing more is told of the blocks. */
  readonly ended: (end: FlowEnd) => void;
}

/** What is told of blocks as wholes. */
interface BlockSubscription {
  readonly form: BlockForm;
  /** Only the transactions that name this address. */
  readonly hasMention: boolean;
}

/** What of a block's transactions a subscription is about; null for one that is about none. */
function filterOf({ kind, subject }: SubscriptionSpec): TransactionFilter | null {
  const object = typeof subject === "object" && subject !== null && !Array.isArray(subject) ? subject : {};
  const { mentions, mentionsAccountOrProgram } = object as { readonly [name: string]: unknown };
  switch (kind) {
    case "signature":
      return { signature: String(subject) };
    case "logs":
      if (subject === "all") return { vote: false };
      return Array.isArray(mentions) ? { accountInclude: [String(mentions[0])] } : {};
    case "block":
      return typeof mentionsAccountOrProgram === "string" ? { accountInclude: [mentionsAccountOrProgram] } : null;
    default:
      return null;
  }
}

/** The subscriptions to the blocks of one network at one stage. */
export class StageSubscriptions implements FlowReceiver {
  readonly #dependencies: StageSubscriptionsDependencies;
  readonly #matcher: TransactionMatcher<SharedSubscription>;
  readonly #filters = new Map<SharedSubscription, FilterMember<SharedSubscription>>();
  readonly #blocks = new Map<SharedSubscription, BlockSubscription>();
  readonly #roots = new Set<SharedSubscription>();
  /** The slot of the newest block that was told. */
  lastSlot: bigint | null = null;

  constructor(dependencies: StageSubscriptionsDependencies) {
    this.#dependencies = dependencies;
    this.#matcher = new TransactionMatcher(dependencies.random);
  }

  get all(): ReadonlySet<SharedSubscription> {
    return new Set([...this.#roots, ...this.#blocks.keys(), ...this.#filters.keys()]);
  }

  get isEmpty(): boolean {
    return this.#roots.size + this.#blocks.size + this.#filters.size === 0;
  }

  /** Those that end with a transaction. */
  get signatures(): readonly SharedSubscription[] {
    return [...this.#filters.keys()].filter(({ spec }) => spec.kind === "signature");
  }

  add(shared: SharedSubscription): void {
    const { spec } = shared;
    const filter = filterOf(spec);
    if (spec.kind === "root") this.#roots.add(shared);
    if (spec.kind === "block") {
      this.#blocks.set(shared, { form: blockFormOf(spec), hasMention: filter !== null });
    }
    if (filter !== null) this.#filters.set(shared, this.#matcher.add(filter, shared));
  }

  delete(shared: SharedSubscription): void {
    this.#roots.delete(shared);
    this.#blocks.delete(shared);
    this.#filters.get(shared)?.[Symbol.dispose]();
    this.#filters.delete(shared);
  }

  block(block: FlowBlock): null {
    this.lastSlot = block.header.slot;
    for (const shared of this.#roots) shared.notify(String(block.header.slot));
    const notifications = new BlockNotifications(block);
    const mentions = this.#tellTransactions(block, notifications);
    for (const [shared, { form, hasMention }] of this.#blocks) {
      const places = hasMention ? mentions.get(shared) : null;
      if (places !== undefined) shared.notify(notifications.whole(form, places));
    }
    return null;
  }

  /** Gives for each subscription to blocks with a mention the places of the transactions that name it. */
  #tellTransactions(block: FlowBlock, notifications: BlockNotifications): Map<SharedSubscription, number[]> {
    const mentions = new Map<SharedSubscription, number[]>();
    if (this.#filters.size === 0) return mentions;
    const { transactions } = this.#dependencies.reader.events(block.block);
    for (const [index, { facts }] of transactions.entries()) {
      for (const group of this.#matcher.match(facts)) {
        for (const shared of group.members()) {
          if (shared.spec.kind === "logs") shared.notify(notifications.logs(index));
          else if (shared.spec.kind === "signature") shared.notify(notifications.signature(index), true);
          else {
            const places = mentions.get(shared);
            if (places === undefined) mentions.set(shared, [index]);
            else places.push(index);
          }
        }
      }
    }
    return mentions;
  }

  /** PubSub has no form in which it could be told. */
  undo(): void {}

  gap(): void {}

  ready(): null {
    return null;
  }

  caughtUp(): void {}

  ended(end: FlowEnd): void {
    this.#dependencies.ended(end);
  }
}
