import type { HealthRecord } from "@sluice/contract/schemas";
import type { ProbeSource } from "../probes.ts";

/** Probes of a server that is as `status` says, for every role. */
export function fixedProbes(status: () => HealthRecord["status"] = () => "ok"): ProbeSource {
  const record = () => ({ status: status(), version: "1.2.3", uptimeSeconds: 1, parts: {} });
  return {
    roles: ["gateway", "oracle", "engine"],
    health: record,
    ready: (role) => ({ ...record(), roles: role === null ? {} : { [role]: status() !== "down" }, reasons: [] }),
  };
}
