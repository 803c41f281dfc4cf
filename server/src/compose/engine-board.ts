import type { EngineBoard } from "../admin/index.ts";
import type { EngineService } from "../engine/index.ts";

/** The engine of this process for operators; without one there is only what state says. */
export function engineBoard(service: EngineService | null): EngineBoard {
  return {
    standsBy: () => service !== null && service.active === null,
    figures: () => {
      const engine = service?.active ?? null;
      if (engine === null) return null;
      const { desk, pool } = engine;
      const slot = desk.currentSlot();
      const { floor, average24h, utilization } = desk.tipFloor();
      return {
        status: engine.status().status,
        // Slots stay far below 2^53 within the life of a chain (contract: count).
        slot: slot === null ? null : Number(slot),
        bundles_live: pool.liveCount,
        validators: [...desk.connectedLeaders()].map(([identity, slots]) => ({
          identity,
          next_slots: slots.map(Number),
        })),
        tip_floor: { floor: String(floor), average_24h: String(average24h), utilization },
      };
    },
    followSwitches: async () => {
      await service?.active?.switches.refresh();
    },
  };
}
