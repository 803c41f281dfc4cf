import { protoFiles } from "@sluice/contract/proto";
import {
  CallFault,
  type CallHost,
  duplex,
  type GrpcService,
  loadService,
  serverStream,
  unary,
} from "../calls/index.ts";
import { standbyRetrySeconds, standbyText } from "../http/index.ts";

/** Every service of the gRPC doors, in the order in which they are told. */
const served = [
  [protoFiles.blockEngine, "blockengine.v1.BlockEngine"],
  [protoFiles.searcher, "searcher.SearcherService"],
  [protoFiles.auth, "auth.AuthService"],
  [protoFiles.validator, "block_engine.BlockEngineValidator"],
] as const;

type Implementation = GrpcService["implementation"];
type Method = Implementation[string];

/**
 * The services of a door that stays while the engine behind it comes and goes: each call goes to the engine that runs now,
 * and is answered UNAVAILABLE while there is none.
 */
export function relayedServices(host: CallHost, present: () => readonly GrpcService[] | null): readonly GrpcService[] {
  return served.map(([file, name]) => {
    const definition = loadService(file, name);
    const methods = Object.entries(definition).map(([method, { path, requestStream, responseStream }]) => {
      const refuse = refusing(host, { requestStream, responseStream });
      const relay = (...call: Parameters<Method>): void => {
        const service = present()?.find((each) => each.definition[method]?.path === path);
        const handler = service?.implementation[method] ?? refuse;
        Reflect.apply(handler, undefined, call);
      };
      return [method, relay as Method] as const;
    });
    return {
      definition,
      implementation: Object.fromEntries(methods),
      drain: () =>
        present()
          ?.find((each) => nameOf(each) === name)
          ?.drain?.(),
    };
  });
}

const nameOf = ({ definition }: GrpcService): string => Object.values(definition)[0]?.path.split("/")[1] ?? "";

const standingBy = (): never => {
  throw new CallFault("UNAVAILABLE", standbyText, { retryAfterSeconds: standbyRetrySeconds });
};

function refusing(
  host: CallHost,
  { requestStream, responseStream }: { readonly requestStream: boolean; readonly responseStream: boolean },
): Method {
  if (requestStream) return duplex(host, { waitingMax: 1 }, standingBy);
  return responseStream ? serverStream(host, { waitingMax: 1 }, standingBy) : unary(host, standingBy);
}
