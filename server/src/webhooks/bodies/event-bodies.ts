import type { Network } from "@sluice/contract/tiers";
import { chainEventNames } from "@sluice/contract/webhooks";
import { type JsonValue, parseJsonExact, stringifyJsonExact } from "@sluice/wire/json";
import type { ReadAccountState, TransactionEvent } from "../../events/index.ts";
import { type BalanceUpdate, type BlockEvents, closureText, creationText, updateText } from "../../events/index.ts";
import type { NewDelivery } from "../../state/index.ts";
import { type BodySwitches, openFiltersOf } from "../model/compiled-webhook.ts";
import type { AccountStates } from "./account-states.ts";
import { BlockAwayError, type EventBlocks } from "./event-blocks.ts";
import type { EventTrades } from "./event-trades.ts";

/** Where an event is on the chain, and what was kept of it with its delivery. */
export interface DeliveredEvent
  extends Pick<NewDelivery, "event" | "slot" | "blockhash" | "txIndex" | "account" | "undecided"> {
  readonly network: Network;
  /** Those that were made of it before. */
  readonly attempts: number;
  /** What an earlier answer gave as `detail`; null before there was one. */
  readonly detail: string | null;
}

export type EventData =
  | {
      readonly ok: true;
      /** JSON text. */
      readonly data: string;
      /** Unix milliseconds, of the block; null where it states no time. */
      readonly timeMs: number | null;
      /** To be kept with the delivery, so that a later attempt has the same data; null where nothing is. */
      readonly detail: string | null;
    }
  /**
   * `AWAY`: the block, or what it takes to decide a filter, cannot be read now. `GONE`: nothing holds the block any
   * more. `NO_EVENT`: the account's data did not change with the block, it is another program's, or the transaction
   * made no trade that the webhook asks for.
   */
  | { readonly ok: false; readonly code: "AWAY" | "GONE" | "NO_EVENT" };

export interface EventBodiesDependencies {
  readonly blocks: Pick<EventBlocks, "find">;
  readonly states: Pick<AccountStates, "read" | "changed">;
  readonly trades: Pick<EventTrades, "decide">;
}

type Text = Pick<Extract<EventData, { ok: true }>, "data" | "detail">;

/** An account of which nothing was read in time. */
const unread = "null";

/**
 * The data of events, made from the chain again whenever they are sent. What the chain does not hold, the data of
 * accounts, is read from nodes once and kept with the delivery.
 */
export class EventBodies {
  readonly #dependencies: EventBodiesDependencies;
  readonly #updates = new WeakMap<BlockEvents, ReadonlyMap<string, BalanceUpdate>>();

  constructor(dependencies: EventBodiesDependencies) {
    this.#dependencies = dependencies;
  }

  /** @throws {unknown} what is a fault of this program alone */
  async data(delivered: DeliveredEvent, switches: BodySwitches): Promise<EventData> {
    let events: BlockEvents | null;
    try {
      events = await this.#dependencies.blocks.find(delivered);
    } catch (error) {
      if (error instanceof BlockAwayError) return { ok: false, code: "AWAY" };
      throw error;
    }
    if (events === null) return { ok: false, code: "GONE" };
    const text = await this.#text(events, { delivered, switches });
    if (text === null) return { ok: false, code: "GONE" };
    if (text === "away") return { ok: false, code: "AWAY" };
    if (text === "no event") return { ok: false, code: "NO_EVENT" };
    const { blockTime } = events.block;
    return { ok: true, timeMs: blockTime === null ? null : Number(blockTime) * 1_000, ...text };
  }

  /** Null where the block has nothing at the place. */
  async #text(
    events: BlockEvents,
    { delivered, switches }: { readonly delivered: DeliveredEvent; readonly switches: BodySwitches },
  ): Promise<Text | "no event" | "away" | null> {
    const { event, slot, txIndex, account } = delivered;
    const name = chainEventNames.find((each) => each === event);
    const transaction = txIndex === null ? undefined : events.transactions[txIndex];
    switch (name) {
      case "transaction.confirmed":
      case "transaction.finalized":
        return transaction === undefined ? null : await this.#settled(events, { transaction, delivered, switches });
      case "transaction.failed":
        return said(transaction?.failedText());
      case "account.created": {
        const creation = events.accounts.creations.find((each) => each.account === account && each.index === txIndex);
        return said(creation && creationText(slot, creation));
      }
      case "account.closed": {
        const closure = events.accounts.closures.find((each) => each.account === account && each.index === txIndex);
        return said(closure && closureText(slot, closure));
      }
      case "account.updated":
        return await this.#updated(events, { delivered, switches });
      case "block.confirmed":
      case "block.finalized":
        return said(events.eventText({ rewards: switches.rewards, transactions: switches.signatures }));
      default:
        return null;
    }
  }

  /** What was asked of trades beyond the block is decided once, before the first attempt. */
  async #settled(
    { block }: BlockEvents,
    of: { readonly transaction: TransactionEvent; readonly delivered: DeliveredEvent; readonly switches: BodySwitches },
  ): Promise<Text | "no event" | "away"> {
    const { transaction, switches } = of;
    const { network, attempts, undecided } = of.delivered;
    const { trades: conditions } = openFiltersOf(undecided);
    if (conditions !== null && attempts === 0) {
      const verdict = await this.#dependencies.trades.decide(transaction, { network, block, conditions });
      if (verdict !== true) return verdict === false ? "no event" : "away";
    }
    return { data: transaction.eventText(switches), detail: null };
  }

  async #updated(
    events: BlockEvents,
    { delivered, switches }: { readonly delivered: DeliveredEvent; readonly switches: BodySwitches },
  ): Promise<Text | "no event" | "away" | null> {
    const { network, slot, account, detail, undecided } = delivered;
    if (account === null) return null;
    const balance = this.#updatesOf(events).get(account);
    const update = balance ?? unmoved(events, account);
    if (update === null) return null;
    if (detail !== null) return { data: updateText(slot, update, stateOf(detail)), detail };
    const question = { network, account, slot, encoding: switches.encoding };
    const { owner: asked } = openFiltersOf(undecided);
    if (balance !== undefined && !switches.data && asked === null) return said(updateText(slot, update));
    if (balance === undefined && !(await this.#dependencies.states.changed(question))) return "no event";
    const state = await this.#dependencies.states.read(question);
    if (asked !== null) {
      if (state === null) return "away";
      // Of an account that is gone by now nobody can say whose it was.
      if (state.owner !== null && state.owner !== asked) return "no event";
    }
    if (!switches.data && state !== null) return keptText(slot, update, { ...state, data: "null" });
    return keptText(slot, update, state);
  }

  #updatesOf(events: BlockEvents): ReadonlyMap<string, BalanceUpdate> {
    const known = this.#updates.get(events);
    if (known !== undefined) return known;
    const updates = new Map(events.accounts.updates.map((update) => [update.account, update]));
    this.#updates.set(events, updates);
    return updates;
  }
}

const said = (data: string | undefined): Text | null => (data === undefined ? null : { data, detail: null });

function keptText(slot: bigint, update: BalanceUpdate, state: ReadAccountState | null): Text {
  return { data: updateText(slot, update, state), detail: state === null ? unread : detailOf(state) };
}

/** An account that the block wrote and whose balance it left as it was; null for one that it did not write. */
function unmoved(events: BlockEvents, account: string): BalanceUpdate | null {
  for (const { view } of events.transactions.toReversed()) {
    const key = view.keys.indexOf(account);
    const lamports = key === -1 ? undefined : view.meta?.postBalances[key];
    if (lamports !== undefined) return { account, before: lamports, after: lamports, owner: null };
  }
  return null;
}

const detailOf = ({ slot, owner, executable, rentEpoch, data, dataSize }: ReadAccountState): string =>
  stringifyJsonExact([slot, owner, executable, rentEpoch, data, dataSize]);

/** Null for what says that nothing was read. @throws {TypeError} for text that `detailOf` did not give */
function stateOf(detail: string): ReadAccountState | null {
  if (detail === unread) return null;
  const parsed = parseJsonExact(detail);
  const [slot, owner, executable, rentEpoch, data, dataSize]: readonly JsonValue[] =
    parsed.ok && Array.isArray(parsed.value) ? parsed.value : [];
  const read = integerOf(slot);
  if (read === null || typeof data !== "string")
    throw new TypeError("the detail of a delivery is not one of an account");
  return {
    slot: read,
    owner: typeof owner === "string" ? owner : null,
    executable: typeof executable === "boolean" ? executable : null,
    rentEpoch: integerOf(rentEpoch),
    data,
    dataSize: integerOf(dataSize),
  };
}

const integerOf = (value: JsonValue | undefined): bigint | null =>
  typeof value === "number" || typeof value === "bigint" ? BigInt(value) : null;
