import { unpackTransaction } from "@sluice/encode";
import type { Clock } from "@sluice/lib";
import { parserVersion, parseTransaction, TransactionView } from "@sluice/parser";
import {
  type ChainReads,
  type FoundTransactions,
  type PlaceRange,
  searchAnswerMs,
  type TransactionBodyRow,
  type TransactionConditions,
  type TransactionPlace,
} from "../../ledger/index.ts";

export interface ParsedSearchDependencies {
  readonly chain: Pick<ChainReads, "find" | "activity" | "transactions">;
  readonly clock: Pick<Clock, "monotonic">;
}

/** Transactions that one page parses: a fifth of a millisecond each. */
const parsedMax = 1_000;
/** Those whose bodies one statement reads. */
const chunk = 100;

/**
 * Finds transactions whose types or sources are asked for. The ledger's rows decide where they are of this parser or of
 * a newer one; the others, which are there while history is parsed again, are parsed here. A page ends at the bounds of
 * time and number, and goes on at the next call. Throws LedgerUnavailableError, LedgerQueryError.
 */
export async function findParsed(
  range: PlaceRange,
  asked: TransactionConditions,
  { chain, clock }: ParsedSearchDependencies,
): Promise<FoundTransactions> {
  const conditions = { ...asked, parserVersion };
  const untilMs = clock.monotonic() + searchAnswerMs;
  const places: TransactionPlace[] = [];
  let { after, limit } = range;
  let parsed = 0;
  for (;;) {
    const leftMs = Math.max(0, untilMs - clock.monotonic());
    const page = await chain.find({ ...range, after, limit }, conditions, leftMs);
    const decided = await decide(range.network, page.places, conditions, chain);
    for (const [at, place] of decided.matching.entries()) {
      places.push(place);
      if (places.length < range.limit) continue;
      const isLast = page.next === null && at === decided.matching.length - 1;
      return { places, next: isLast ? null : place };
    }
    parsed += decided.parsed;
    if (page.next === null) return { places, next: null };
    after = page.next;
    if (parsed >= parsedMax || clock.monotonic() >= untilMs) return { places, next: after };
    // Where much has to be parsed, few of a page may match.
    limit = decided.parsed === 0 ? range.limit - places.length : chunk;
  }
}

/** Those of some places that match in fact, in their order, and how many had to be parsed for it. */
async function decide(
  network: PlaceRange["network"],
  places: readonly TransactionPlace[],
  { types, sources }: TransactionConditions,
  { activity, transactions }: ParsedSearchDependencies["chain"],
): Promise<{ readonly matching: readonly TransactionPlace[]; readonly parsed: number }> {
  const matches = ({ type, source }: { readonly type: string; readonly source: string }): boolean =>
    (types?.includes(type) ?? true) && (sources?.includes(source) ?? true);
  const isMatching = new Map<string, boolean>();
  for (const row of await activity.typesOf(network, places)) {
    if (row.version >= parserVersion) isMatching.set(nameOf(row), matches(row));
  }
  const open = places.filter((place) => !isMatching.has(nameOf(place)));
  for (let at = 0; at < open.length; at += chunk) {
    const bodies = await transactions.bodies(network, open.slice(at, at + chunk), "asc");
    for (const row of bodies) isMatching.set(nameOf(row), matches(parse(row)));
  }
  return { matching: places.filter((place) => isMatching.get(nameOf(place)) === true), parsed: open.length };
}

const nameOf = ({ slot, index }: TransactionPlace): string => `${slot} ${index}`;

/** As the writer's row of it is: what the parser fails on is not known, which is reported when the row is written. */
function parse({ body }: TransactionBodyRow): { readonly type: string; readonly source: string } {
  const view = new TransactionView(unpackTransaction(body));
  try {
    return parseTransaction(view);
  } catch {
    return { type: "UNKNOWN", source: "unknown" };
  }
}
