import type { AbandonedFork, Chain, Simulation, SimulationBank, SimulationRequest } from "../bank/index.ts";
import type { RecordedTransaction } from "../history/index.ts";
import type { BankSlot, Commitment } from "../model/index.ts";
import type { ChainEvent } from "../pubsub/index.ts";
import type { ChainView } from "../rpc/index.ts";

type Seen = Readonly<Record<Commitment, BankSlot>>;

/**
 * The chain as a node shows it that has stopped and follows again so many slots behind. What it shows stands still
 * until the chain is that far ahead; its PubSub events wait as long. While it does not lag it is the chain itself.
 */
export class LaggingView implements ChainView {
  readonly history: ChainView["history"];
  readonly statuses: ChainView["statuses"];
  readonly #chain: Chain;
  readonly #publish: (event: ChainEvent) => void;
  #behind = 0;
  /** Oldest first; the oldest one is shown. At most one more than the slots to lag. */
  #seen: Seen[] = [];
  #waiting: { readonly head: bigint; readonly event: ChainEvent }[] = [];

  constructor(chain: Chain, publish: (event: ChainEvent) => void) {
    this.#chain = chain;
    this.#publish = publish;
    const isShown = (slot: bigint) => slot <= this.at("processed").slot;
    const { history } = chain;
    const shown = (recorded: RecordedTransaction | null) =>
      recorded !== null && isShown(recorded.executed.slot) ? recorded : null;
    this.history = {
      get firstSlot() {
        return history.firstSlot;
      },
      block: (slot) => (isShown(slot) ? history.block(slot) : null),
      slots: (first, last, limit) => history.slots(first, last, limit),
      transaction: (signature) => shown(history.transaction(signature)),
      ofAddress: (address, range) => history.ofAddress(address, range).filter(({ slot }) => isShown(slot)),
      lowestUnitPrice: (slot, addresses) => (isShown(slot) ? history.lowestUnitPrice(slot, addresses) : null),
    };
    this.statuses = {
      slotOf(signature) {
        const slot = chain.statuses.slotOf(signature);
        return slot !== null && isShown(slot) ? slot : null;
      },
    };
  }

  get genesis() {
    return this.#chain.genesis;
  }

  get accounts() {
    return this.abandonedFork?.over(this.#chain.accounts) ?? this.#chain.accounts;
  }

  get abandonedFork(): AbandonedFork | null {
    const { abandonedFork } = this.#chain;
    return abandonedFork !== null && abandonedFork.bank.slot === this.at("confirmed").slot ? abandonedFork : null;
  }

  get blockhashes() {
    return this.#chain.blockhashes;
  }

  get epochs() {
    return this.#chain.epochs;
  }

  get cluster() {
    return this.#chain.cluster;
  }

  at(commitment: Commitment): BankSlot {
    return this.#seen[0]?.[commitment] ?? this.#chain.at(commitment);
  }

  get openSlot(): bigint {
    return this.#chain.openSlot;
  }

  yearsAt(slot: bigint): number {
    return this.#chain.yearsAt(slot);
  }

  submit(...transaction: Parameters<Chain["submit"]>): void {
    this.#chain.submit(...transaction);
  }

  simulate(request: SimulationRequest): Promise<Simulation> {
    return this.#chain.simulate(request, () => this.at(request.commitment));
  }

  simulateBundle(...request: Parameters<Chain["simulateBundle"]>): ReturnType<Chain["simulateBundle"]> {
    return this.#chain.simulateBundle(...request);
  }

  bankAt(slot: bigint): SimulationBank | null {
    return slot > this.tip.slot ? null : this.#chain.bankAt(slot);
  }

  get tip(): SimulationBank {
    return this.#seen[0]?.processed ?? this.#chain.tip;
  }

  get bundles() {
    return this.#chain.bundles;
  }

  /** How far the lag is to become; 0 when there is none. */
  get behind(): number {
    return this.#behind;
  }

  /** How many slots what is shown lies behind the chain now. */
  get slotsBehind(): bigint {
    return this.#chain.at("processed").slot - this.at("processed").slot;
  }

  lag(slots: number): void {
    this.#behind = slots;
    if (this.#seen.length === 0) this.#seen = [this.#now()];
    this.#chain.oldestRead = () => this.at("finalized").slot;
    this.#catchUp();
  }

  clear(): void {
    this.#behind = 0;
    this.#seen = [];
    this.#chain.oldestRead = null;
    for (const { event } of this.#waiting.splice(0)) this.#publish(event);
  }

  /** Publishes an event now, or when its slot is shown. `received` is published at once: no slot holds it yet. */
  publish(event: ChainEvent): void {
    if (this.#behind === 0 || event.kind === "received") {
      this.#publish(event);
      return;
    }
    if (event.kind === "reached" && event.commitment === "processed") {
      this.#seen.push(this.#now());
      this.#catchUp();
    }
    this.#waiting.push({ head: this.#chain.at("processed").slot, event });
  }

  #now(): Seen {
    const at = (commitment: Commitment) => this.#chain.at(commitment);
    return {
      processed: at("processed"),
      confirmed: at("confirmed"),
      finalized: at("finalized"),
    };
  }

  #catchUp(): void {
    while (this.#seen.length > this.#behind + 1) {
      this.#seen.shift();
      const shown = this.at("processed").slot;
      const later = this.#waiting.findIndex(({ head }) => head > shown);
      for (const { event } of this.#waiting.splice(0, later < 0 ? this.#waiting.length : later)) this.#publish(event);
    }
  }
}
