import { type BlockBuilderFeeInfoMessage, type BlockEngineEndpointsMessage, protoFiles } from "@sluice/contract/proto";
import type { Clock } from "@sluice/lib";
import type { Address, Slot } from "@sluice/wire/identifiers";
import {
  type CallContext,
  type GrpcContext,
  type GrpcService,
  GrpcStatusError,
  loadService,
  serverStream,
  unary,
} from "../../net/index.ts";
import type { Bearers } from "../sign-in/index.ts";
import { ConnectedValidators, type ValidatorEvents } from "./connected-validators.ts";

export interface ScheduledLeaders {
  /** Whether the identity leads a slot of this epoch or the next. */
  isScheduled(identity: Address): boolean;
}

export interface ValidatorOptions {
  /** What validators are reported to connect to: the address under which they reach this server. */
  readonly blockEngineUrl: string;
  /** Who is paid the builder's share of tips, and its percentage, 0 to 100. */
  readonly fee: { readonly pubkey: Address; readonly commission: number };
  /** Identities to which an operator narrows the schedule; null is all of it. */
  readonly allowed: ReadonlySet<Address> | null;
}

/**
 * The schedule of the epoch after is read when an epoch begins; a validator that is only in that one is not evaluated
 * before.
 */
const settledSlots = 16n;

export interface EpochChangeDependencies {
  /** Null while the chain has not reported. */
  readonly epochOf: (slot: Slot) => { readonly first: bigint } | null;
  /** An epoch has begun, and its schedule and the next one's had time to be read. */
  readonly changed: () => void;
}

/** Reports when an epoch has begun, by the chain's slots. */
export class EpochChange {
  readonly #dependencies: EpochChangeDependencies;
  #reported: bigint | null = null;

  constructor(dependencies: EpochChangeDependencies) {
    this.#dependencies = dependencies;
  }

  reached(slot: Slot): void {
    const epoch = this.#dependencies.epochOf(slot);
    if (epoch === null || epoch.first === this.#reported || slot < epoch.first + settledSlots) return;
    this.#reported = epoch.first;
    this.#dependencies.changed();
  }
}

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
  services(host: GrpcContext, bearers: Bearers): readonly GrpcService[];
}

/** Throws a RangeError where the fee is not valid that validators accept. */
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
        throw new GrpcStatusError(
          "PERMISSION_DENIED",
          "The identity is not in the leader schedule of this or the next epoch.",
        );
      };
      return [
        {
          definition: loadService(protoFiles.validator, "block_engine.BlockEngineValidator"),
          drain: () => validators.close(),
          implementation: {
            SubscribeBundles: serverStream(host, { waitingMax }, async (_request, context, responses) =>
              validators.openBundles(await admitted(context), responses),
            ),
            SubscribePackets: serverStream(host, { waitingMax }, async (_request, context, responses) =>
              validators.openPackets(await admitted(context), responses),
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

/** Shreds are received nowhere: an empty address in this protocol. */
function endpointsOf({ blockEngineUrl }: ValidatorOptions): BlockEngineEndpointsMessage {
  const here = { block_engine_url: blockEngineUrl, shredstream_receiver_address: "" };
  return { global_endpoint: here, regioned_endpoints: [here] };
}
