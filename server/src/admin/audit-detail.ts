/** The members by which two public forms of a record differ, as they were and as they are; neither form holds a secret. */
export function changedMembers<Body extends object>(
  before: Body,
  after: Body,
): { before: Record<string, unknown>; after: Record<string, unknown> } {
  const changes = { before: {} as Record<string, unknown>, after: {} as Record<string, unknown> };
  const earlier = new Map<string, unknown>(Object.entries(before));
  for (const [name, value] of Object.entries(after)) {
    const was = earlier.get(name);
    if (JSON.stringify(was) === JSON.stringify(value)) continue;
    changes.before[name] = was ?? null;
    changes.after[name] = value;
  }
  return changes;
}
