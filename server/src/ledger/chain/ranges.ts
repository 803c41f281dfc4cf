/** Slots from `first` up to but not including `until`. */
export interface SlotSpan {
  readonly first: bigint;
  readonly until: bigint;
}

/** The same slots as ranges that neither touch nor overlap, in order; empty ones left out. */
export function joined(ranges: readonly SlotSpan[]): SlotSpan[] {
  const sorted = ranges
    .filter(({ first, until }) => first < until)
    .toSorted((one, other) => (one.first < other.first ? -1 : one.first > other.first ? 1 : 0));
  const result: { first: bigint; until: bigint }[] = [];
  for (const { first, until } of sorted) {
    const last = result.at(-1);
    if (last === undefined || first > last.until) result.push({ first, until });
    else if (until > last.until) last.until = until;
  }
  return result;
}

/** The slots of `wanted` that are in none of `held`, in order. */
export function missing(wanted: SlotSpan, held: readonly SlotSpan[]): SlotSpan[] {
  const result: SlotSpan[] = [];
  let { first } = wanted;
  for (const range of joined(held)) {
    if (range.until <= first) continue;
    if (range.first >= wanted.until) break;
    if (range.first > first) result.push({ first, until: range.first });
    first = range.until;
  }
  if (first < wanted.until) result.push({ first, until: wanted.until });
  return result;
}

/** The slots between ranges: what is missing from the first that is held to the last. */
export function holes(held: readonly SlotSpan[]): SlotSpan[] {
  const ranges = joined(held);
  const [first] = ranges;
  const last = ranges.at(-1);
  return first === undefined || last === undefined ? [] : missing({ first: first.first, until: last.until }, ranges);
}
