import type { BundleMessage } from "@sluice/contract/proto";
import { type CallContext, CallFault } from "../../calls/index.ts";
import { jitoText } from "../../model/jito-texts.ts";
import type { BlockEngineService } from "../../model/service.ts";
import { checkOpen, inMaintenance, rateLimited } from "../block-engine.ts";
import type { Refusals } from "../refusals.ts";
import { checkAddress, checkReads, type IdentityDependencies, identify } from "./identity.ts";
import { transactionsOf } from "./packets.ts";

export interface JitoDependencies extends IdentityDependencies {
  readonly desk: BlockEngineService;
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
    const { desk, limits } = this.#dependencies;
    const { searcher } = await identify(this.#dependencies, context, "bundles:write");
    await checkAddress(limits, searcher, context);
    await checkOpen(this.#dependencies, searcher);
    const transactions = transactionsOf(message.bundle);
    const kind = { mevType: "unknown", targetSlot: null, sealed: null, ingress: "jito-grpc" } as const;
    const outcome = await desk.submit({ transactions, tip: null, ...kind }, searcher);
    if (outcome.accepted) return { uuid: outcome.record.id };
    const { reason, detail } = outcome;
    if (reason === "maintenance") throw inMaintenance();
    if (reason === "rate_limited") throw rateLimited(1);
    throw new CallFault(reason === "no_leader" ? "UNAVAILABLE" : "INVALID_ARGUMENT", jitoText(reason, detail));
  }

  async nextScheduledLeader(message: RegionsQuestion, context: CallContext): Promise<object> {
    await this.#admitReader(context);
    const { desk, region } = this.#dependencies;
    this.#checkRegions(message);
    const next = desk.nextLeader();
    const current = desk.currentSlot();
    // No leader has no answer in this protocol: clients take the distance of two slots.
    if (next === null || current === null) throw new CallFault("UNAVAILABLE", "no connected leader up soon");
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
    return { accounts: this.#dependencies.desk.tipAccounts };
  }

  async regions(context: CallContext): Promise<object> {
    await this.#admitReader(context);
    const { region } = this.#dependencies;
    return { current_region: region, available_regions: [region] };
  }

  #connected(): ConnectedLeaders {
    const leaders = [...this.#dependencies.desk.connectedLeaders()];
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
      throw new CallFault("INVALID_ARGUMENT", `the only region is ${region}`);
    }
  }

  async #admitReader(context: CallContext): Promise<void> {
    const { limits } = this.#dependencies;
    const { searcher } = await identify(this.#dependencies, context, "read");
    await checkReads(limits, searcher, context);
  }
}
