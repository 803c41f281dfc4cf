import type { View } from "../process/view.ts";
import type { Venue } from "../venue.ts";
import type { PublishedState, Topic } from "./exchange.ts";

/** Most trades of one market in one tick; older ones are left out, as after a gap. */
export const tradesPerTickMax = 64;

/**
 * The view of a topic's market when there is news: a new trade, or, if asked for, other best prices. A
 * market that a fault froze is sent again and again. Null when there is nothing new.
 */
export function newsOf(topic: Topic, published: PublishedState, venue: Venue, what: "trades" | "quotes"): View | null {
  const view = venue.view(topic.market);
  const quotes = what === "quotes" ? `${view.bid} ${view.ask} ${view.bidSize} ${view.askSize}` : "";
  const isNew = published.tradeId !== view.last.id || published.quotes !== quotes || venue.isFrozen(topic.market);
  published.tradeId = view.last.id;
  published.quotes = quotes;
  return isNew ? view : null;
}

/** Whether so much time has passed since the topic was published; if so, records the present time. */
export function isDue(published: PublishedState, everyMs: number, venue: Venue): boolean {
  const now = venue.clock();
  // A clock that was set back must not silence a topic until it has caught up.
  if (now >= published.atMs && now - published.atMs < everyMs) return false;
  published.atMs = now;
  return true;
}
