import type { CommitmentName } from "@sluice/contract/rpc";
import type { Network } from "@sluice/contract/tiers";
import type { FanOut, FrameGroup } from "../../net/index.ts";
import { dataText } from "./server-messages.ts";
import type { ProcessedFollowing } from "./session-services.ts";
import { processedSlotData } from "./stream-events.ts";
import type { SubscriptionHost } from "./subscription.ts";

/** The newest slots as the nodes of a network tell them. */
export interface SlotSource {
  subscribe(listener: (network: Network, commitment: CommitmentName, slot: bigint) => void): Disposable;
}

/** Slots as nodes begin them, each once and in order, for subscriptions to slots at processed. */
export class ProcessedSlots implements Disposable {
  readonly #fanOut: FanOut;
  readonly #publishing: () => void;
  readonly #following: Disposable;
  readonly #groups = new Map<string, { readonly network: Network; readonly frames: FrameGroup; members: number }>();
  readonly #newest = new Map<Network, bigint>();

  constructor(of: { readonly fanOut: FanOut; readonly source: SlotSource; readonly publishing: () => void }) {
    this.#fanOut = of.fanOut;
    this.#publishing = of.publishing;
    this.#following = of.source.subscribe((network, commitment, slot) => {
      if (commitment === "processed") this.#tell(network, slot);
    });
  }

  follow(
    network: Network,
    id: string,
    { joined, left }: Pick<SubscriptionHost, "joined" | "left">,
  ): ProcessedFollowing {
    const group = this.#groups.get(id) ?? { network, frames: this.#fanOut.group(id), members: 0 };
    this.#groups.set(id, group);
    group.members += 1;
    joined(group.frames);
    return {
      id,
      cursor: null,
      end: () => {
        left(group.frames);
        group.members -= 1;
        if (group.members === 0) this.#groups.delete(id);
      },
    };
  }

  #tell(network: Network, slot: bigint): void {
    if (slot <= (this.#newest.get(network) ?? -1n)) return;
    this.#newest.set(network, slot);
    this.#publishing();
    for (const [id, { network: of, frames }] of this.#groups) {
      if (of !== network) continue;
      frames.publish(dataText({ channel: "slots", id, slot, cursor: null, data: processedSlotData(slot) }));
    }
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]();
  }
}
