import type { LogPosition } from "../cursor.ts";
import { headerOf, slotOf } from "./chain-model.ts";

const place = (slot: number) => ({ slot: slotOf(slot), blockhash: headerOf(slot).blockhash });
const base = { index: null, finalizedSlot: null, gapTold: null, told: [], from: null } as const;

/** A cursor as it was written before cursors had a bound, on the chain of `chain-model`, and where it stands. */
interface FormerCursor {
  readonly text: string;
  readonly position: LogPosition;
}

/** The texts are that release's own, and are never written anew: clients keep cursors over an upgrade. */
export const formerCursors = {
  wholeBlock: {
    text: "AQEB7Ef5hXd5jBFpAAAAAAAAALWud68V-6bbyV9wVl9avNEyK2gdmjn20sFQ6rFTLQs2AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEyqalo",
    position: { ...base, ...place(105), stage: "confirmed" },
  },
  withinBlock: {
    text: "AQEB7Ef5hXd5jBFpAAAAAAAAALWud68V-6bbyV9wVl9avNEyK2gdmjn20sFQ6rFTLQs2AgAAAAAAAABmAAAAAAAAAAAAAAAAAAAAABds3R4",
    position: { ...base, ...place(105), stage: "confirmed", index: 1, finalizedSlot: slotOf(101) },
  },
  afterGap: {
    text: "AQIB7Ef5hXd5jBFnAAAAAAAAANIQNSpE2wA6mh09GUWpStiZ6Xz8J_c3QY6gQ24s-FqmAAAAAAAAAABoAAAAAAAAAGkAAAAAAAAAALK7bpY",
    position: { ...base, ...place(103), stage: "finalized", finalizedSlot: slotOf(103), gapTold: slotOf(104) },
  },
  processed: {
    text: "AQAB7Ef5hXd5jBFnAAAAAAAAANIQNSpE2wA6mh09GUWpStiZ6Xz8J_c3QY6gQ24s-FqmAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAmoAAAAAAAAAeBr_J-EViuujOINteVS7EyafSkyidByuQB63ePXQSH5pAAAAAAAAALWud68V-6bbyV9wVl9avNEyK2gdmjn20sFQ6rFTLQs2uuG32w",
    position: { ...base, ...place(103), stage: "processed", told: [place(106), place(105)] },
  },
} as const satisfies Readonly<Record<string, FormerCursor>>;
