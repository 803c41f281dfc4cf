import type { Server } from "bun";
import { isObject } from "./exchanges/exchange.ts";
import type { Faults } from "./faults/faults.ts";
import { FaultRequestError, parseFaultRequest } from "./faults/parse.ts";
import type { Front } from "./front.ts";
import { marketAssets } from "./model/assets.ts";
import { allListings, type ExchangeId, exchangeIds } from "./model/listings.ts";
import type { Truth } from "./process/truth.ts";

const bodyBytesMax = 16 * 1_024;

interface AdminDeps {
  readonly faults: Faults;
  readonly truth: Truth;
  readonly fronts: Readonly<Record<ExchangeId, Front>>;
  readonly now: () => number;
}

/** An endpoint that no fault affects: faults are set and cleared there, and the true prices are read. */
export function serveAdmin(
  options: {
    readonly hostname: string;
    readonly port: number;
    readonly seed: string;
    readonly symbols: readonly string[];
  },
  dependencies: AdminDeps,
): Server<undefined> {
  return Bun.serve({
    hostname: options.hostname,
    port: options.port,
    idleTimeout: 120,
    maxRequestBodySize: bodyBytesMax,
    fetch: (request) => route(request, options, dependencies),
    error: () => problem(500, "internal error"),
  });
}

const problem = (status: number, message: string): Response => Response.json({ error: message }, { status });

async function route(
  request: Request,
  options: { readonly seed: string; readonly symbols: readonly string[] },
  dependencies: AdminDeps,
): Promise<Response> {
  const url = new URL(request.url);
  const { method } = request;
  // A page of some other origin must not break a developer's exchanges.
  if (method !== "GET" && request.headers.has("origin")) return problem(403, "not for browsers");
  if (url.pathname === "/state" && method === "GET") return Response.json(stateOf(options, dependencies));
  if (url.pathname === "/truth" && method === "GET") return Response.json(truthOf(url, options, dependencies));
  if (url.pathname === "/close" && method === "POST") return await closeStreams(request, dependencies);
  if (url.pathname === "/notice" && method === "POST") return await noticeStreams(request, dependencies);
  const [, id] = /^\/faults(?:\/(\d{1,9}))?$/.exec(url.pathname) ?? [undefined, undefined];
  if (!url.pathname.startsWith("/faults") || (url.pathname !== "/faults" && id === undefined))
    return problem(404, "not found");
  if (method === "GET" && id === undefined) return Response.json({ faults: dependencies.faults.list() });
  if (method === "POST" && id === undefined) return await setFault(request, options.seed, dependencies);
  if (method !== "DELETE") return problem(405, "method not allowed");
  const cleared = id === undefined ? dependencies.faults.clearAll() : Number(dependencies.faults.clear(Number(id)));
  await followAll(dependencies);
  return cleared === 0 && id !== undefined ? problem(404, "no such fault") : Response.json({ cleared });
}

async function setFault(request: Request, seed: string, dependencies: AdminDeps): Promise<Response> {
  try {
    const fault = dependencies.faults.set(parseFaultRequest(await request.json(), seed));
    if (fault === null) return problem(409, "too many faults");
    await followAll(dependencies);
    return Response.json(fault, { status: 201 });
  } catch (error) {
    if (error instanceof FaultRequestError) return problem(400, error.message);
    if (error instanceof SyntaxError) return problem(400, "the body is no JSON");
    throw error;
  }
}

async function followAll(dependencies: AdminDeps): Promise<void> {
  await Promise.all(exchangeIds.map((id) => dependencies.fronts[id].follow()));
}

/** The exchanges that a body names, all of them if it names none; null when it is wrong. */
function namedIn(body: Record<string, unknown>): readonly ExchangeId[] | null {
  const { exchanges = exchangeIds } = body;
  const isKnown = (id: unknown): id is ExchangeId => exchangeIds.some((each) => each === id);
  return Array.isArray(exchanges) && exchanges.every(isKnown) ? exchanges : null;
}

/** Notifies streams that they will end soon, in the exchange's words. */
async function noticeStreams(request: Request, dependencies: AdminDeps): Promise<Response> {
  const body: unknown = await request.json().catch(() => null);
  const exchanges = isObject(body) ? namedIn(body) : null;
  if (exchanges === null) return problem(400, "the body is an object that names known exchanges");
  return Response.json({ told: exchanges.reduce((sum, id) => sum + dependencies.fronts[id].hub.noticeAll(), 0) });
}

/** Ends streams that are open, once. */
async function closeStreams(request: Request, dependencies: AdminDeps): Promise<Response> {
  const body: unknown = await request.json().catch(() => null);
  if (!isObject(body)) return problem(400, "the body is an object");
  const exchanges = namedIn(body);
  if (exchanges === null) return problem(400, "unknown exchange");
  const { how = "close", code = 1001 } = body;
  if (how !== "close" && how !== "reset") return problem(400, "how must be close or reset");
  if (typeof code !== "number" || !(code === 1000 || code === 1001 || (code >= 3_000 && code < 5_000))) {
    return problem(400, "code must be 1000, 1001 or from 3000 to 4999");
  }
  const closed = exchanges.map((id) => dependencies.fronts[id].hub.closeAll(how, code));
  return Response.json({ closed: closed.reduce((sum, each) => sum + each, 0) });
}

function stateOf(
  options: { readonly seed: string; readonly symbols: readonly string[] },
  dependencies: AdminDeps,
): object {
  const exchanges = exchangeIds.map((id) => {
    const listings = allListings.filter((each) => each.exchange === id && options.symbols.includes(each.base));
    const markets = listings.map(({ base, quote, slotSeconds, spreadBps }) => ({
      base,
      quote,
      slotSeconds,
      spreadBps,
    }));
    return [id, { connections: dependencies.fronts[id].hub.size, markets }];
  });
  return {
    seed: options.seed,
    now: dependencies.now(),
    faults: dependencies.faults.list().length,
    exchanges: Object.fromEntries(exchanges),
  };
}

/** The true value of every asset in US dollars, now or at `at` (Unix milliseconds); no fault moves it. */
function truthOf(url: URL, options: { readonly symbols: readonly string[] }, dependencies: AdminDeps): object {
  const asked = Number(url.searchParams.get("at") ?? dependencies.now());
  const at = Number.isFinite(asked) && asked >= 0 && asked < 1e14 ? Math.floor(asked) : dependencies.now();
  const usd = marketAssets.flatMap(({ symbol }, index) =>
    options.symbols.includes(symbol) ? [[symbol, dependencies.truth.usd(index, Math.floor(at / 1_000))]] : [],
  );
  return { at, usd: Object.fromEntries(usd) };
}
