/** What goes wrong in a schedule, and when, drawn from a seed. */
import { TextRandom } from "../../../devnet/random.ts";

/** Kinds by what they break: of each of these a schedule has at most one. */
export const faultKinds = {
  replica: ["kill", "freeze", "restart", "rolling"],
  postgres: ["terminate", "lock", "postgres-restart", "postgres-failover", "postgres-cut", "postgres-silent"],
  redis: ["redis-pause", "redis-flush", "redis-restart", "redis-failover", "redis-cut", "redis-silent"],
  ledger: ["ledger-away"],
  disk: ["disk-full"],
} as const;
export type FaultGroup = keyof typeof faultKinds;
export type FaultKind = (typeof faultKinds)[FaultGroup][number];

/** The way of one process to a store is lost: connections end and others are refused, or all of it says nothing. */
export const wayKinds = ["postgres-cut", "postgres-silent", "redis-cut", "redis-silent"] as const;
export type WayKind = (typeof wayKinds)[number];
export const isOfWay = (kind: FaultKind): kind is WayKind => (wayKinds as readonly FaultKind[]).includes(kind);

/** Those that a process needs to answer, to be asked or to write. */
export const lockedTables = ["api_keys", "credits", "leases", "bundles", "accounts", "revisions", "processes"] as const;

export interface Step {
  readonly kind: FaultKind;
  /** Milliseconds from the schedule's start. */
  readonly atMs: number;
  /** How long it lasts, where it lasts. */
  readonly forMs: number;
  readonly replica: number;
  readonly table: (typeof lockedTables)[number];
}

export interface Schedule {
  readonly seed: number;
  readonly number: number;
  readonly steps: readonly Step[];
  /** When the key is disabled, and in which order the processes are asked to. */
  readonly revokeAtMs: number;
  readonly revokeFrom: number;
}

const groups = ["replica", "postgres", "redis", "ledger", "disk"] as const satisfies readonly FaultGroup[];
const shares: Readonly<Record<FaultGroup, number>> = {
  replica: 0.55,
  postgres: 0.5,
  redis: 0.5,
  ledger: 0.15,
  disk: 0.15,
};
/** So that a way is lost for longer than a lease or a wait for an answer, as often as not. */
const wayFactor = 2;
/** All of them in the order in which the first schedules have one each, whatever else they have. */
const everyKind = groups.flatMap((group): readonly FaultKind[] => faultKinds[group]);

const groupOf = (kind: FaultKind): FaultGroup =>
  groups.find((group) => (faultKinds[group] as readonly FaultKind[]).includes(kind)) ?? "ledger";

/** The schedule of this number: the same for the same seed, whatever ran before it. */
export function drawSchedule(seed: number, number: number): Schedule {
  const draw = new TextRandom(`replicas/${seed}/${number}`);
  const first = everyKind[number] ?? draw.pick(everyKind) ?? "kill";
  const steps = groups.flatMap((group): Step[] => {
    const falls = draw.falls(shares[group]);
    const drawn = draw.pick<FaultKind>(faultKinds[group]) ?? "kill";
    const kind = groupOf(first) === group ? first : drawn;
    const forMs = 300 + draw.below(1_500);
    const step = {
      kind,
      atMs: 100 + draw.below(900),
      forMs: isOfWay(kind) ? forMs * wayFactor : forMs,
      replica: draw.below(3),
      table: draw.pick(lockedTables) ?? "api_keys",
    };
    return falls || kind === first ? [step] : [];
  });
  return { seed, number, steps, revokeAtMs: 100 + draw.below(1_200), revokeFrom: draw.below(3) };
}

const describe = ({ kind, atMs, forMs, replica, table }: Step): string => {
  const isOfProcess = groupOf(kind) === "replica" || groupOf(kind) === "disk" || isOfWay(kind);
  const of = kind === "lock" ? ` of ${table}` : isOfProcess ? ` of process ${replica}` : "";
  return `${atMs} ms: ${kind}${of} for ${forMs} ms`;
};

/** The schedule in words, and what replays it. */
export function describeSchedule({ seed, number, steps, revokeAtMs, revokeFrom }: Schedule): string {
  const lines = [...steps].toSorted((left, right) => left.atMs - right.atMs).map(describe);
  const revoked = `${revokeAtMs} ms: a key is disabled through process ${revokeFrom}`;
  return [`schedule ${number} of seed ${seed} (--n 1 --seed ${seed} --only ${number}):`, ...lines, revoked].join(
    "\n  ",
  );
}
