import { protoFiles } from "@sluice/contract/proto";
import { loadService } from "../../../net/index.ts";
import { drawAsked, type GeyserCommitment, type GeyserUpdate, GeyserView, requestOf } from "./geyser-view.ts";
import type { PlayedCall } from "./played-call.ts";
import type { ClientWorld } from "./stream-client.ts";
import { firstSlot } from "./streamed-chain.ts";

const subscribe = loadService(protoFiles.geyser, "geyser.Geyser")["Subscribe"];

/** A client of Yellowstone gRPC that goes on at any host, by slots, whenever its stream ends. */
export class GeyserClient {
  readonly key: string;
  readonly #world: ClientWorld;
  readonly #commitment: GeyserCommitment;
  readonly #takesGzip: boolean;
  #call: PlayedCall | null = null;
  #view: GeyserView | null = null;
  readonly #over: GeyserView[] = [];
  /** Where a view begins that has not been told anything. */
  #from: bigint | null;
  #isBeginning = false;
  #wasServed = false;
  #number = 0;
  #pings = 0;
  #ponged = 0;
  takesAtOnce = Number.POSITIVE_INFINITY;
  waitTicks = 0;

  constructor(key: string, world: ClientWorld) {
    this.key = key;
    this.#world = world;
    const { random } = world;
    const drawn = random.next();
    this.#commitment = drawn < 0.5 ? "confirmed" : drawn < 0.8 ? "finalized" : "processed";
    this.#takesGzip = random.next() < 0.5;
    // At processed nothing says which blocks came before a stream that begins live.
    const isFromSlot = this.#commitment === "processed" || random.next() < 0.4;
    const ahead = this.#commitment === "processed" ? 0 : Math.floor(random.next() * 20);
    this.#from = isFromSlot ? BigInt(firstSlot + ahead) : null;
  }

  get views(): readonly GeyserView[] {
    return this.#view === null ? this.#over : [...this.#over, this.#view];
  }

  get isServed(): boolean {
    return this.#call?.isServed === true;
  }

  makeSlow(): void {
    this.takesAtOnce = 0;
  }

  wellAgain(): void {
    this.takesAtOnce = Number.POSITIVE_INFINITY;
  }

  cut(): void {
    const call = this.#call;
    if (call === null) return;
    this.#receive(call, Math.floor(this.#world.random.next() * 12));
    call.cut();
    this.#lost();
  }

  /** Replaces the filters of its stream by others, or says that it is there. */
  change(): void {
    if (this.#call === null || this.#view === null) return;
    if (this.#world.random.next() < 0.3) {
      this.#pings += 1;
      this.#say({ ping: { id: this.#pings } });
    } else this.#ask(null);
  }

  async tick(): Promise<void> {
    const call = this.#call;
    if (call !== null) {
      if (this.#isBeginning) {
        this.#view?.begins(this.#world.liveAfter(this.#commitment));
        // What it asked for is read in the step after the one in which it is admitted.
        this.#isBeginning = !this.#wasServed;
        this.#wasServed = call.isServed;
      }
      this.#receive(call, this.takesAtOnce);
      if (call.isOver) this.#ended(call);
      return;
    }
    this.waitTicks -= 1;
    const host = this.waitTicks > 0 ? null : this.#world.host();
    if (host === null) return;
    const { chain } = this.#world;
    if (this.#view !== null && this.#view.chain !== chain) this.#forget(null);
    this.#call = host.connectGeyser({
      "x-token": this.key,
      ...(this.#takesGzip ? { "x-sluice-accepted-encodings": "identity,gzip" } : {}),
    });
    if (this.#view !== null) this.#world.count("resumes");
    this.#view ??= new GeyserView(chain, this.#commitment, this.#from);
    const from = this.#view.next;
    this.#view.connected(from);
    this.#isBeginning = true;
    this.#ask(from);
  }

  #ask(from: bigint | null): void {
    this.#number += 1;
    const asked = drawAsked(this.#world.random);
    this.#view?.asks(this.#number, asked);
    this.#say(requestOf(asked, { number: this.#number, commitment: this.#commitment, from }));
  }

  #say(request: object): void {
    if (subscribe !== undefined) this.#call?.say(subscribe.requestSerialize(request));
  }

  #lost(): void {
    this.#call = null;
    this.#wasServed = false;
    this.wellAgain();
    const { random } = this.#world;
    this.waitTicks = Math.floor(random.next() * (random.next() < 0.15 ? 100 : 8));
  }

  #receive(call: PlayedCall, max: number): void {
    for (const bytes of call.take(max)) {
      try {
        this.#take(subscribe?.responseDeserialize(bytes) as GeyserUpdate);
      } catch (error) {
        this.#world.failed(`${this.key} ${this.#commitment}: ${error instanceof Error ? error.message : error}`);
      }
    }
  }

  #take(update: GeyserUpdate): void {
    if (update.update_oneof === "pong") {
      // Several pings may be on their way.
      const id = update.pong?.id ?? 0;
      if (id <= this.#ponged || id > this.#pings) throw new Error("a pong answers nothing");
      this.#ponged = id;
    }
    if (update.update_oneof !== "ping" && update.update_oneof !== "pong") this.#view?.take(update);
  }

  #ended({ end }: PlayedCall): void {
    this.#lost();
    if (end === null || end.code === "UNAVAILABLE" || end.code === "UNAUTHENTICATED") return;
    if (end.code === "OUT_OF_RANGE") this.#beginAgain(end.text);
    else this.#world.failed(`${this.key}: the stream ends ${end.code}: ${end.text}`);
  }

  /** What comes next is no longer held. */
  #beginAgain(text: string): void {
    this.#world.count("expired");
    const { floors, hasPast, hasGaps } = this.#world;
    const first = /last available: (\d+)$/.exec(text)?.[1] ?? null;
    // Nothing but the log holds blocks by when they were obtained.
    if (hasPast && !hasGaps && this.#commitment !== "processed") {
      this.#world.failed(`${this.key}: what the ledger holds is told to be gone: ${text}`);
    }
    if (floors.length === 0 && first === null) {
      this.#world.failed(`${this.key}: nothing was trimmed, and a slot is gone: ${text}`);
    }
    this.#forget(first === null ? null : BigInt(first));
  }

  #forget(from: bigint | null): void {
    if (this.#view !== null) this.#over.push(this.#view);
    this.#view = null;
    this.#from = from ?? (this.#commitment === "processed" ? BigInt(firstSlot) : null);
  }

  /** Whether all was told, up to the end. */
  get isDone(): boolean {
    try {
      this.#view?.verify(this.#world.chain.tip);
      return this.#view !== null && this.#call !== null;
    } catch {
      return false;
    }
  }

  verify(): void {
    try {
      if (this.#view === null) throw new Error("it has no stream");
      this.#view.verify(this.#world.chain.tip);
    } catch (error) {
      this.#world.failed(`${this.key} ${this.#commitment}: ${error instanceof Error ? error.message : error}`);
    }
  }
}
