import { serviceCredits } from "@sluice/contract/credits";
import { SluiceError } from "@sluice/contract/errors";
import { limits } from "@sluice/contract/limits";
import * as schemas from "@sluice/contract/schemas";
import type { JsonValue } from "@sluice/encode";
import type { Clock, Log } from "@sluice/lib";
import { isSignature, parseSlot } from "@sluice/wire/identifiers";
import { stringifyJsonExact } from "@sluice/wire/json";
import type { Context, Hono } from "hono";
import {
  type AdmittedCaller,
  admitRest,
  beginExchange,
  type RestExchange,
  type RestRecorder,
  recordRest,
} from "../../access/index.ts";
import { createRestApp, dataSinceHeaders, parseInput, type RestEnvironment, readInput } from "../../http/index.ts";
import type { TransactionPlace } from "../../ledger/index.ts";
import { writeCursor } from "../lookups/cursor.ts";
import type { Asker, FoundPage, Lookups, PlacedItem } from "../lookups/lookups.ts";
import { chargedRead, type ExchangeDependencies, readFailure } from "./exchange.ts";
import { type Asked, blocksQuestion, searchQuestion, transactionsQuestion } from "./questions.ts";

export interface HistoryAppDependencies extends ExchangeDependencies, RestRecorder {
  readonly clock: Clock;
  readonly lookups: Pick<Lookups, "transaction" | "block" | "transactions" | "blocks">;
  readonly requestId: () => string;
  readonly log: Pick<Log, "error" | "warn">;
}

/** The path under which the history is mounted. */
export const historyPath = "/api/v1/history";

/** Every route, as metrics name it. */
export const historyMethods = [
  `GET ${historyPath}/transactions/:signature`,
  `GET ${historyPath}/blocks/:slot`,
  `GET ${historyPath}/transactions`,
  `GET ${historyPath}/blocks`,
  `POST ${historyPath}/search`,
] as const;

/** Lists and searches that read at one time, of all and of one account; look-ups of one thing are not among them. */
const listsMax = 6;
const listsOfAccountMax = 2;
/** Text of one page; what is beyond it is the next page's. */
const pageBytesMax = 16 * 1024 * 1024;
const bodyTimeoutMs = 10_000;

type RestContext = Context<RestEnvironment>;

/** Indexed history over REST: look-ups by signature and slot, lists, and the search. */
export class HistoryApp {
  readonly #app: Hono<RestEnvironment>;
  readonly #dependencies: HistoryAppDependencies;
  readonly #exchanges = new WeakMap<Request, RestExchange>();
  #lists = 0;
  readonly #listsOf = new Map<string, number>();

  constructor(dependencies: HistoryAppDependencies) {
    this.#dependencies = dependencies;
    this.#app = createRestApp({ cors: "open" }, dependencies);
    this.#app.use("*", async (context, next) => {
      const exchange = beginExchange(dependencies.clock);
      this.#exchanges.set(context.req.raw, exchange);
      await next();
      // Whose answer it is stands in a header that caches do not look at.
      context.res.headers.set("Cache-Control", "no-store");
      await recordRest(context, exchange, dependencies);
    });
    this.#addLookups();
    this.#addLists();
  }

  fetch(request: Request, bindings: RestEnvironment["Bindings"] = {}): Response | Promise<Response> {
    return this.#app.fetch(request, bindings);
  }

  #addLookups(): void {
    const { lookups } = this.#dependencies;
    const price = serviceCredits.historyLookup;
    this.#app.get(`${historyPath}/transactions/:signature`, (context) =>
      this.#serve(context, price, async ({ asker }) => {
        const signature = context.req.param("signature");
        if (!isSignature(signature)) throw invalid("signature", "must be a signature: 64 bytes in base58");
        const { encoding } = parseInput(schemas.historyTransactionQuery, context.req.query());
        return async () => json(await lookups.transaction(asker, signature, encoding ?? null));
      }),
    );
    this.#app.get(`${historyPath}/blocks/:slot`, (context) =>
      this.#serve(context, price, async ({ asker }) => {
        const slot = parseSlot(context.req.param("slot"));
        if (slot === null) throw invalid("slot", "must be a slot");
        const query = parseInput(schemas.historyBlockQuery, context.req.query());
        return async () => json(await lookups.block(asker, slot, query));
      }),
    );
  }

  #addLists(): void {
    const { lookups } = this.#dependencies;
    this.#app.get(`${historyPath}/transactions`, (context) =>
      this.#serve(context, serviceCredits.historyList, async ({ asker, grant: { accountId } }) => {
        const asked = transactionsQuestion(asker, parseInput(schemas.historyTransactionsQuery, context.req.query()));
        return () => this.#page(asked, { accountId, read: () => lookups.transactions(asked.question) });
      }),
    );
    this.#app.get(`${historyPath}/blocks`, (context) =>
      this.#serve(context, serviceCredits.historyList, async ({ asker, grant: { accountId } }) => {
        const asked = blocksQuestion(asker, parseInput(schemas.historyBlocksQuery, context.req.query()));
        return () => this.#page(asked, { accountId, read: () => lookups.blocks(asked.question) });
      }),
    );
    this.#app.post(`${historyPath}/search`, (context) =>
      this.#serve(context, serviceCredits.historySearch, async ({ asker, grant: { accountId } }) => {
        const bounds = { limitBytes: limits.restBodyBytes, timeoutMs: bodyTimeoutMs };
        const asked = searchQuestion(asker, await readInput(context.req.raw, schemas.historySearchBody, bounds));
        return () => this.#page(asked, { accountId, read: () => lookups.transactions(asked.question) });
      }),
    );
  }

  /** Admits, reads the input, charges, and answers; what is refused before the charge costs nothing. */
  async #serve(
    context: RestContext,
    price: number,
    read: (admitted: AdmittedCaller & { readonly asker: Asker }) => Promise<() => Promise<Answer>>,
  ): Promise<Response> {
    const { access } = this.#dependencies;
    const exchange = this.#exchanges.get(context.req.raw);
    if (exchange === undefined) throw new TypeError("a route is reached through the application alone");
    const admitted = await admitRest(context, exchange, { ...this.#dependencies, oneOf: ["read"] });
    const { grant, network } = admitted;
    const answer = await read({ ...admitted, asker: { network, tier: grant.tier } });
    const { text, headers } = await chargedRead(exchange, { access, grant, price }, async () => {
      try {
        return await answer();
      } catch (error) {
        throw readFailure(error, this.#dependencies.log);
      }
    });
    return context.body(text, 200, { "Content-Type": "application/json", ...headers });
  }

  async #page<Question>(
    { text }: Asked<Question>,
    { accountId, read }: { readonly accountId: string; readonly read: () => Promise<FoundPage> },
  ): Promise<Answer> {
    const own = this.#listsOf.get(accountId) ?? 0;
    if (own >= listsOfAccountMax) {
      throw new SluiceError("OVERLOADED", { message: `An account reads ${listsOfAccountMax} lists at a time` });
    }
    if (this.#lists >= listsMax) throw new SluiceError("OVERLOADED");
    this.#lists += 1;
    this.#listsOf.set(accountId, own + 1);
    try {
      const { items, next, dataSinceMs } = await read();
      const { written, cut } = writeItems(items);
      const place = cut ?? next;
      const cursor = place === null ? "null" : JSON.stringify(writeCursor(text, place));
      const headers = dataSinceMs === null ? {} : dataSinceHeaders(Number.NEGATIVE_INFINITY, dataSinceMs);
      return { text: `{"items":[${written.join(",")}],"next_cursor":${cursor}}`, headers };
    } finally {
      this.#lists -= 1;
      const left = (this.#listsOf.get(accountId) ?? 1) - 1;
      if (left > 0) this.#listsOf.set(accountId, left);
      else this.#listsOf.delete(accountId);
    }
  }
}

interface Answer {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

const json = (value: JsonValue): Answer => ({ text: stringifyJsonExact(value), headers: {} });

const invalid = (path: string, message: string): SluiceError =>
  new SluiceError("INVALID_INPUT", { message: `${path} ${message}`, details: { errors: [{ path, message }] } });

/** The texts of a page, within its bound, and the place of the last one where not all fit; one always does. */
function writeItems(items: readonly PlacedItem[]) {
  const written: string[] = [];
  let characters = 0;
  let last: TransactionPlace | null = null;
  for (const { place, value } of items) {
    const text = stringifyJsonExact(value);
    if (last !== null && characters + text.length > pageBytesMax) return { written, cut: last };
    written.push(text);
    characters += text.length;
    last = place;
  }
  return { written, cut: null };
}
