import { invariant } from "@sluice/lib";
import { FrameBatch, type SharedFrame, sharedFrame } from "./frame-batch.ts";

/** Published bytes that may wait for the end of a turn of the event loop; with more the turn ends at once. */
const turnBytesMax = 1024 * 1024;

/** A client as groups know it. One that a session makes serves all of its groups. */
export class FrameMember {
  readonly fanOut: FanOut;
  readonly groups = new Set<FrameGroup>();
  /** Hands over what the client is to get. */
  readonly deliver: (batch: FrameBatch) => void;
  /** Frames of the present turn that it does not share: sent to it alone, or published before it left a group. */
  own: SharedFrame[] | null = null;
  /** The groups whose frames it gets at the end of the turn; only while that is found out. */
  path: Path | null = null;
  /** What it gets of a turn that is being delivered, until that has been done. */
  pending: FrameBatch | null = null;

  constructor(fanOut: FanOut, deliver: (batch: FrameBatch) => void) {
    this.fanOut = fanOut;
    this.deliver = deliver;
  }

  /**
   * Keeps a message for this client alone behind what was published to it in this turn, if anything was to anyone;
   * false, with what is older delivered, when it can go out at once.
   */
  defer(data: string | Uint8Array): boolean {
    this.#deliverPending();
    if (!this.fanOut.isTurnOpen) return false;
    const frame = sharedFrame(null, this.fanOut.nextOrder(), data);
    this.keep([frame]);
    this.fanOut.held(frame.bytes.length);
    return true;
  }

  /** Bytes that were kept for it alone. */
  get ownBytes(): number {
    if (this.own === null) return 0;
    let bytes = 0;
    for (const frame of this.own) bytes += frame.bytes.length;
    return bytes;
  }

  keep(frames: readonly SharedFrame[]): void {
    if (frames.length === 0) return;
    if (this.own === null) this.fanOut.touched(this);
    this.own ??= [];
    for (const frame of frames) this.own.push(frame);
  }

  /** Delivers at once what it was to get at the end of the turn, and leaves all groups. */
  finish(): void {
    for (const group of this.groups) group.delete(this);
    this.#deliverPending();
    const { own } = this;
    this.own = null;
    if (own !== null) this.deliver(new FrameBatch(inOrder(own)));
  }

  /** Leaves all groups; what it was to get is dropped. */
  drop(): void {
    for (const group of this.groups) group.delete(this);
    this.own = null;
    this.pending = null;
  }

  #deliverPending(): void {
    const batch = this.pending;
    this.pending = null;
    if (batch !== null) this.deliver(batch);
  }
}

/**
 * Clients that get the same messages. What is published in one turn of the event loop goes out together at its end: the
 * frames are joined once, and each client costs one write. A client gets exactly the messages that were published while
 * it was a member, over all its groups in the order in which they were published; a message that is sent to it alone
 * keeps its place among them.
 */
export class FrameGroup {
  readonly fanOut: FanOut;
  readonly name: string;
  readonly #members = new Set<FrameMember>();
  /** Published in this turn. */
  #frames: SharedFrame[] = [];
  /** Members that joined after some of these, and the place of the last one that they do not get. */
  #late: Map<FrameMember, number> | null = null;

  constructor(fanOut: FanOut, name: string) {
    this.fanOut = fanOut;
    this.name = name;
  }

  get size(): number {
    return this.#members.size;
  }

  /** The member gets what is published from now on. */
  add(member: FrameMember): void {
    invariant(member.fanOut === this.fanOut, "a client is in groups of one fan-out");
    if (this.#members.has(member)) return;
    this.#members.add(member);
    member.groups.add(this);
    const last = this.#frames.at(-1);
    if (last === undefined) return;
    this.#late ??= new Map();
    this.#late.set(member, last.order);
  }

  /** The member still gets what was published before. */
  delete(member: FrameMember): void {
    if (!this.#members.delete(member)) return;
    member.groups.delete(this);
    if (this.#frames.length > 0) member.keep(this.#since(member));
  }

  /** Sends a message to all members at the end of this turn of the event loop. */
  publish(data: string | Uint8Array): void {
    if (this.#members.size === 0) return;
    if (this.#frames.length === 0) this.fanOut.published(this);
    const frame = sharedFrame(this.name, this.fanOut.nextOrder(), data);
    this.#frames.push(frame);
    this.fanOut.held(frame.bytes.length);
  }

  /** Ends a turn in which nothing else was sent: all members get the same. Null when some joined meanwhile. */
  takeAlone(): Delivery | null {
    if (this.#late !== null) return null;
    const batch = new FrameBatch(this.#frames);
    const members = [...this.#members];
    for (const member of members) member.pending = batch;
    this.#frames = [];
    return { batch, members };
  }

  /** Ends the turn: leads each member further on its path, and gives the frames. */
  takeTurn(paths: Paths): void {
    const late = this.#late;
    paths.begin(this.#frames);
    for (const member of this.#members) {
      if (late?.has(member) === true) member.keep(this.#since(member));
      else paths.lead(member);
    }
    this.#frames = [];
    this.#late = null;
  }

  #since(member: FrameMember): readonly SharedFrame[] {
    const last = this.#late?.get(member);
    return last === undefined ? this.#frames : this.#frames.filter(({ order }) => order > last);
  }
}

/**
 * The sending path of a service with many clients. Groups of it that publish in the same turn of the event loop share
 * its end, so that a client of several gets all in one write.
 */
export class FanOut {
  readonly #failed: (error: unknown) => void;
  /** Groups that published in this turn. */
  #groups: FrameGroup[] = [];
  /** Members that get something of their own in this turn. */
  #touched: FrameMember[] = [];
  #order = 0;
  #bytes = 0;
  #isScheduled = false;
  #isDelivering = false;

  /** `failed` receives an error of one client's session; the other clients still get what was published. */
  constructor(dependencies: { readonly failed: (error: unknown) => void }) {
    this.#failed = dependencies.failed;
  }

  group(name: string): FrameGroup {
    return new FrameGroup(this, name);
  }

  /** Whether something waits for the end of this turn. */
  get isTurnOpen(): boolean {
    return this.#order > 0;
  }

  /** Of the next frame. */
  nextOrder(): number {
    this.#order += 1;
    return this.#order;
  }

  /** A group published its first message of this turn. */
  published(group: FrameGroup): void {
    this.#groups.push(group);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // Behind all callbacks of the events that have come in together, so that a busy server joins more.
    setImmediate(() => {
      this.#isScheduled = false;
      this.endTurn();
    });
  }

  touched(member: FrameMember): void {
    this.#touched.push(member);
  }

  held(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > turnBytesMax && !this.#isDelivering) this.endTurn();
  }

  /** Delivers what was published; runs by itself. What is published meanwhile belongs to the next turn. */
  endTurn(): void {
    if (this.#order === 0 || this.#isDelivering) return;
    const deliveries = this.#takeTurn();
    this.#isDelivering = true;
    for (const { batch, members } of deliveries) {
      for (const member of members) {
        if (member.pending !== batch) continue;
        member.pending = null;
        try {
          member.deliver(batch);
        } catch (error) {
          this.#failed(error);
        }
      }
      batch.forget();
    }
    this.#isDelivering = false;
  }

  /** What this turn brings to whom: members that get the same share one batch. */
  #takeTurn(): readonly Delivery[] {
    const groups = this.#groups;
    const [only] = groups;
    const alone = only !== undefined && groups.length === 1 && this.#touched.length === 0 ? only.takeAlone() : null;
    const paths = new Paths();
    if (alone === null) for (const group of groups) group.takeTurn(paths);
    const touched = this.#touched;
    this.#groups = [];
    this.#touched = [];
    this.#order = 0;
    this.#bytes = 0;
    return alone === null ? paths.deliveries(touched) : [alone];
  }
}

/** What some members get, each once; a member whose `pending` is another has had it. */
interface Delivery {
  readonly batch: FrameBatch;
  readonly members: readonly FrameMember[];
}

/** Groups of one turn, as members share them: what the last one published, and the groups before it. */
class Path {
  readonly #frames: readonly SharedFrame[];
  readonly #before: Path | null;
  /** The path that was taken last from here; nearly all members of a group go on alike. */
  #next: Path | null = null;
  #others: Map<readonly SharedFrame[], Path> | null = null;
  /** Those who get the frames of these groups and of no other, and the batch of it; null as long as nobody does. */
  delivery: { readonly batch: FrameBatch; readonly members: FrameMember[] } | null = null;

  constructor(frames: readonly SharedFrame[], before: Path | null) {
    this.#frames = frames;
    this.#before = before;
  }

  /** With one more group, by what it published. */
  to(frames: readonly SharedFrame[]): Path {
    if (this.#next !== null && this.#next.#frames === frames) return this.#next;
    if (this.#next !== null) {
      this.#others ??= new Map();
      this.#others.set(this.#next.#frames, this.#next);
    }
    this.#next = this.#others?.get(frames) ?? new Path(frames, this);
    return this.#next;
  }

  /** Of all its groups, in their order. */
  get frames(): readonly SharedFrame[] {
    if (this.#before === null) return this.#frames;
    const all: (readonly SharedFrame[])[] = [];
    for (let at: Path | null = this; at !== null; at = at.#before) all.push(at.#frames);
    return inOrder(all.flat());
  }
}

/** Who gets the frames of which groups in one turn: members with the same groups end on the same path. */
class Paths {
  readonly #members: FrameMember[] = [];
  #frames: readonly SharedFrame[] = [];
  /** Of the members that are in no group before the present one. */
  #first: Path | null = null;

  /** The members of one group follow. */
  begin(frames: readonly SharedFrame[]): void {
    this.#frames = frames;
    this.#first = null;
  }

  lead(member: FrameMember): void {
    if (member.path !== null) {
      member.path = member.path.to(this.#frames);
      return;
    }
    this.#first ??= new Path(this.#frames, null);
    member.path = this.#first;
    this.#members.push(member);
  }

  /** What all members get; `touched` are those that get something of their own. */
  deliveries(touched: readonly FrameMember[]): readonly Delivery[] {
    const deliveries: Delivery[] = [];
    for (const member of touched) {
      const { own, path } = member;
      if (own === null) continue;
      member.own = null;
      member.path = null;
      member.pending = new FrameBatch(inOrder([...own, ...(path?.frames ?? [])]));
      deliveries.push({ batch: member.pending, members: [member] });
    }
    for (const member of this.#members) {
      const { path } = member;
      // One that gets something of its own has been served.
      if (path === null) continue;
      member.path = null;
      if (path.delivery === null) {
        path.delivery = { batch: new FrameBatch(path.frames), members: [] };
        deliveries.push(path.delivery);
      }
      member.pending = path.delivery.batch;
      path.delivery.members.push(member);
    }
    return deliveries;
  }
}

const inOrder = (frames: readonly SharedFrame[]): SharedFrame[] =>
  frames.toSorted((one, other) => one.order - other.order);
