/** tips: the least that a bundle pays, and what landed bundles paid. Fed by confirmed blocks; feeds admission and doors. */
export { nextFloor, TipFloor, type TippedBlock } from "./tip-floor.ts";
