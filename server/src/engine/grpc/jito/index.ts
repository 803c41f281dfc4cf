/**
 * jito: Jito's own service for searchers, so that its clients work unmodified. The same service and the same limits as
 * the engine's own service; callers are known by an API key or by the public key with which they signed in.
 *
 * Methods of older versions of the protocol (SubscribeMempool and its like) are in no .proto file here, and so
 * UNIMPLEMENTED.
 */
import { type BundleResultMessage, protoFiles } from "@sluice/contract/proto";
import { type GrpcContext, type GrpcService, loadService, serverStream, unary } from "../../../net/index.ts";
import type { OpenStreams } from "../open-streams.ts";
import { sendResults } from "./bundle-results.ts";
import { identify, streamHolders } from "./identity.ts";
import { type JitoDependencies, SearcherService } from "./searcher-service.ts";

export type { JitoDependencies } from "./searcher-service.ts";

/** Results that may wait for a searcher that does not read. */
const waitingMax = 1_024;

/** `searcher.SearcherService`; its streams count among those of the searcher. */
export function jitoService(host: GrpcContext, dependencies: JitoDependencies, streams: OpenStreams): GrpcService {
  const service = new SearcherService(dependencies);
  return {
    definition: loadService(protoFiles.searcher, "searcher.SearcherService"),
    implementation: {
      SubscribeBundleResults: serverStream<object, BundleResultMessage>(
        host,
        { waitingMax },
        async (_request, context, responses) => {
          const { searcher, recheck } = await identify(dependencies, context, "read");
          streams.add(streamHolders(searcher, context), responses, recheck);
          sendResults(dependencies.engine, searcher, responses);
        },
      ),
      SendBundle: unary(host, service.sendBundle.bind(service)),
      GetNextScheduledLeader: unary(host, service.nextScheduledLeader.bind(service)),
      GetConnectedLeaders: unary(host, (_request, context) => service.connectedLeaders(context)),
      GetConnectedLeadersRegioned: unary(host, service.connectedLeadersRegioned.bind(service)),
      GetTipAccounts: unary(host, (_request, context) => service.tipAccounts(context)),
      GetRegions: unary(host, (_request, context) => service.regions(context)),
    },
  };
}
