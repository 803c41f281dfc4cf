import { join } from "node:path";
import type { Config } from "./config.ts";

/** The Unix socket at which a running server takes the commands of the `sluice` program. */
export const managementSocketPath = (config: Config): string => join(config.stores.directory, "sluice.sock");
