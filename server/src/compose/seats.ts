import type { Config, Reload, ReloadResult, Role } from "../config/index.ts";
import type { Hot } from "../hot/index.ts";
import type { State } from "../state/index.ts";
import type { Seat } from "../workers/index.ts";
import type { Dependencies } from "./dependencies.ts";
import { replicaGroupsOf } from "./endpoints.ts";

/** The roles of a worker by its number: 0 has all but the gateway, which is what the others have. */
export const rolesOf = (roles: readonly Role[], worker: number): readonly Role[] =>
  worker === 0 ? roles.filter((role) => role !== "gateway") : ["gateway"];

/** The configuration of one worker: its roles, and its part of what the host bounds as a whole. */
export function configOfWorker(config: Config, worker: number): Config {
  const { connectionsMax, workers } = config;
  return {
    ...config,
    roles: rolesOf(config.roles, worker),
    connectionsMax: connectionsMax === null ? null : Math.max(1, Math.floor(connectionsMax / workers)),
  };
}

/**
 * Takes back what the life before this one left with others when it was killed: its registration, and its share of the
 * rates. Both would end by themselves a few seconds later; its credits are found by its tally, and its leases pass on.
 */
export async function freePredecessor(
  config: Config,
  { seat, state, hot, log }: FreedParts & Pick<Dependencies, "log">,
): Promise<void> {
  const predecessor = seat?.orders.predecessor ?? null;
  if (predecessor === null) return;
  const leaving = replicaGroupsOf(config).map((group) => hot.attend(group, predecessor, 0));
  const outcomes = await Promise.allSettled([state.processes.leave(predecessor), ...leaving]);
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed === undefined) log.info({ predecessor }, "what the worker before this one held is free");
  else log.info({ predecessor, error: failed.reason }, "what the worker before this one held ends by itself");
}

interface FreedParts {
  readonly seat: Seat | null;
  readonly state: Pick<State, "processes">;
  readonly hot: Pick<Hot, "attend">;
}

/** A reload that reaches all workers of the host, whichever was asked. */
export const reloadOfAll =
  (seat: Seat): Reload =>
  async () =>
    mergeReloads([await seat.reloadAll()]);

/** What the reloads of all workers come to: the first that failed, else all that any of them applied. */
export function mergeReloads(results: readonly unknown[]): ReloadResult {
  const read = results.filter(isReloadResult);
  const failed = read.find(({ kind }) => kind !== "reloaded");
  if (failed !== undefined) return failed;
  const reloaded = read.flatMap((each) => (each.kind === "reloaded" ? [each] : []));
  if (reloaded.length === 0) return { kind: "unavailable" };
  const all = (of: "applied" | "needsRestart"): string[] => [...new Set(reloaded.flatMap((each) => each[of]))];
  return { kind: "reloaded", applied: all("applied"), needsRestart: all("needsRestart") };
}

/** Workers answer with what `createReload` gives. */
const isReloadResult = (value: unknown): value is ReloadResult =>
  typeof value === "object" && value !== null && "kind" in value;
