import { type Address, parseAddress, parseSlot, type Slot } from "@sluice/wire/identifiers";

/** A finalized block up to which everything was looked at and written down. */
export interface TrackerCursor {
  readonly slot: Slot;
  readonly blockhash: Address;
  /** Unix seconds; by it a chain that was begun anew is told from a node that lags. */
  readonly time: number | null;
}

/** Where the tracker's place is kept, as text. Failures are thrown. */
export interface TrackerPlace {
  load(): Promise<string | null>;
  save(place: string): Promise<void>;
}

export const writeCursor = ({ slot, blockhash, time }: TrackerCursor): string =>
  `1 ${slot} ${blockhash} ${time ?? "-"}`;

/** Null for what is damaged. */
export function readCursor(text: string): TrackerCursor | null {
  const [version, slotText, hashText, timeText, ...more] = text.split(" ");
  const slot = parseSlot(slotText);
  const blockhash = parseAddress(hashText);
  const time = timeText === "-" ? null : Number(timeText);
  if (version !== "1" || slot === null || blockhash === null || more.length > 0) return null;
  return time === null || Number.isSafeInteger(time) ? { slot, blockhash, time } : null;
}
