import {
  type BundleStatusBody,
  type EncryptionKeys,
  type EngineStatus,
  type SluiceError,
  schemas,
  shownState,
} from "@sluice/contract";
import { type JsonValue, parseJsonExact, stringifyJsonExact } from "@sluice/wire";
import type { Context } from "hono";
import {
  clientAddress,
  createRestApp,
  hasSingleHost,
  parseInput,
  type RestEnvironment,
  readBody,
  requireJson,
} from "../../http/index.ts";
import type { AddressSet } from "../../lib/index.ts";
import { decodeBase64 } from "../admission/index.ts";
import type { BundleRecord } from "../bundle.ts";
import type { EngineDesk } from "../desk.ts";
import { Admit, type AdmitDependencies, type Incoming, searcherOf } from "./admit.ts";
import { bundleFailure, EngineRefusal, engineFailure, failureResponse, shownFailure } from "./failure.ts";
import { isJitoCall, JitoDoor } from "./jito-door.ts";
import { JitoRpc, type JitoRpcDependencies } from "./jito-rpc.ts";
import { tipFloorRecord } from "./tip-floor-record.ts";
import { tipStreamPath } from "./tip-stream.ts";

export interface EngineHttpDependencies extends AdmitDependencies, JitoRpcDependencies {
  readonly desk: EngineDesk;
  readonly trustedProxies: AddressSet;
  readonly requestId: () => string;
  readonly log: { error(fields: object, message: string): void };
  readonly status: () => EngineStatus;
  readonly encryptionKeys: () => EncryptionKeys;
  /** A request was answered; `route` is the pattern of its path. */
  readonly answered: (route: string, status: number) => void;
}

type RestContext = Context<RestEnvironment>;
type Handler = (incoming: Incoming, context: RestContext) => Response | Promise<Response>;

const bodyBounds = { limitBytes: 64 * 1024, timeoutMs: 10_000 } as const;
const root = "/api/v1";
/** Each of Jito's methods may be asked under a path of its own, too. */
const jitoPaths = ["/transactions", "/getTipAccounts", "/getBundleStatuses", "/getInflightBundleStatuses"] as const;

/**
 * The block engine's REST door: submission and status of bundles, the engine's own status and keys, and Jito's JSON-RPC on
 * the same paths. Other paths of the port belong to the stake pool's room.
 */
export function createEngineHttp(dependencies: EngineHttpDependencies) {
  const { desk } = dependencies;
  const admit = new Admit(dependencies);
  const jito = new JitoDoor({ rpc: new JitoRpc(dependencies), admit });
  const app = createRestApp({ cors: "none", failure: writeFailure }, dependencies);
  const answer = (handler: Handler) => (context: RestContext) => answered(handler, context, { admit, dependencies });
  const read = (handler: Handler) =>
    answer(async (incoming, context) => {
      await admit.key(incoming, "read");
      return await handler(incoming, context);
    });
  const askJito = async (incoming: Incoming, context: RestContext): Promise<Response> =>
    await jito.answer(await readJson(incoming), incoming, context.get("requestId"));
  app.get(
    `${root}/status`,
    answer((incoming) => json(incoming, { ...dependencies.status() })),
  );
  app.get(
    `${root}/encryption-keys`,
    read((incoming) => {
      const { network, keys } = dependencies.encryptionKeys();
      return json(incoming, { network, keys: keys.map((key) => ({ ...key })) });
    }),
  );
  app.get(
    `${root}/bundles/tip_floor`,
    read((incoming) => json(incoming, tipFloorRecord(desk.tipFloor()))),
  );
  app.get(
    tipStreamPath,
    answer((incoming) => {
      incoming.headers["Upgrade"] = "websocket";
      throw new EngineRefusal(engineFailure("UPGRADE_REQUIRED"));
    }),
  );
  app.get(
    `${root}/bundles/:id`,
    read(async (incoming, context) => {
      const record = await desk.get(context.req.param("id") ?? "");
      if (record === null) throw new EngineRefusal(engineFailure("BUNDLE_NOT_FOUND"));
      return json(incoming, { ...bundleStatus(record) });
    }),
  );
  app.post(
    `${root}/bundles`,
    answer(async (incoming, context) => {
      const body = await readJson(incoming);
      if (isJitoCall(body)) return await jito.answer(body, incoming, context.get("requestId"));
      return json(incoming, await submit(body, incoming, { admit, desk }), 202);
    }),
  );
  for (const path of jitoPaths) app.post(`${root}${path}`, answer(askJito));
  return app;
}

/** One request: the rate of its address, its handler, and what either refuses. Anything else is a fault of ours. */
async function answered(
  handler: Handler,
  context: RestContext,
  { admit, dependencies }: { readonly admit: Admit; readonly dependencies: EngineHttpDependencies },
): Promise<Response> {
  const request = context.req.raw;
  const env = context.env as RestEnvironment["Bindings"] | undefined;
  const forwarded = request.headers.get("x-forwarded-for");
  const address = clientAddress(env?.socketAddress ?? "", forwarded, dependencies.trustedProxies);
  const incoming: Incoming = { request, clientAddress: address, headers: {} };
  let response: Response;
  try {
    if (!hasSingleHost(request.headers)) {
      throw new EngineRefusal(engineFailure("INVALID_INPUT", { detail: "A request names one host" }));
    }
    await admit.address(incoming);
    response = await handler(incoming, context);
  } catch (caught) {
    const shown = shownFailure(caught);
    if (shown === null) throw caught;
    response = failureResponse(shown, context.get("requestId"), incoming.headers);
  }
  dependencies.answered(context.req.routePath, response.status);
  return response;
}

function writeFailure(error: SluiceError, context: RestContext): Response {
  const shown = shownFailure(error) ?? engineFailure("INTERNAL_ERROR");
  return failureResponse(shown, context.get("requestId"), allowOf(error.details));
}

function json({ headers }: Incoming, body: JsonValue, status = 200): Response {
  return new Response(stringifyJsonExact(body), {
    status,
    headers: { ...headers, "Content-Type": "application/json" },
  });
}

async function submit(
  body: JsonValue,
  incoming: Incoming,
  { admit, desk }: { readonly admit: Admit; readonly desk: EngineDesk },
): Promise<JsonValue> {
  const grant = await admit.key(incoming, "bundles:write");
  await admit.submission(grant, incoming);
  const given = parseInput(schemas.bundleSubmit, body);
  const sealed = given.encryptedPayload === undefined ? null : decodeBase64(given.encryptedPayload);
  if (given.encryptedPayload !== undefined && sealed === null) throw new EngineRefusal(bundleFailure("bad_base64"));
  const transactions = given.transactions.map(({ data }, index) => {
    const bytes = decodeBase64(data);
    if (bytes !== null) return bytes;
    throw new EngineRefusal(bundleFailure("bad_base64", { detail: `transaction ${index}` }));
  });
  const { tip, mevType, targetSlot = null } = given;
  const submission = { transactions, tip, mevType, targetSlot, sealed, door: "rest" } as const;
  const outcome = await desk.submit(submission, searcherOf(grant));
  if (!outcome.accepted) throw new EngineRefusal(bundleFailure(outcome.reason, { detail: outcome.detail }));
  return { bundleId: outcome.record.id, status: "accepted" };
}

/** What a client is shown of a bundle: its place only once it is in the chain. */
function bundleStatus({ id, state, landed, signatures, reason }: BundleRecord): BundleStatusBody {
  const status = shownState(state);
  const isIn = status === "included" && landed !== null;
  return {
    bundleId: id,
    status,
    slot: isIn ? Number(landed.slot) : null,
    signatures: isIn ? [...signatures] : [],
    reason,
  };
}

async function readJson({ request }: Incoming): Promise<JsonValue> {
  requireJson(request.headers);
  const bytes = await readBody(request, bodyBounds);
  const parsed = parseJsonExact(bytes);
  if (parsed.ok) return parsed.value;
  throw new EngineRefusal(engineFailure("INVALID_INPUT", { detail: `The body is no JSON at ${parsed.offset}` }));
}

function allowOf(details: Readonly<Record<string, unknown>>): Record<string, string> {
  const allow = details["allow"];
  return Array.isArray(allow) ? { Allow: allow.join(", ") } : {};
}
