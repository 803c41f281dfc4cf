import type { EnhancedAddressQuery } from "@sluice/contract/schemas";
import type { Asking } from "../node-calls.ts";

/** Which transactions of an address are asked for. */
export interface AddressQuestion extends Asking {
  readonly address: string;
  readonly query: Omit<EnhancedAddressQuery, "network">;
}

/** Records of one page. It may have fewer than were asked for, or none, while more follow. */
export interface AddressPage {
  readonly texts: readonly string[];
  /** The last transaction that was looked at, behind which the next page begins; null where nothing is left. */
  readonly nextSignature: string | null;
}
