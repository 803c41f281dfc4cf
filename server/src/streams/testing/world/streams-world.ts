import type { StreamChannel } from "@sluice/contract/streams";
import { invariant, ManualClock, type Random, seededRandom, sleep, systemClock } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import { decodeCursor } from "../../../log/cursor.ts";
import type { ChainLog, LogRecord, Stage } from "../../../log/index.ts";
import { chainPast } from "./chain-past.ts";
import { GeyserClient } from "./geyser-client.ts";
import { Ingesters } from "./ingesters.ts";
import type { PlayedAccount } from "./played-accounts.ts";
import { PubSubFollower } from "./pubsub-client.ts";
import { type ClientWorld, drawFilters, StreamClient } from "./stream-client.ts";
import { StreamedChain, slotMs } from "./streamed-chain.ts";
import { StreamsHost } from "./streams-host.ts";
import { type LogDriver, memoryLogs, type WorldLog } from "./streams-logs.ts";
import type { StreamsPlan } from "./streams-plan.ts";

/** What was seen of a schedule. */
export const streamsFigures = [
  "slots",
  "items",
  "notifications",
  "updates",
  "repeats",
  "undone",
  "gaps",
  "cuts",
  "kills",
  "resumes",
  "expired",
  "slow",
  "lagged",
  "drained",
  "unsubscribed",
  "revoked",
  "liars",
] as const;
export type StreamsFigures = Record<(typeof streamsFigures)[number], number>;

const tickMs = 100;
const settleMsMax = 180_000;
/** Sooner than servers look after sessions, so that quiet subscriptions are told their cursors. */
const sessionTickMs = 3_000;
/** A key that is revoked has no connection after this. */
const revokedMs = 2_000;
const channels: readonly StreamChannel[] = ["transactions", "transactions", "accounts", "blocks", "slots"];

interface WorldEvent {
  readonly atMs: number;
  readonly run: () => void | Promise<void>;
}

/** All of a schedule: chain, log, hosts and clients, moved by a clock of its own. */
export class StreamsWorld implements ClientWorld {
  readonly clock = new ManualClock(1_790_000_100_000);
  readonly random: Random;
  readonly #plan: StreamsPlan;
  readonly #driver: LogDriver;
  readonly #accounts = new Map<string, PlayedAccount>();
  readonly #hosts: (StreamsHost | null)[] = [];
  readonly #clients: StreamClient[];
  readonly #followers: PubSubFollower[];
  readonly #geysers: GeyserClient[];
  readonly #faults: string[] = [];
  readonly figures = Object.fromEntries(streamsFigures.map((name) => [name, 0])) as StreamsFigures;
  readonly #chains: StreamedChain[] = [];
  floors: bigint[] = [];
  #log: WorldLog | null = null;
  /** Null where records come to the log as they are. */
  #ingesters: Ingesters | null = null;
  /** Records that wait to be stored, with when they are tried. */
  #records: { atMs: number; record: LogRecord; chain: StreamedChain }[] = [];
  #appending = 0;
  #nowMs = 0;

  constructor(seed: number, plan: StreamsPlan, driver: LogDriver | null = null) {
    this.random = seededRandom(seed);
    this.#plan = plan;
    this.#driver = driver ?? memoryLogs(this.clock, this.random);
    this.#chains.push(new StreamedChain(this.random, plan, 0));
    this.#clients = Array.from({ length: plan.clients }, (_, index) => this.#client(`client-${index}`));
    this.#followers = Array.from({ length: 2 }, (_, index) => {
      this.#accounts.set(`follower-${index}`, { messagesPerSecond: 10_000, burst: 20_000, isRevoked: false });
      return new PubSubFollower(`follower-${index}`, this);
    });
    this.#geysers = Array.from({ length: plan.geysers }, (_, index) => {
      this.#accounts.set(`geyser-${index}`, { messagesPerSecond: 10_000, burst: 20_000, isRevoked: false });
      return new GeyserClient(`geyser-${index}`, this);
    });
  }

  get chain(): StreamedChain {
    const [chain] = this.#chains;
    invariant(chain !== undefined, "a world has a chain");
    return chain;
  }

  chainOf(cursor: string): StreamedChain | null {
    const isOf = ({ identity }: StreamedChain) => decodeCursor(cursor, { network: "devnet", chain: identity }) !== null;
    return this.#chains.find(isOf) ?? null;
  }

  get hasPast(): boolean {
    return this.#plan.hasPast;
  }

  get hasGaps(): boolean {
    return this.#plan.unavailable > 0;
  }

  host(): StreamsHost | null {
    const up = this.#hosts.filter((host) => host !== null);
    return up[Math.floor(this.random.next() * up.length)] ?? null;
  }

  failed(what: string): void {
    this.#faults.push(`${this.#nowMs} ms: ${what}`);
  }

  count(what: keyof StreamsFigures): void {
    this.figures[what] += 1;
  }

  async run(): Promise<{ readonly faults: readonly string[]; readonly figures: StreamsFigures }> {
    this.#log = await this.#driver.create(this.chain.identity, this.#plan.writeMs);
    if (this.#plan.nodes.length === 0) this.#bring(this.chain);
    else this.#ingesters = this.#openIngesters(this.#log);
    for (let index = 0; index < this.#plan.hosts; index += 1) await this.#open(index);
    await this.#begin();
    const events = this.#drawEvents();
    for (; this.#nowMs <= this.chain.lastMs && this.#faults.length === 0; ) {
      for (const each of events.filter(({ atMs }) => atMs <= this.#nowMs && atMs > this.#nowMs - tickMs)) {
        await each.run();
      }
      await this.#tick();
    }
    await this.#heal();
    for (let waited = 0; waited < settleMsMax && this.#faults.length === 0 && !this.#isDone; waited += tickMs) {
      await this.#tick();
    }
    if (this.#faults.length === 0) for (const client of [...this.#clients, ...this.#geysers]) client.verify();
    for (const host of this.#hosts) host?.end("killed");
    this.#ingesters?.end();
    await this.#idle();
    await this.#log?.[Symbol.asyncDispose]();
    this.#sum();
    return { faults: this.#faults, figures: this.figures };
  }

  /** Followers begin at the first block, whoever brings it. */
  async #begin(): Promise<void> {
    await this.#ingesters?.start();
    const first = this.#records.shift();
    if (first !== undefined) void this.#append(first);
    for (let waitedMs = 0; this.#hosts.some((host) => host?.log?.earliest() === null); waitedMs += tickMs) {
      if (waitedMs > settleMsMax) {
        this.failed("the log has no first block");
        return;
      }
      this.clock.advance(tickMs);
      if (this.#ingesters !== null) this.#nowMs += tickMs;
      this.#ingesters?.tick(this.#nowMs);
      await this.#idle();
    }
  }

  #openIngesters(log: WorldLog): Ingesters {
    const { clock, random, chain } = this;
    return new Ingesters(
      { nodes: this.#plan.nodes, count: this.#plan.ingesters },
      { clock, random, chain, open: () => log.open() },
    );
  }

  #sum(): void {
    const views = this.#clients.flatMap((client) => client.views);
    this.figures.slots = this.#plan.slots;
    this.figures.liars = this.#ingesters?.liars ?? 0;
    this.figures.items = views.reduce((sum, { items }) => sum + items, 0);
    this.figures.undone = views.reduce((sum, { undone }) => sum + undone, 0);
    this.figures.gaps = views.reduce((sum, { gapsTold }) => sum + gapsTold, 0);
    const geysers = this.#geysers.flatMap((client) => client.views);
    this.figures.updates = geysers.reduce((sum, { items }) => sum + items, 0);
    this.figures.repeats = geysers.reduce((sum, { repeats }) => sum + repeats, 0);
    this.figures.notifications = this.#followers.reduce((sum, { told }) => sum + told, 0);
  }

  get #isDone(): boolean {
    const clients = [...this.#clients, ...this.#geysers];
    return this.#records.length === 0 && this.#appending === 0 && clients.every((client) => client.isDone);
  }

  #client(key: string): StreamClient {
    const { random } = this;
    const isNarrow = random.next() < 0.4;
    const rate = { messagesPerSecond: isNarrow ? 4 : 10_000, burst: isNarrow ? 4 : 20_000 };
    this.#accounts.set(key, { ...rate, isRevoked: false });
    const client = new StreamClient({ key, onLagged: random.next() < 0.5 ? "resume" : "go on" }, this);
    for (let count = 1 + Math.floor(random.next() * 4); count > 0; count -= 1) this.#want(client);
    return client;
  }

  #want(client: StreamClient): void {
    const channel = channels[Math.floor(this.random.next() * channels.length)] ?? "slots";
    // Of few, so that clients share groups, and one may have the same twice.
    client.want(channel, drawFilters(seededRandom(Math.floor(this.random.next() * 4) + channel.length), channel));
  }

  #bring(chain: StreamedChain): void {
    this.#records = chain.records.map((each) => ({ ...each, chain }));
  }

  async #open(index: number): Promise<void> {
    const { clock, random, chain } = this;
    const host = new StreamsHost({
      clock,
      random,
      accounts: this.#accounts,
      past: this.#plan.hasPast
        ? chainPast(
            () => this.chain,
            () => this.finalUntil,
          )
        : null,
      failed: (what) => this.failed(`host ${index}: ${what}`),
    });
    if (this.#log === null) return;
    await host.open(await this.#log.open(), chain.identity);
    this.#hosts[index] = host;
  }

  /** The slot up to which all is final, in the ledger as well. */
  get finalUntil(): bigint {
    return this.#anyLog?.reached("finalized")?.slot ?? 0n;
  }

  liveAfter(stage: Stage): bigint {
    const log = this.#anyLog;
    const outcome = log?.follow({ stage, from: "latest" });
    if (log === null || outcome?.ok !== true) return 0n;
    const place = log.placeOf(outcome.follower.cursor(), stage);
    void outcome.follower.return();
    return place?.slot ?? 0n;
  }

  get #anyLog(): ChainLog | null {
    return this.#hosts.find((host) => host !== null && host !== undefined)?.log ?? null;
  }

  async #tick(): Promise<void> {
    this.clock.advance(tickMs);
    this.#nowMs += tickMs;
    this.#ingest();
    this.#ingesters?.tick(this.#nowMs);
    await this.#idle();
    for (const client of this.#clients) await client.tick();
    for (const follower of [...this.#followers, ...this.#geysers]) await follower.tick();
    if (this.#nowMs % sessionTickMs === 0) for (const host of this.#hosts) host?.tick();
  }

  /** One of the hosts stores what is there; what it could not store another one does. */
  #ingest(): void {
    const due = this.#records.filter(({ atMs }) => atMs <= this.#nowMs);
    this.#records = this.#records.filter(({ atMs }) => atMs > this.#nowMs);
    for (const each of due) {
      void this.#append(each);
      if (this.random.next() < 0.2) void this.#append(each);
    }
  }

  async #append(each: { record: LogRecord; chain: StreamedChain }): Promise<void> {
    if (each.chain !== this.chain) return;
    const log = this.host()?.log ?? null;
    this.#appending += 1;
    try {
      if (log === null) throw new Error("no host is up");
      await log.append(each.record);
    } catch {
      this.#records.push({ ...each, atMs: this.#nowMs + 300 });
    }
    this.#appending -= 1;
  }

  /** Waits until nothing is under way but what waits for the clock. */
  async #idle(): Promise<void> {
    if (this.#driver.isReal) {
      await sleep(systemClock, 1);
      return;
    }
    for (let turn = 0; turn < 60; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      const waiting = this.#log?.waiting ?? 0;
      if (turn >= 6 && (this.#appending === 0 || waiting > 0)) return;
    }
  }

  #drawEvents(): readonly WorldEvent[] {
    const { random } = this;
    const plan = this.#plan;
    const lengthMs = plan.slots * slotMs + 2_000;
    const at = (): number => Math.floor((random.next() * lengthMs) / tickMs) * tickMs;
    const events: WorldEvent[] = [];
    const add = (count: number, of: () => WorldEvent["run"]): void => {
      for (let each = 0; each < count; each += 1) events.push({ atMs: at(), run: of() });
    };
    const later = (ms: number, run: WorldEvent["run"]): void => {
      events.push({ atMs: this.#nowMs + Math.ceil(ms / tickMs) * tickMs, run });
    };
    add(plan.cuts, () => () => this.#cut());
    for (const how of ["killed", "drained"] as const) {
      add(how === "killed" ? plan.kills : plan.drains, () => () => this.#end(how, later));
    }
    add(plan.stalls, () => () => {
      this.#log?.stall(random.next() < 0.5 ? "DISK_FULL" : "UNAVAILABLE");
      later(500 + random.next() * 3_000, () => this.#log?.stall(null));
    });
    add(plan.slow, () => () => {
      const client = this.#drawAny();
      client?.makeSlow();
      later(500 + random.next() * 6_000, () => client?.wellAgain());
    });
    add(plan.changes, () => () => {
      const client = this.#drawClient();
      this.#drawGeyser()?.change();
      if (client === undefined) return;
      if (random.next() < 0.5) this.#want(client);
      else client.unsubscribe(random.next() < 0.5);
    });
    add(plan.revocations, () => () => this.#revoke(later));
    // Nothing is final before, nor may it go.
    for (let trim = 0; trim < plan.trims; trim += 1) {
      events.push({ atMs: Math.max(at(), 18 * slotMs), run: () => this.#trim() });
    }
    add(plan.ingesterKills, () => () => {
      this.#ingesters?.kill();
      later(1_000 + random.next() * 3_000, () => this.#ingesters?.start());
    });
    add(plan.outages, () => () => this.#ingesters?.away());
    add(plan.isReplaced ? 1 : 0, () => () => this.#replace());
    return events;
  }

  #drawClient(): StreamClient | undefined {
    return this.#clients[Math.floor(this.random.next() * this.#clients.length)];
  }

  #drawGeyser(): GeyserClient | undefined {
    return this.#geysers[Math.floor(this.random.next() * this.#geysers.length)];
  }

  #drawAny(): StreamClient | GeyserClient | undefined {
    const all = [...this.#clients, ...this.#geysers];
    return all[Math.floor(this.random.next() * all.length)];
  }

  #cut(): void {
    const all = [...this.#clients, ...this.#followers, ...this.#geysers];
    this.count("cuts");
    all[Math.floor(this.random.next() * all.length)]?.cut();
  }

  #end(how: "killed" | "drained", later: (ms: number, run: WorldEvent["run"]) => void): void {
    const index = Math.floor(this.random.next() * this.#hosts.length);
    const host = this.#hosts[index];
    if (host === null || host === undefined) return;
    if (how === "killed") this.count("kills");
    this.#hosts[index] = null;
    host.end(how);
    later(500 + this.random.next() * 4_000, () => this.#open(index));
  }

  #revoke(later: (ms: number, run: WorldEvent["run"]) => void): void {
    const client = this.#drawAny();
    const account = this.#accounts.get(client?.key ?? "");
    if (client === undefined || account === undefined || account.isRevoked) return;
    this.count("revoked");
    account.isRevoked = true;
    client.waitTicks = 40;
    for (const host of this.#hosts) host?.recheck();
    later(revokedMs, () => {
      if (client.isServed) this.failed(`${client.key} was revoked ${revokedMs} ms ago and is served`);
      account.isRevoked = false;
    });
  }

  /** Only what is final may go, and what the ledger holds where there is one. */
  #trim(): void {
    const until = this.finalUntil;
    const held = this.chain.standing.filter(({ header: { slot }, isUnavailable }) => slot <= until && !isUnavailable);
    const block = held[Math.floor(held.length * (0.3 + 0.6 * this.random.next()))];
    if (block === undefined) return;
    if (this.#log?.trimBelow(block.header.slot as Slot) !== true) return;
    if (block.header.slot > (this.floors.at(-1) ?? 0n)) this.floors.push(block.header.slot);
  }

  async #replace(): Promise<void> {
    this.#chains.unshift(new StreamedChain(this.random, this.#plan, this.#nowMs));
    this.floors = [];
    const before = this.#log;
    this.#log = await this.#driver.create(this.chain.identity, this.#plan.writeMs);
    for (const host of this.#hosts) await host?.replace(await this.#log.open(), this.chain.identity);
    this.#bring(this.chain);
    await this.#begin();
    await before?.[Symbol.asyncDispose]();
  }

  /** What was broken is whole again, and everybody may be told all. */
  async #heal(): Promise<void> {
    this.#log?.stall(null);
    this.#ingesters?.heal();
    await this.#ingesters?.start();
    for (const account of this.#accounts.values()) {
      Object.assign(account, { messagesPerSecond: 10_000, burst: 20_000, isRevoked: false });
    }
    for (const client of [...this.#clients, ...this.#geysers]) client.wellAgain();
    for (const [index, host] of this.#hosts.entries()) {
      if (host === null) await this.#open(index);
      else host.recheck();
    }
  }
}
