import * as schemas from "@sluice/contract/schemas";
import type { AddressSet, Log } from "@sluice/lib";
import { parseAddress } from "@sluice/wire/identifiers";
import {
  Admit,
  type AdmitDependencies,
  Answering,
  EngineChainError,
  EngineRefusal,
  engineFailure,
  type Incoming,
  type RefusalRecords,
  type RestContext,
  writeFailure,
} from "../engine/index.ts";
import { createRestApp, dataSinceHeaders, parseInput, pathOf, queryParameter, targetOf } from "../http/index.ts";
import type { Grant } from "../keys/index.ts";
import { LedgerQueryError, LedgerUnavailableError } from "../ledger/index.ts";
import { explainQuestion } from "./explain/question.ts";
import { PoolAccountError } from "./pool-reader.ts";
import type { PoolAnswer } from "./records/record.ts";
import type { PoolService } from "./service.ts";

export interface PoolHttpDependencies extends AdmitDependencies {
  readonly pool: PoolService;
  readonly trustedProxies: AddressSet;
  readonly requestId: () => string;
  readonly log: Pick<Log, "error">;
  readonly records: RefusalRecords;
  /** A request was answered; `route` is the pattern of its path. */
  readonly answered: (route: string, status: number) => void;
}

const root = "/api/v1";

/** The first segments of the paths that are answered here; all others of the port are the block engine's. */
const segments: ReadonlySet<string> = new Set([
  "pool",
  "position",
  "validators",
  "overview",
  "apy",
  "exchange-rate",
  "mev",
  "charts",
  "dashboard",
  "pnl",
  "explain",
]);

/** The stake pool's part of the block engine's REST port. */
export interface PoolHttp {
  /** Whether a request is answered here, by its path. */
  serves(request: Request): boolean;
  fetch(request: Request, bindings?: object): Response | Promise<Response>;
}

/** Which of the failures that are expected a caller may wait for. */
function unavailable(error: unknown): EngineRefusal | null {
  if (error instanceof PoolAccountError) {
    return new EngineRefusal(engineFailure("UNAVAILABLE", { detail: error.message }));
  }
  const isAway =
    error instanceof EngineChainError || error instanceof LedgerUnavailableError || error instanceof LedgerQueryError;
  return isAway ? new EngineRefusal(engineFailure("UNAVAILABLE", { detail: "The figures cannot be read now" })) : null;
}

type Answer = (context: RestContext, grant: Grant) => Promise<PoolAnswer>;

/** Creates the endpoint: GET alone, with a key that holds `read`, under the rate of the engine's REST port. */
export function createPoolHttp(dependencies: PoolHttpDependencies): PoolHttp {
  const { pool } = dependencies;
  const admit = new Admit(dependencies);
  const app = createRestApp({ cors: "none", failure: writeFailure }, dependencies);
  const answering = new Answering({ ...dependencies, admit });
  app.use("*", answering.first);
  const get = (path: string, answer: Answer): void => {
    app.get(
      `${root}${path}`,
      answering.handler(async (incoming, context) => {
        const grant = await admit.key(incoming, "read");
        try {
          return response(incoming, await answer(context, grant));
        } catch (error) {
          throw unavailable(error) ?? error;
        }
      }),
    );
  };
  get("/pool", () => pool.pool());
  get("/position/:wallet", (context) => {
    const wallet = parseAddress(context.req.param("wallet"));
    if (wallet !== null) return pool.position(wallet);
    const errors = [{ path: "wallet", message: "must be an address in base58" }];
    throw new EngineRefusal(engineFailure("INVALID_INPUT", { errors }));
  });
  get("/validators", () => pool.validators());
  get("/overview/:period", (context) =>
    pool.overview(parseInput(schemas.overviewPath, { period: context.req.param("period") }).period),
  );
  get("/apy", () => pool.apy());
  get("/exchange-rate", () => pool.exchangeRate());
  get("/mev/breakdown", () => pool.breakdown());
  for (const of of ["tvl", "apy"] as const) {
    get(`/charts/${of}`, (context) =>
      pool.chart(of, parseInput(schemas.chartQuery, queryOf(context, "period")).period),
    );
  }
  get("/dashboard", () => pool.dashboard());
  get("/pnl", (context, { accountId, permissions }) => {
    const asked = parseInput(schemas.pnlQuery, queryOf(context, "strategy", "period"));
    return pool.pnl(permissions.includes("admin") ? null : accountId, asked);
  });
  get("/explain", (context, { accountId, permissions }) => {
    const query = queryOf(context, "record", "wallet", "period", "strategy");
    return pool.explain(explainQuestion(query, permissions.includes("admin") ? null : accountId));
  });
  return {
    serves: ({ url }) => {
      const path = pathOf(targetOf(url));
      return path.startsWith(`${root}/`) && segments.has(path.slice(root.length + 1).split("/", 1)[0] ?? "");
    },
    fetch: (request, bindings) => app.fetch(request, bindings),
  };
}

/** The named parameters of the query; those that are not there are left out. */
function queryOf({ req }: RestContext, ...names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = queryParameter(req.url, name);
      return value === null ? [] : [[name, value]];
    }),
  );
}

/** Above it a body is handed on as a stream of one piece: the runtime would copy a body of bytes for each answer. */
const copiedBytesMax = 65_536;

const response = ({ headers }: Incoming, { body, sinceMs, fromMs }: PoolAnswer): Response =>
  new Response(body.length > copiedBytesMax ? onePiece(body) : body, {
    headers: { ...headers, ...dataSinceHeaders(fromMs, sinceMs), "Content-Type": "application/json" },
  });

const onePiece = (bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> =>
  new ReadableStream({
    start: (controller) => {
      controller.enqueue(bytes);
      controller.close();
    },
  });
