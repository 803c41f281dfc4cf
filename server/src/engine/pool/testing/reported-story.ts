import { type BundleState, bundleStates } from "@sluice/contract/engine";
import type { BundleRecord } from "../../../state/index.ts";
import { canBecome, isTerminal } from "../../model/lifecycle.ts";
import { bundleNamed } from "./bundles.ts";

interface EventLog {
  readonly name: string;
  /** What was answered last, as `state reason.`; null while nothing was. */
  acknowledged: string | null;
  /** What was requested since, whose answer is not known. */
  asked: Set<string>;
  /** What the ledger was reported. */
  readonly ledger: Set<string>;
}

const stateOf = (words: string): BundleState => {
  const state = bundleStates.find((known) => known === words.split(" ")[0]);
  if (state === undefined) throw new Error(`no state: ${words}`);
  return state;
};

/** What writers said until they were killed, one after the other, and whether the disk agrees. */
export class ReportedStory {
  readonly #bundles = new Map<string, EventLog>();
  acknowledgements = 0;
  faults: string[] = [];

  /** A line that was cut off by the kill is not to be handed in. */
  receive(line: string): void {
    const [verb = "", id = "", ...words] = line.split(" ");
    const known = this.#bundles.get(id);
    if (verb === "accept") {
      const asked = new Set(["accepted ."]);
      this.#bundles.set(id, { name: words.join(" "), acknowledged: null, asked, ledger: new Set() });
    } else if (verb === "step") known?.asked.add(words.join(" "));
    else if (verb === "is") this.#acknowledged(id, words.join(" "));
    else if (verb === "ledger") this.reportedToLedger(id, words.join(" "));
  }

  reportedToLedger(id: string, words: string): void {
    const reported = this.#bundles.get(id);
    if (reported === undefined) this.faults.push(`the ledger received ${id}, which was not sent`);
    else reported.ledger.add(words);
  }

  #acknowledged(id: string, words: string): void {
    const reported = this.#bundles.get(id);
    if (reported === undefined) return void this.faults.push(`${id} was answered and never sent`);
    const before = reported.acknowledged;
    // Answers of several places may be said in another order than they were given; none may contradict another.
    if (before !== null && !canBecome(stateOf(before), stateOf(words))) {
      if (!canBecome(stateOf(words), stateOf(before))) this.faults.push(`${id} was ${before}, then ${words}`);
    } else reported.acknowledged = words;
    this.acknowledgements += 1;
  }

  /** Holds the disk of a killed writer against what it said. What the disk decided is what counts from then on. */
  compare(disk: ReadonlyMap<string, BundleRecord>): void {
    for (const id of disk.keys()) if (!this.#bundles.has(id)) this.faults.push(`${id} is there and was never sent`);
    for (const [id, reported] of this.#bundles) {
      const stored = disk.get(id);
      const words = stored === undefined ? null : `${stored.state} ${stored.reason ?? ""}.`;
      if (words === null) {
        if (reported.acknowledged !== null) this.faults.push(`${id} was ${reported.acknowledged} and is gone`);
        this.#bundles.delete(id);
        continue;
      }
      if (words !== reported.acknowledged && !this.#mayBe(reported, words)) {
        this.faults.push(`${id} was ${reported.acknowledged} and is ${words}`);
      }
      if (stored !== undefined) this.#compareContent(reported, stored);
      reported.acknowledged = words;
      reported.asked = new Set();
    }
  }

  /** Whether a step that was on its way explains it. */
  #mayBe(reported: EventLog, words: string): boolean {
    if (!reported.asked.has(words)) return false;
    return reported.acknowledged === null || canBecome(stateOf(reported.acknowledged), stateOf(words));
  }

  #compareContent(reported: EventLog, stored: BundleRecord): void {
    const sent = bundleNamed(reported.name);
    const isEnded = isTerminal(stored.state);
    const isIn = stored.state === "included" || stored.state === "finalized";
    const transactions = isEnded ? [] : sent.transactions;
    const facts = ({ searcherId, signatures, tip, receivedAt }: typeof sent | BundleRecord) =>
      JSON.stringify([searcherId, signatures, tip.toString(), receivedAt]);
    const isWhole =
      facts(sent) === facts(stored) &&
      Buffer.concat([...stored.transactions]).equals(Buffer.concat([...transactions])) &&
      (stored.landed?.blockhash ?? null) === (isIn ? sent.id : null);
    if (!isWhole) this.faults.push(`${sent.id} is not what was sent`);
  }

  /** Once everything has been reported: each bundle that has ended was reported of, one end each, and no other. */
  compareLedger(): { readonly ended: number } {
    let ended = 0;
    for (const [id, { acknowledged, ledger }] of this.#bundles) {
      const isEnded = acknowledged !== null && isTerminal(stateOf(acknowledged));
      if (isEnded) ended += 1;
      const expected = isEnded ? [acknowledged] : [];
      if ([...ledger].join() !== expected.join()) {
        this.faults.push(`${id} is ${acknowledged}; the ledger received ${[...ledger].join(" and ") || "nothing"}`);
      }
    }
    return { ended };
  }
}
