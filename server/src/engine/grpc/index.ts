/**
 * searchers: the endpoints of those who send bundles over gRPC: the engine's own service here, Jito's in `jito/`. Fed
 * by searchers, whom an API key or Jito's sign-in identifies; asks the engine, and says what it answers.
 */
import { type BundleConfirmationMessage, type BundleRequestMessage, protoFiles } from "@sluice/contract/proto";
import type { Clock } from "@sluice/lib";
import { duplex, type GrpcContext, type GrpcService, GrpcStatusError, loadService, unary } from "../../net/index.ts";
import type { RefusalRecords } from "../model/refusal-records.ts";
import { BlockEngine, type BlockEngineDependencies } from "./block-engine.ts";
import { BundleStream, type BundleStreamDependencies } from "./bundle-stream.ts";
import { CallRecords } from "./call-records.ts";
import { type JitoDependencies, jitoService } from "./jito/index.ts";
import { admitKey } from "./key-admission.ts";
import { OpenStreams, streamsPerSearcherMax } from "./open-streams.ts";
import { Refusals } from "./refusals.ts";

export interface SearcherDependencies
  extends Omit<BlockEngineDependencies, "refusals" | "records">,
    Omit<JitoDependencies, "refusals" | "records">,
    RefusalRecords {
  readonly host: GrpcContext;
  readonly clock: Pick<Clock, "now" | "monotonic" | "after">;
}

export interface SearcherServices {
  readonly services: readonly GrpcService[];
  /** Ends the streams of keys that have lost their right; for when keys or accounts have changed. */
  recheck(): Promise<void>;
}

/** Confirmations that may wait for a searcher that does not read. */
const waitingMax = 1_024;

/** `blockengine.v1.BlockEngine` and `searcher.SearcherService`. */
export function createSearcherServices(options: SearcherDependencies): SearcherServices {
  const { engine, clock } = options;
  const refusals = new Refusals({ clock });
  const records = new CallRecords(options);
  const dependencies = { ...options, refusals, records };
  const host = { ...options.host, refused: records.refused };
  const unaryCalls = new BlockEngine(dependencies);
  const streams = new OpenStreams();
  const stream = duplex<BundleRequestMessage, BundleConfirmationMessage>(
    host,
    { waitingMax },
    async (context, responses, requests) => {
      const { searcher, recheck } = await admitKey(dependencies, context, "bundles:write");
      streams.add([{ name: searcher.id, max: streamsPerSearcherMax }], responses, recheck);
      const internalError = (error: unknown): void => {
        host.events.internalError("bundle stream", error, { requestId: context.requestId });
        responses.end(new GrpcStatusError("INTERNAL", `Internal error, request ${context.requestId}`));
      };
      const rejected: BundleStreamDependencies["rejected"] = (reason, sinceMs) =>
        records.rejected(context, reason, sinceMs);
      return new BundleStream({ engine, searcher, responses, requests, refusals, clock, rejected, internalError });
    },
  );
  return {
    recheck: () => streams.recheck(),
    services: [
      {
        definition: loadService(protoFiles.blockEngine, "blockengine.v1.BlockEngine"),
        drain: () => streams.close(),
        implementation: {
          SubmitBundle: unary(host, unaryCalls.submitBundle.bind(unaryCalls)),
          SubmitBundleStream: stream,
          GetTipFloor: unary(host, (_request, context) => unaryCalls.tipFloor(context)),
          GetReputation: unary(host, (_request, context) => unaryCalls.reputation(context)),
        },
      },
      jitoService(host, dependencies, streams),
    ],
  };
}
