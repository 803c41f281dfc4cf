import type { EnhancedAddressQuery } from "@sluice/contract/schemas";
import type { Asking } from "../node-calls.ts";

/** Which transactions of an address are asked for. */
export interface AddressQuestion extends Asking {
  readonly address: string;
  readonly query: Omit<EnhancedAddressQuery, "network">;
}
