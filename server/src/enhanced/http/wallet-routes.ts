import { serviceCredits } from "@sluice/contract/credits";
import { SluiceError } from "@sluice/contract/errors";
import * as schemas from "@sluice/contract/schemas";
import { movementsOf, type RecordValue, recordText } from "@sluice/parser";
import { canonicalJson } from "@sluice/wire/json";
import { dataSinceHeaders, parseInput } from "../../http/index.ts";
import type { LedgerPage, LedgerPages } from "../transactions/ledger-pages.ts";
import type { WalletAnalytics } from "../wallets/analytics.ts";
import { balanceMembers, tokenMembers, type WalletBalances } from "../wallets/balances.ts";
import type { WalletHistory } from "../wallets/history.ts";
import { transferMembers, transfersOf } from "../wallets/transfers.ts";
import { readWalletCursor, writeWalletCursor } from "../wallets/wallet-cursor.ts";
import { anyRecord, type WalletAsking, type WalletLedger } from "../wallets/wallet-ledger.ts";
import { addressParameter, type EnhancedAnswer, type EnhancedRoute } from "./route.ts";
import type { KeptAnswers, WalletReads } from "./wallet-reads.ts";

export interface WalletRoutesParts {
  readonly balances: WalletBalances;
  readonly analytics: WalletAnalytics;
  readonly history: WalletHistory;
  readonly ledger: WalletLedger;
  readonly pages: LedgerPages;
  readonly reads: WalletReads;
  readonly kept: KeptAnswers;
}

const root = "/api/v1/v0/wallet/:address";

/** The routes, as metrics name them. */
export const walletRouteNames = [
  `GET ${root}`,
  `GET ${root}/balances`,
  `GET ${root}/transfers`,
  `GET ${root}/history`,
] as const;

const dataSince = (since: number | null): Record<string, string> =>
  since === null ? {} : dataSinceHeaders(Number.NEGATIVE_INFINITY, since);

/** A page of the envelope: items that are JSON text already. */
const pageText = (texts: readonly string[], cursor: string | null): string =>
  `{"items":[${texts.join()}],"next_cursor":${JSON.stringify(cursor)}}`;

/** Wallets in the envelope: figures, balances, transfers and history. */
export function walletRoutes(parts: WalletRoutesParts): readonly EnhancedRoute[] {
  return [analyticsRoute(parts), balancesRoute(parts), transfersRoute(parts), historyRoute(parts)];
}

function analyticsRoute({ analytics, kept, reads }: WalletRoutesParts): EnhancedRoute {
  return {
    ...{ method: "get", path: root, isEnveloped: true },
    read: (context) => async (caller) => {
      const address = addressParameter(context, "address");
      parseInput(schemas.walletQuery, context.req.query());
      const work = (): Promise<EnhancedAnswer> =>
        kept.of(caller.network, `analytics ${caller.tier} ${address}`, () =>
          reads.bounded(async () => {
            const { text, isWhole } = await reads.timed("analytics", () => analytics.read(caller, address));
            if (!isWhole) reads.partial("analytics");
            return { text, kept: false };
          }),
        );
      return { price: serviceCredits.walletAnalytics, work };
    },
  };
}

function balancesRoute({ balances, reads }: WalletRoutesParts): EnhancedRoute {
  return {
    ...{ method: "get", path: `${root}/balances`, isEnveloped: true },
    read: (context) => async (caller) => {
      const address = addressParameter(context, "address");
      const { limit, cursor, zero } = parseInput(schemas.walletBalancesQuery, context.req.query());
      const question = `balances ${caller.network} ${address} ${zero}`;
      const { skip } = readWalletCursor(question, cursor);
      const asked = { ...caller, address, skip, limit, showsZero: zero === "true" };
      const work = async (): Promise<EnhancedAnswer> => {
        const read = await reads.timed("balances", () => balances.read(asked));
        if (!read.ok) throw new SluiceError(read.code);
        const { shown, tokensTotal } = read.balances;
        const end = skip + shown.length;
        const next = end < tokensTotal ? writeWalletCursor(question, { after: null, skip: end }) : null;
        const items = shown.map(tokenMembers);
        const record: RecordValue = { ...balanceMembers(read.balances), items, next_cursor: next };
        return { text: recordText(record), kept: false };
      };
      return { price: serviceCredits.walletBalances, work };
    },
  };
}

function transfersRoute({ ledger, pages, reads }: WalletRoutesParts): EnhancedRoute {
  return {
    ...{ method: "get", path: `${root}/transfers`, isEnveloped: true },
    read: (context) => async (caller) => {
      const address = addressParameter(context, "address");
      const { limit, cursor, order, ...range } = parseInput(schemas.walletTransfersQuery, context.req.query());
      const question = questionOf("transfers", caller, { address, order, ...range });
      const begin = readWalletCursor(question, cursor);
      const work = (): Promise<EnhancedAnswer> =>
        reads.bounded(async () => {
          const { window, dataSinceMs } = await ledger.reach(caller, range);
          const { addresses } = await ledger.watched(caller, address);
          const asked = { network: caller.network, addresses, window, order, until: null, limit, ...begin };
          const page = await reads.timed("transfers", () =>
            pages.read({ ...asked, filter: anyRecord }, (transaction) =>
              transfersOf(movementsOf(transaction.view), address).map((transfer) =>
                recordText(transferMembers(transaction, transfer)),
              ),
            ),
          );
          if (isCutShort(page, limit)) reads.partial("transfers");
          return pageAnswer(question, page, dataSinceMs);
        });
      return { price: serviceCredits.walletTransfers, work };
    },
  };
}

function historyRoute({ ledger, history, kept, reads }: WalletRoutesParts): EnhancedRoute {
  return {
    ...{ method: "get", path: `${root}/history`, isEnveloped: true },
    read: (context) => async (caller) => {
      const address = addressParameter(context, "address");
      const query = parseInput(schemas.walletHistoryQuery, context.req.query());
      const { limit, cursor, order, type = null, source = null, token_accounts: choice, since, until } = query;
      const question = questionOf("history", caller, { address, order, type, source, choice, since, until });
      const begin = readWalletCursor(question, cursor);
      const work = (): Promise<EnhancedAnswer> =>
        kept.of(caller.network, `${question} ${caller.tier} ${limit} ${cursor ?? ""}`, () =>
          reads.bounded(async () => {
            const { window, dataSinceMs } = await ledger.reach(caller, { since, until });
            const tokenAccounts = choice === "none" ? "none" : "all";
            const asked = { ...caller, address, tokenAccounts, window, order, until: null, limit, ...begin } as const;
            const page = await reads.timed("history", () => history.read({ ...asked, filter: { type, source } }));
            if (isCutShort(page, limit)) reads.partial("history");
            const texts = page.items.map(({ text }) => text);
            return pageAnswer(question, { ...page, items: texts }, dataSinceMs);
          }),
        );
      return { price: serviceCredits.walletHistory, work };
    },
  };
}

/** Whether a page ended by its bounds of time or number before it was full. */
const isCutShort = ({ items, next }: LedgerPage<unknown>, limit: number): boolean =>
  next !== null && items.length < limit;

/** The text of a question: all that decides its items and their order, and not how many there are. */
function questionOf(
  list: string,
  { network }: WalletAsking,
  members: Readonly<Record<string, string | null | undefined>>,
): string {
  const given = Object.entries(members).map(([name, value]) => [name, value ?? null]);
  return `${list} ${network} ${canonicalJson(Object.fromEntries(given))}`;
}

function pageAnswer(question: string, { items, next }: LedgerPage<string>, dataSinceMs: number | null): EnhancedAnswer {
  const cursor = next === null ? null : writeWalletCursor(question, next);
  return { text: pageText(items, cursor), kept: false, headers: dataSince(dataSinceMs) };
}
