import { streamBounds } from "@sluice/contract/streams";
import type { LimitDecision } from "../../limits/index.ts";
import type { FrameBatch } from "../../net/index.ts";
import { isDroppable, laggedText, slotIn } from "./server-messages.ts";

type Frame = Pick<FrameBatch["frames"][number], "group" | "data">;

export interface LiveDeliveryDependencies {
  /** Takes so many tokens of the tier's messages a second, all or none. */
  readonly meter: (messages: number) => LimitDecision | Promise<LimitDecision>;
  readonly send: (text: string | Uint8Array) => void;
  readonly unsentBytes: () => number;
  /** The client reads too slowly. */
  readonly slow: () => void;
  /** What groups published has gone out. */
  readonly passed: (sent: { readonly messages: number; readonly bytes: number }) => void;
  readonly dropped: (messages: number) => void;
}

interface Measure {
  /** Those that count towards the tier's messages a second. */
  readonly messages: number;
  readonly bytes: number;
}

/** Of a batch that many clients get, once. */
const measures = new WeakMap<FrameBatch, Measure>();

function measureOf(batch: FrameBatch): Measure {
  const known = measures.get(batch);
  if (known !== undefined) return known;
  const measure = measureOfFrames(batch.frames);
  measures.set(batch, measure);
  return measure;
}

function measureOfFrames(frames: readonly Frame[]): Measure {
  let messages = 0;
  let bytes = 0;
  for (const { group, data } of frames) {
    // What was sent to one client alone was counted then.
    if (group === null) continue;
    const text = String(data);
    bytes += Buffer.byteLength(text);
    if (isDroppable(text)) messages += 1;
  }
  return { messages, bytes };
}

/**
 * What groups publish, on its way to one client, within the tier's messages a second: what is beyond is dropped, after
 * a notice that says how much. The messages of a block go out together, and a client that has more than the bound
 * unsent when those of the next one come is too slow.
 */
export class LiveDelivery {
  readonly #dependencies: LiveDeliveryDependencies;
  /** Kept in order while tokens are asked for at a store. */
  #held: Frame[] | null = null;
  #heldBytes = 0;
  #moment = 0;

  constructor(dependencies: LiveDeliveryDependencies) {
    this.#dependencies = dependencies;
  }

  /** As `ClientSession.takes`. `moment` is another number for each event of the chain. */
  takes(batch: FrameBatch, moment: number): boolean {
    const { unsentBytes, slow, meter, passed } = this.#dependencies;
    if (moment !== this.#moment) {
      this.#moment = moment;
      if (unsentBytes() + this.#heldBytes > streamBounds.unsentBytesMax) {
        slow();
        return false;
      }
    }
    const measure = measureOf(batch);
    if (this.#held !== null) {
      this.#hold(batch.frames, measure.bytes);
      return false;
    }
    const decision = measure.messages === 0 ? null : meter(measure.messages);
    if (decision instanceof Promise) {
      this.#held = [];
      this.#hold(batch.frames, measure.bytes);
      void this.#settle(decision, measure.messages);
      return false;
    }
    if (decision === null || decision.allowed) {
      passed(measure);
      return true;
    }
    this.#sendPart(batch.frames, this.#takeNow(decision.remaining));
    return false;
  }

  /** Sends to this client alone, behind what is held. */
  say(text: string): void {
    if (this.#held === null) this.#dependencies.send(text);
    else this.#held.push({ group: null, data: text });
  }

  /** Sends what is held, whatever the rate: the connection ends. */
  flush(): void {
    const held = this.#held;
    this.#held = null;
    this.#heldBytes = 0;
    if (held !== null) this.#sendPart(held, held.length);
  }

  #hold(frames: readonly Frame[], bytes: number): void {
    this.#held?.push(...frames);
    this.#heldBytes += bytes;
  }

  async #settle(asked: Promise<LimitDecision>, messages: number): Promise<void> {
    const decision = await asked.catch(() => null);
    const held = this.#held;
    this.#held = null;
    this.#heldBytes = 0;
    if (held === null) return;
    const granted = decision?.allowed === true ? messages : this.#takeNow(decision?.remaining ?? 0);
    const more = measureOfFrames(held).messages - granted;
    this.#sendPart(held, granted + (more > 0 ? this.#takeNow(more) : 0));
  }

  /** Takes so many tokens if they are there without asking a store; else as many as are left. */
  #takeNow(messages: number): number {
    if (messages <= 0) return 0;
    const decision = this.#dependencies.meter(messages);
    if (decision instanceof Promise) {
      decision.catch(() => undefined);
      return 0;
    }
    if (decision.allowed) return messages;
    return decision.remaining < messages ? this.#takeNow(decision.remaining) : 0;
  }

  /** Sends the first `allowed` messages; of each group the notice goes where its first one is dropped. */
  #sendPart(frames: readonly Frame[], allowed: number): void {
    const lost = lostOf(frames, allowed);
    const told = new Set<string>();
    let left = allowed;
    const sent: Frame[] = [];
    for (const frame of frames) {
      const { group, data } = frame;
      if (group === null || !isDroppable(String(data)) || left > 0) {
        if (group !== null && isDroppable(String(data))) left -= 1;
        this.#dependencies.send(data);
        sent.push(frame);
      } else if (!told.has(group)) {
        told.add(group);
        const { dropped, fromSlot } = lost.get(group) ?? { dropped: 0, fromSlot: 0n };
        this.#dependencies.send(laggedText(group, dropped, fromSlot));
        this.#dependencies.dropped(dropped);
      }
    }
    this.#dependencies.passed(measureOfFrames(sent));
  }
}

/** Of each group how many messages are beyond the first `allowed`, and the slot of the first of them. */
function lostOf(
  frames: readonly Frame[],
  allowed: number,
): Map<string, { dropped: number; readonly fromSlot: bigint }> {
  const lost = new Map<string, { dropped: number; readonly fromSlot: bigint }>();
  let left = allowed;
  for (const { group, data } of frames) {
    const text = String(data);
    if (group === null || !isDroppable(text)) continue;
    if (left > 0) {
      left -= 1;
      continue;
    }
    const known = lost.get(group);
    if (known === undefined) lost.set(group, { dropped: 1, fromSlot: slotIn(text) });
    else known.dropped += 1;
  }
  return lost;
}
