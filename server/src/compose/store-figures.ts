import { BackgroundTask, type Clock } from "@sluice/lib";
import type { StoreEvents, StoreSchema } from "../observe/index.ts";
import type { LeftBehind } from "../state/index.ts";

/** How often the stores are asked for figures that change with upgrades and with processes that die. */
const everyMs = 60_000;

export interface StoreFiguresDependencies {
  readonly clock: Clock;
  readonly state: {
    schema(): Promise<StoreSchema>;
    readonly processes: { leftBehind(own: string): Promise<LeftBehind> };
  };
  readonly ledger: { schema(): Promise<StoreSchema> };
  readonly events: Pick<StoreEvents, "schemaSeen"> & { leftBehind(left: LeftBehind): void };
  /** The holder of this process. */
  readonly processId: string;
}

/**
 * Reads at once, and once a minute, which migrations each store has, and what processes hold that are gone. A store
 * that does not answer keeps its last figures; that it is away is told elsewhere.
 */
export function watchStoreFigures({ clock, ...rest }: StoreFiguresDependencies): AsyncDisposable {
  const { state, ledger, events, processId } = rest;
  const work = async (): Promise<void> => {
    const figures = [
      state.schema().then((schema) => events.schemaSeen("state", schema)),
      ledger.schema().then((schema) => events.schemaSeen("ledger", schema)),
      state.processes.leftBehind(processId).then((left) => events.leftBehind(left)),
    ];
    await Promise.allSettled(figures);
  };
  const task = new BackgroundTask({ everyMs }, { clock, work, onError: () => undefined });
  void task.run();
  return task;
}
