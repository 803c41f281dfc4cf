export function quantile(list: readonly number[], q: number): number {
  const sorted = list.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

export const median = (list: readonly number[]): number => quantile(list, 0.5);

export function row(name: string, cells: readonly string[]): void {
  console.log(`  ${name.padEnd(26)}${cells.map((cell) => cell.padStart(12)).join("")}`);
}
