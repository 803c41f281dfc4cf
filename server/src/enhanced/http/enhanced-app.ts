import { serviceCredits } from "@sluice/contract/credits";
import { SluiceError } from "@sluice/contract/errors";
import * as schemas from "@sluice/contract/schemas";
import type { Clock, Log } from "@sluice/lib";
import { isSignature } from "@sluice/wire/identifiers";
import type { Hono } from "hono";
import {
  type AdmittedCaller,
  admitRest,
  beginExchange,
  meterRest,
  type RestExchange,
  type RestGate,
  type RestRecorder,
  recordRest,
} from "../../access/index.ts";
import { chargedRead, type ExchangeDependencies, readFailure } from "../../history/index.ts";
import { createRestApp, parseInput, type RestEnvironment, readInput } from "../../http/index.ts";
import type { AddressTransactions } from "../addresses/address-transactions.ts";
import type { Nfts } from "../nfts/nfts.ts";
import type { Tokens } from "../tokens/tokens.ts";
import type { ParsedItem, ParsedTransactions } from "../transactions/parsed-transactions.ts";
import { envelopeText, failureResponse } from "./envelope.ts";
import {
  addressParameter,
  bodyBounds,
  type EnhancedAnswer,
  type EnhancedContext,
  type EnhancedRoute,
  invalid,
  type Read,
} from "./route.ts";
import { sdkWalletPath, sdkWalletRouteNames } from "./sdk-wallet-routes.ts";
import { walletRouteNames } from "./wallet-routes.ts";

export interface EnhancedAppDependencies extends ExchangeDependencies, RestRecorder {
  readonly clock: Clock;
  readonly transactions: Pick<ParsedTransactions, "read">;
  readonly addresses: Pick<AddressTransactions, "read">;
  readonly tokens: Pick<Tokens, "read">;
  readonly nfts: Pick<Nfts, "read">;
  /** Of wallets. */
  readonly routes: readonly EnhancedRoute[];
  readonly requestId: () => string;
  readonly log: Pick<Log, "error" | "warn">;
}

/** Where the enhanced API is mounted: in its envelope, and bare, where helius-sdk calls it. */
export const enhancedPath = "/api/v1/v0";
export const barePath = "/v0";
export { sdkWalletPath };

/** Where the next page of a list begins, whose body is a list alone. */
const nextSignatureHeader = "X-Next-Signature";

/** What is known of a request while it is served. */
interface EnhancedExchange extends RestExchange {
  /** Whether all of the answer was kept. */
  kept: boolean;
}

/** Access to this API is a key's own, and so is its rate. */
const gate: RestGate = {
  buckets: ({ enhanced }) => enhanced.buckets,
  refusal: ({ enhanced }) => (enhanced.isAllowed ? null : "ENHANCED_API_DISABLED"),
};

/** Every route, as metrics name it. */
export const enhancedRoutes = [
  `POST ${enhancedPath}/transactions`,
  `GET ${enhancedPath}/token/:mint`,
  `GET ${enhancedPath}/nft/:mint`,
  `POST ${barePath}/transactions`,
  `GET ${enhancedPath}/addresses/:address/transactions`,
  `GET ${barePath}/addresses/:address/transactions`,
  ...walletRouteNames,
  ...sdkWalletRouteNames,
] as const;

/** The enhanced API over HTTP. */
export class EnhancedApp {
  readonly #app: Hono<RestEnvironment>;
  readonly #dependencies: EnhancedAppDependencies;
  readonly #exchanges = new WeakMap<Request, EnhancedExchange>();
  readonly #viewers = new WeakMap<Request, AdmittedCaller>();

  constructor(dependencies: EnhancedAppDependencies) {
    this.#dependencies = dependencies;
    const failure = (error: SluiceError, { req, get }: EnhancedContext): Response | null =>
      req.path.startsWith(`${enhancedPath}/`) ? failureResponse(error, get("requestId")) : null;
    this.#app = createRestApp({ cors: "open", failure: (error, context) => failure(error, context) }, dependencies);
    this.#app.use("*", async (context, next) => {
      const exchange: EnhancedExchange = { ...beginExchange(dependencies.clock), kept: false };
      this.#exchanges.set(context.req.raw, exchange);
      await next();
      // Whose answer it is stands in a header that caches do not look at.
      context.res.headers.set("Cache-Control", "no-store");
      const cache = context.res.ok ? (exchange.kept ? "HIT" : "MISS") : "";
      await recordRest(context, exchange, { ...this.#dependencies, cache });
    });
    this.#addRoutes();
  }

  fetch(request: Request, bindings: RestEnvironment["Bindings"] = {}): Response | Promise<Response> {
    return this.#app.fetch(request, bindings);
  }

  /** A request of somebody who was admitted already, in the place of a key's. */
  fetchFor(viewer: AdmittedCaller, request: Request): Response | Promise<Response> {
    this.#viewers.set(request, viewer);
    return this.#app.fetch(request, {});
  }

  #addRoutes(): void {
    const { tokens, nfts, routes } = this.#dependencies;
    this.#app.post(`${enhancedPath}/transactions`, (context) => this.#serve(context, true, this.#parse(context)));
    this.#app.post(`${barePath}/transactions`, (context) => this.#serve(context, false, this.#parse(context)));
    this.#app.get(`${enhancedPath}/token/:mint`, (context) =>
      this.#serve(context, true, async (asking) => {
        const mint = addressParameter(context, "mint");
        const work = async (): Promise<EnhancedAnswer> => {
          const token = await tokens.read(asking, mint);
          if (!token.ok) throw new SluiceError(token.code);
          return token;
        };
        return { price: serviceCredits.tokenMetadata, work };
      }),
    );
    this.#app.get(`${enhancedPath}/nft/:mint`, (context) =>
      this.#serve(context, true, async (asking) => {
        const mint = addressParameter(context, "mint");
        const work = async (): Promise<EnhancedAnswer> => {
          const nft = await nfts.read(asking, mint);
          if (!nft.ok) throw new SluiceError(nft.code, nft.message === null ? {} : { message: nft.message });
          return nft;
        };
        return { price: serviceCredits.nftMetadata, work };
      }),
    );
    for (const [path, isEnveloped] of [
      [enhancedPath, true],
      [barePath, false],
    ] as const) {
      this.#app.get(`${path}/addresses/:address/transactions`, (context) =>
        this.#serve(context, isEnveloped, this.#ofAddress(context)),
      );
    }
    for (const { method, path, isEnveloped, read } of routes) {
      this.#app[method](path, (context) => this.#serve(context, isEnveloped, read(context)));
    }
  }

  /** The records of the transactions of an address. */
  #ofAddress(context: EnhancedContext): Read {
    return async (asking) => {
      const address = addressParameter(context, "address");
      const query = parseInput(schemas.enhancedAddressQuery, context.req.query());
      const work = async (): Promise<EnhancedAnswer> => {
        const page = await this.#dependencies.addresses.read({ ...asking, address, query });
        if (!page.ok) throw new SluiceError(page.code);
        const headers: Record<string, string> = {};
        if (page.nextSignature !== null) headers[nextSignatureHeader] = page.nextSignature;
        return { text: `[${page.texts.join()}]`, kept: false, headers };
      };
      return { price: serviceCredits.walletHistory, work };
    };
  }

  /** The records of the signatures that a body names. */
  #parse(context: EnhancedContext): Read {
    return async (asking) => {
      const { commitment } = parseInput(schemas.enhancedTransactionsQuery, context.req.query());
      const { transactions: signatures } = await readInput(
        context.req.raw,
        schemas.enhancedTransactionsBody,
        bodyBounds,
      );
      const wrong = signatures.findIndex((signature) => !isSignature(signature));
      if (wrong >= 0) throw invalid(`transactions.${wrong}`, "must be a signature: 64 bytes in base58");
      const { parseOneTransaction, parseBatchTransaction } = serviceCredits;
      const price = signatures.length === 1 ? parseOneTransaction : parseBatchTransaction * signatures.length;
      const work = async (): Promise<EnhancedAnswer> => {
        const items = await this.#dependencies.transactions.read({ ...asking, signatures, commitment });
        return answerOf(signatures, items);
      };
      return { price, work };
    };
  }

  async #admit(context: EnhancedContext, exchange: EnhancedExchange): Promise<AdmittedCaller> {
    const viewer = this.#viewers.get(context.req.raw);
    if (viewer === undefined) {
      return await admitRest(context, exchange, { ...this.#dependencies, oneOf: ["read"], gate });
    }
    exchange.grant = viewer.grant;
    exchange.network = viewer.network;
    await meterRest(context, viewer.grant, { access: this.#dependencies.access, gate });
    return viewer;
  }

  /** Admits, reads the input, charges, and answers; what is refused before the charge costs nothing. */
  async #serve(context: EnhancedContext, enveloped: boolean, read: Read): Promise<Response> {
    const { access, clock, log } = this.#dependencies;
    const exchange = this.#exchanges.get(context.req.raw);
    if (exchange === undefined) throw new TypeError("a route is reached through the application alone");
    const { grant, network } = await this.#admit(context, exchange);
    const { price, work } = await read({ network, keyId: grant.keyId, tier: grant.tier, nowMs: clock.monotonic() });
    const { text, kept, headers } = await chargedRead(exchange, { access, grant, price }, () =>
      work().catch((error: unknown) => {
        throw readFailure(error, log);
      }),
    );
    exchange.kept = kept;
    const body = enveloped ? envelopeText(text, clock.monotonic() - exchange.startedMs, kept) : text;
    return context.body(body, 200, {
      "Content-Type": "application/json",
      "X-Cache-Status": kept ? "HIT" : "MISS",
      ...headers,
    });
  }
}

/**
 * One record or failure for each signature, in their order. Where nothing at all could be read for a fault of nodes, or
 * the only transaction cannot be parsed, the request fails as a whole.
 */
function answerOf(signatures: readonly string[], items: readonly ParsedItem[]): EnhancedAnswer {
  const faults = items.flatMap((item) => (item.ok || item.code === "NOT_FOUND" ? [] : [item.code]));
  const [fault] = faults;
  if (fault !== undefined && faults.length === items.length) throw new SluiceError(fault);
  const texts = items.map((item, at) =>
    item.ok ? item.text : JSON.stringify({ signature: signatures[at], error: item.code }),
  );
  return { text: `[${texts.join()}]`, kept: items.every((item) => item.ok && item.kept) };
}
