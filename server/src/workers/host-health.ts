import type { HealthRecord, ReadyRecord } from "@sluice/contract/schemas";
import type { ProbeSource } from "../http/index.ts";

/** What each worker says of itself; null for one that does not answer. */
export type WorkerReadiness = ReadyRecord | null;

const isPlanned = (state: string): boolean => state === "ok" || state === "standby" || state === "maintenance";

type Parts = HealthRecord["parts"];

/** A part that several workers have is as all of them say, or else degraded. */
function mergeParts(records: readonly ReadyRecord[]): Parts {
  const states = new Map<string, Set<Parts[string]>>();
  for (const { parts } of records) {
    for (const [part, state] of Object.entries(parts)) {
      states.set(part, (states.get(part) ?? new Set<Parts[string]>()).add(state));
    }
  }
  const merged = [...states].map(([part, told]): [string, Parts[string]] => {
    const [only, ...others] = told;
    return [part, only === undefined || others.length > 0 ? "degraded" : only];
  });
  return Object.fromEntries(merged);
}

/** What a host knows of itself. */
interface Host {
  readonly version: string;
  readonly uptimeSeconds: number;
  readonly isEnding: boolean;
  /** Every role that a process may run. */
  readonly knownRoles: readonly string[];
}

/** Whether a host serves, from what its workers say: a role serves while one of them serves it. */
export function hostHealth(workers: readonly WorkerReadiness[], host: Host): ProbeSource {
  const { version, uptimeSeconds, isEnding } = host;
  const answered = workers.filter((each) => each !== null);
  const isWhole = answered.length === workers.length && answered.every(({ status }) => status !== "down");
  const roles: Record<string, boolean> = {};
  for (const record of answered) {
    for (const [role, serves] of Object.entries(record.roles)) {
      roles[role] = !isEnding && (serves || roles[role] === true);
    }
  }
  const parts: Parts = {
    ...mergeParts(answered),
    server: isEnding ? "down" : "ok",
    workers: isWhole ? "ok" : answered.length === 0 ? "down" : "degraded",
  };
  const reasons = distinct(answered.flatMap((record) => record.reasons)).filter(({ role }) => roles[role] !== true);
  const reasonsOf = (asked: string | null) => reasons.filter(({ role }) => asked === null || role === asked);
  const isWell = Object.values(parts).every(isPlanned);
  const ready = (asked: string | null): ReadyRecord => {
    const serves = asked === null ? Object.values(roles).includes(true) : roles[asked] === true;
    return {
      status: !serves ? "down" : isWell ? "ok" : "degraded",
      version,
      uptimeSeconds,
      parts,
      roles,
      reasons: asked !== null && roles[asked] === undefined ? [absent(asked)] : reasonsOf(asked),
    };
  };
  return {
    roles: host.knownRoles,
    ready,
    health: () => {
      const { status } = ready(null);
      // Without the gateway every call of it would be refused; a standby of another role is well.
      const isDown = isEnding || (roles["gateway"] === undefined ? status === "down" : !roles["gateway"]);
      return { status: isDown ? "down" : isWell ? "ok" : "degraded", version, uptimeSeconds, parts };
    },
  };
}

const absent = (role: string): ReadyRecord["reasons"][number] => ({
  role,
  part: "roles",
  is: "absent",
  message: "no worker of this host runs that role",
});

function distinct(reasons: ReadyRecord["reasons"]): ReadyRecord["reasons"] {
  const seen = new Map(reasons.map((reason) => [JSON.stringify(reason), reason]));
  return [...seen.values()];
}
