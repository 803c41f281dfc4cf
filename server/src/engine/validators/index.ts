/**
 * validators: Jito's service for leaders. A validator whose identity is in the leader schedule signs in, subscribes, and
 * is handed the bundles that are meant for its own slots. Fed by the auction, which sees it as `Validators`.
 *
 * `BlockEngineRelayer` is not served, so its methods are UNIMPLEMENTED: no relayer feeds this engine packets, and one
 * that were told of accounts of interest would send it what nobody takes.
 */
import { type BlockBuilderFeeInfoMessage, type BlockEngineEndpointsMessage, protoFiles } from "@sluice/contract/proto";
import type { Clock } from "@sluice/lib";
import type { Address } from "@sluice/wire/identifiers";
import {
  type CallContext,
  CallFault,
  type CallHost,
  type GrpcService,
  loadService,
  serverStream,
  unary,
} from "../calls/index.ts";
import type { Bearers } from "../sign-in/index.ts";
import { ConnectedValidators } from "./connected-validators.ts";
import type { ScheduledLeaders, ValidatorEvents, ValidatorOptions } from "./interfaces.ts";

export type { ConnectedValidators } from "./connected-validators.ts";
export type { ScheduledLeaders, ValidatorEvents, ValidatorOptions } from "./interfaces.ts";

export interface ValidatorDependencies {
  readonly clock: Clock;
  readonly events: ValidatorEvents;
  readonly schedule: ScheduledLeaders;
}

/** Messages that may wait for a validator that does not read; each holds the winners of a tick. */
const waitingMax = 16;

export interface ValidatorRegistry {
  /** Whether the identity may sign in as a validator and take bundles now. */
  readonly mayValidate: (identity: Address) => boolean;
  readonly validators: ConnectedValidators;
  /** `block_engine.BlockEngineValidator`, for callers whom `bearers` knows. */
  services(host: CallHost, bearers: Bearers): readonly GrpcService[];
}

/** Throws a RangeError where the fee is none that validators accept. */
export function createValidators(options: ValidatorOptions, dependencies: ValidatorDependencies): ValidatorRegistry {
  const { pubkey, commission } = options.fee;
  if (!Number.isInteger(commission) || commission < 0 || commission > 100) {
    throw new RangeError("The block builder's commission is a whole percentage from 0 to 100");
  }
  const mayValidate = (identity: Address): boolean =>
    (options.allowed === null || options.allowed.has(identity)) && dependencies.schedule.isScheduled(identity);
  const validators = new ConnectedValidators({ ...dependencies, mayValidate });
  const fee: BlockBuilderFeeInfoMessage = { pubkey, commission: String(commission) };
  return {
    mayValidate,
    validators,
    services: (host, bearers) => {
      const admitted = async (context: CallContext): Promise<Address> => {
        const { pubkey: identity } = await bearers.signedIn(context, "VALIDATOR", "PERMISSION_DENIED");
        if (mayValidate(identity)) return identity;
        throw new CallFault(
          "PERMISSION_DENIED",
          "The identity is not in the leader schedule of this or the next epoch.",
        );
      };
      return [
        {
          definition: loadService(protoFiles.validator, "block_engine.BlockEngineValidator"),
          drain: () => validators.close(),
          implementation: {
            SubscribeBundles: serverStream(host, { waitingMax }, async (_request, context, outlet) =>
              validators.openBundles(await admitted(context), outlet),
            ),
            SubscribePackets: serverStream(host, { waitingMax }, async (_request, context, outlet) =>
              validators.openPackets(await admitted(context), outlet),
            ),
            GetBlockBuilderFeeInfo: unary(host, async (_request, context) => {
              await admitted(context);
              return fee;
            }),
            GetBlockEngineEndpoints: unary(host, () => endpointsOf(options)),
          },
        },
      ];
    },
  };
}

function endpointsOf({ endpoint }: ValidatorOptions): BlockEngineEndpointsMessage {
  const { blockEngineUrl, shredstreamReceiver } = endpoint;
  const here = { block_engine_url: blockEngineUrl, shredstream_receiver_address: shredstreamReceiver };
  return { global_endpoint: here, regioned_endpoints: [here] };
}
