import { engineLimits } from "@sluice/contract/engine";
import type { BundleMessage, PacketMessage } from "@sluice/contract/proto";
import { type CallContext, GrpcStatusError } from "../../../net/index.ts";
import { jitoText } from "../../model/jito-texts.ts";
import type { BlockEngineService } from "../../model/service.ts";
import { checkOpen, inMaintenance, rateLimited } from "../block-engine.ts";
import type { Refusals } from "../refusals.ts";
import { checkAddress, checkReads, type IdentityDependencies, identify } from "./identity.ts";

/**
 * The transactions of a bundle of packets: of each the first `meta.size` bytes, or all where no size is set. Throws
 * INVALID_ARGUMENT for what is no packet: larger than one may be, or shorter than it says.
 */
export function transactionsOf(bundle: BundleMessage | null | undefined): Uint8Array[] {
  if (bundle === null || bundle === undefined) throw new GrpcStatusError("INVALID_ARGUMENT", "bundle is missing");
  return bundle.packets.map(transactionOf);
}

function transactionOf({ data, meta }: PacketMessage, index: number): Uint8Array {
  const size = BigInt(meta?.size ?? 0);
  if (size > BigInt(data.length)) {
    throw new GrpcStatusError(
      "INVALID_ARGUMENT",
      `packet #${index} has ${data.length} bytes and says that it has ${size}`,
    );
  }
  const bytes = size === 0n ? data : data.subarray(0, Number(size));
  if (bytes.length <= engineLimits.transactionBytes) return bytes;
  throw new GrpcStatusError(
    "INVALID_ARGUMENT",
    `packet #${index} has more than ${engineLimits.transactionBytes} bytes`,
  );
}

export interface JitoDependencies extends IdentityDependencies {
  readonly engine: BlockEngineService;
  readonly refusals: Refusals;
  /** The only region that there is. */
  readonly region: string;
}

interface SlotList {
  readonly slots: readonly string[];
}

interface ConnectedLeaders {
  readonly connected_validators: Readonly<Record<string, SlotList>>;
}

interface RegionsQuestion {
  readonly regions: readonly string[];
}

/** The methods of Jito's `searcher.SearcherService` that have one answer. */
export class SearcherService {
  readonly #dependencies: JitoDependencies;

  constructor(dependencies: JitoDependencies) {
    this.#dependencies = dependencies;
  }

  async sendBundle(
    message: { readonly bundle: BundleMessage | null },
    context: CallContext,
  ): Promise<{ readonly uuid: string }> {
    const { engine, limits } = this.#dependencies;
    const { searcher } = await identify(this.#dependencies, context, "bundles:write");
    await checkAddress(limits, searcher, context);
    await checkOpen(this.#dependencies, searcher);
    const transactions = transactionsOf(message.bundle);
    const kind = { mevType: "unknown", targetSlot: null, sealed: null, ingress: "jito-grpc" } as const;
    const outcome = await engine.submit({ transactions, tip: null, ...kind }, searcher);
    if (outcome.ok) return { uuid: outcome.record.id };
    const { reason, detail } = outcome;
    if (reason === "maintenance") throw inMaintenance();
    if (reason === "rate_limited") throw rateLimited(1);
    const status = reason === "no_leader" ? "UNAVAILABLE" : "INVALID_ARGUMENT";
    throw new GrpcStatusError(status, jitoText(reason, detail), { publicCode: reason });
  }

  async nextScheduledLeader(message: RegionsQuestion, context: CallContext): Promise<object> {
    await this.#admitReader(context);
    const { engine, region } = this.#dependencies;
    this.#checkRegions(message);
    const next = engine.nextLeader();
    const current = engine.currentSlot();
    // No leader has no answer in this protocol: clients take the distance of two slots.
    if (next === null || current === null) throw new GrpcStatusError("UNAVAILABLE", "no connected leader up soon");
    return {
      current_slot: String(current),
      next_leader_slot: String(next.slot),
      next_leader_identity: next.identity,
      next_leader_region: region,
    };
  }

  async connectedLeaders(context: CallContext): Promise<ConnectedLeaders> {
    await this.#admitReader(context);
    return this.#connected();
  }

  async connectedLeadersRegioned(message: RegionsQuestion, context: CallContext): Promise<object> {
    await this.#admitReader(context);
    this.#checkRegions(message);
    return { connected_validators: { [this.#dependencies.region]: this.#connected() } };
  }

  async tipAccounts(context: CallContext): Promise<{ readonly accounts: readonly string[] }> {
    await this.#admitReader(context);
    return { accounts: this.#dependencies.engine.tipAccounts };
  }

  async regions(context: CallContext): Promise<object> {
    await this.#admitReader(context);
    const { region } = this.#dependencies;
    return { current_region: region, available_regions: [region] };
  }

  #connected(): ConnectedLeaders {
    const leaders = [...this.#dependencies.engine.connectedLeaders()];
    return {
      connected_validators: Object.fromEntries(
        leaders.map(([identity, slots]) => [identity, { slots: slots.map(String) }]),
      ),
    };
  }

  /** No region named means all. */
  #checkRegions({ regions }: RegionsQuestion): void {
    const { region } = this.#dependencies;
    if (regions.length > 0 && !regions.includes(region)) {
      throw new GrpcStatusError("INVALID_ARGUMENT", `the only region is ${region}`);
    }
  }

  async #admitReader(context: CallContext): Promise<void> {
    const { limits } = this.#dependencies;
    const { searcher } = await identify(this.#dependencies, context, "read");
    await checkReads(limits, searcher, context);
  }
}
