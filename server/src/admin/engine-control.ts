import type { EngineFigures } from "@sluice/contract/schemas";
import type { EngineService } from "../engine/index.ts";

/** The block engine of this process as operators see and control it. */
export interface EngineControl {
  /** What it does now; null where this process runs none, or stands by. */
  figures(): EngineFigures | null;
  /** Whether it stands by while another process runs it. */
  standsBy(): boolean;
  /** Reads the switches in state at once; engines of other processes do so within a second. */
  refreshSwitches(): Promise<void>;
}

/** The control of a process's engine; null for a process without one, where state is all there is. */
export function engineControl(service: EngineService | null): EngineControl {
  return {
    standsBy: () => service !== null && service.active === null,
    figures: () => {
      const engine = service?.active ?? null;
      if (engine === null) return null;
      const { pool } = engine;
      const slot = engine.service.currentSlot();
      const { floor, average24h, utilization, bundleShare } = engine.service.tipFloor();
      return {
        status: engine.status().status,
        // Slots stay far below 2^53 within the life of a chain (contract: count).
        slot: slot === null ? null : Number(slot),
        bundles_live: pool.liveCount,
        validators: [...engine.service.connectedLeaders()].map(([identity, slots]) => ({
          identity,
          next_slots: slots.map(Number),
        })),
        tip_floor: { floor: String(floor), average_24h: String(average24h), utilization, bundle_share: bundleShare },
      };
    },
    refreshSwitches: async () => {
      await service?.active?.switches.refresh();
    },
  };
}
