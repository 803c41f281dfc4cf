import { shownState } from "@sluice/contract/engine";
import type { BundleStatusBody, EncryptionKeys, EngineStatus } from "@sluice/contract/schemas";
import * as schemas from "@sluice/contract/schemas";
import type { Network } from "@sluice/contract/tiers";
import type { AddressSet, Log } from "@sluice/lib";
import { type JsonValue, parseJsonExact } from "@sluice/wire/json";
import { createRestApp, parseInput, readBody, requireJson } from "../../http/index.ts";
import type { Grant } from "../../keys/index.ts";
import { decodeBase64 } from "../admission/index.ts";
import type { BundleRecord } from "../model/bundle.ts";
import { reasonText } from "../model/reason-text.ts";
import type { BlockEngineService } from "../model/service.ts";
import { Admit, type AdmitDependencies, type Incoming, searcherOf } from "./admit.ts";
import { Answering, type EngineAnswer, json, type RestContext, writeFailure } from "./answering.ts";
import { bundleFailure, EngineRefusal, engineFailure } from "./failure.ts";
import { isJitoCall, JitoEndpoint } from "./jito-endpoint.ts";
import { JitoRpc, type JitoRpcDependencies } from "./jito-rpc.ts";
import type { MeteringDependencies } from "./metered-call.ts";
import { engineRoot, jitoPaths } from "./paths.ts";
import { tipFloorRecord } from "./tip-floor-record.ts";
import { tipStreamPath } from "./tip-stream.ts";

export interface EngineHttpDependencies extends JitoRpcDependencies {
  readonly network: Network;
  /** Access to the network. */
  readonly access: AdmitDependencies["access"] & MeteringDependencies["access"];
  readonly clock: MeteringDependencies["clock"];
  readonly served: MeteringDependencies["served"];
  readonly engine: BlockEngineService;
  readonly trustedProxies: AddressSet;
  readonly requestId: () => string;
  readonly log: Pick<Log, "error">;
  readonly status: () => EngineStatus;
  readonly encryptionKeys: () => EncryptionKeys;
  /** A request was answered; `route` is the pattern of its path. */
  readonly answered: (route: string, status: number) => void;
}

const bodyBounds = { limitBytes: 64 * 1024, timeoutMs: 10_000 } as const;
/**
 * The block engine's REST endpoint: submission and status of bundles, the engine's own status and keys, and Jito's
 * JSON-RPC on the same paths. Paths of the stake pool's figures are answered by its room.
 */
export function createEngineHttp(dependencies: EngineHttpDependencies) {
  const { engine } = dependencies;
  const admit = new Admit(dependencies);
  const jito = new JitoEndpoint(dependencies, { rpc: new JitoRpc(dependencies), admit, metering: dependencies });
  const app = createRestApp({ cors: "none", failure: writeFailure }, dependencies);
  const answering = new Answering({ ...dependencies, admit, records: dependencies });
  app.use("*", answering.first);
  const answer = (handler: EngineAnswer) => answering.handler(handler);
  const read = (handler: (incoming: Incoming, context: RestContext, grant: Grant) => Response | Promise<Response>) =>
    answer(async (incoming, context) => handler(incoming, context, await admit.key(incoming, "read")));
  const askJito = async (incoming: Incoming, context: RestContext): Promise<Response> => {
    const parsed = await readBodyJson(incoming);
    // Only clients of JSON-RPC ask here, so even what is no JSON is answered in their form.
    if (!parsed.ok) return jito.refuseUnparsed(incoming, context.get("requestId"));
    return await jito.answer(parsed.value, incoming, context.get("requestId"));
  };
  app.get(
    `${engineRoot}/status`,
    answer((incoming) => json(incoming, { ...dependencies.status() })),
  );
  app.get(
    `${engineRoot}/encryption-keys`,
    read((incoming) => {
      const { network, keys } = dependencies.encryptionKeys();
      return json(incoming, { network, keys: keys.map((key) => ({ ...key })) });
    }),
  );
  app.get(
    `${engineRoot}/bundles/tip_floor`,
    read((incoming) => json(incoming, tipFloorRecord(engine.tipFloor()))),
  );
  app.get(
    tipStreamPath,
    answer((incoming) => {
      incoming.headers["Upgrade"] = "websocket";
      throw new EngineRefusal(engineFailure("UPGRADE_REQUIRED"));
    }),
  );
  app.get(
    `${engineRoot}/bundles/:id`,
    read(async (incoming, context, grant) => {
      const record = await engine.get(context.req.param("id") ?? "", searcherOf(grant));
      if (record === null) throw new EngineRefusal(engineFailure("BUNDLE_NOT_FOUND"));
      return json(incoming, { ...bundleStatus(record) });
    }),
  );
  app.post(
    `${engineRoot}/bundles`,
    answer(async (incoming, context) => {
      const body = await readJson(incoming);
      if (isJitoCall(body)) return await jito.answer(body, incoming, context.get("requestId"));
      return json(incoming, await submit(body, incoming, { admit, engine }), 202);
    }),
  );
  for (const path of jitoPaths) app.post(path, answer(askJito));
  return app;
}

async function submit(
  body: JsonValue,
  incoming: Incoming,
  { admit, engine }: { readonly admit: Admit; readonly engine: BlockEngineService },
): Promise<JsonValue> {
  const grant = await admit.key(incoming, "bundles:write");
  await admit.submission(grant, incoming);
  const submitted = parseInput(schemas.bundleSubmit, body);
  const encrypted = submitted.encryptedPayload ?? null;
  const sealed = encrypted === null ? null : decodeBase64(encrypted);
  if (encrypted !== null && sealed === null)
    throw new EngineRefusal(bundleFailure("bad_base64", { detail: "encryptedPayload" }));
  const transactions = (submitted.transactions ?? []).map(({ data }, index) => {
    const bytes = decodeBase64(data);
    if (bytes !== null) return bytes;
    throw new EngineRefusal(bundleFailure("bad_base64", { detail: `transaction ${index}` }));
  });
  const { tip, mevType, targetSlot } = submitted;
  const submission = { transactions, tip, mevType, targetSlot: targetSlot ?? null, sealed, ingress: "rest" } as const;
  const outcome = await engine.submit(submission, searcherOf(grant));
  if (!outcome.ok) {
    const { reason, detail, logs = [] } = outcome;
    throw new EngineRefusal(bundleFailure(reason, { detail, logs }));
  }
  return { bundleId: outcome.record.id, status: "accepted" };
}

/** What a client is shown of a bundle: its place only once it is in the chain. */
function bundleStatus({ id, state, landed, signatures, reason, detail }: BundleRecord): BundleStatusBody {
  const status = shownState(state);
  const isIn = status === "included" && landed !== null;
  return {
    bundleId: id,
    status,
    slot: isIn ? Number(landed.slot) : null,
    signatures: isIn ? [...signatures] : [],
    reason: reason === null ? null : reasonText(reason, detail),
  };
}

async function readBodyJson({ request }: Incoming) {
  requireJson(request.headers);
  return parseJsonExact(await readBody(request, bodyBounds));
}

async function readJson(incoming: Incoming): Promise<JsonValue> {
  const parsed = await readBodyJson(incoming);
  if (parsed.ok) return parsed.value;
  throw new EngineRefusal(engineFailure("INVALID_INPUT", { detail: `The body is no JSON at ${parsed.offset}` }));
}
