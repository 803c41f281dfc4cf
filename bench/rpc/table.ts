export interface Sample {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU µs per request of the subject's process tree; null where the system does not report it. */
  readonly cpuMicros: number | null;
  /** The part of it that the tree's first process used itself; the rest is its children's. */
  readonly rootCpuMicros: number | null;
  readonly loadCpuMicros: number;
}

export interface Row extends Sample {
  readonly name: string;
  readonly label: string;
  /** Smallest and largest CPU µs per request over the rounds. */
  readonly cpuRange: readonly [number, number] | null;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** Medians of the rounds, each figure on its own. */
export function summarise(samples: readonly Sample[]): Omit<Row, "name" | "label"> {
  const cpu = samples.flatMap((sample) => (sample.cpuMicros === null ? [] : [sample.cpuMicros]));
  return {
    requestsPerSecond: median(samples.map((sample) => sample.requestsPerSecond)),
    p50Ms: median(samples.map((sample) => sample.p50Ms)),
    p99Ms: median(samples.map((sample) => sample.p99Ms)),
    cpuMicros: cpu.length === 0 ? null : median(cpu),
    cpuRange: cpu.length === 0 ? null : [Math.min(...cpu), Math.max(...cpu)],
    rootCpuMicros: cpu.length === 0 ? null : median(samples.map((sample) => sample.rootCpuMicros ?? 0)),
    loadCpuMicros: median(samples.map((sample) => sample.loadCpuMicros)),
  };
}

/** Prints a Markdown table; the last column sets each subject's CPU against that of `peer`. */
export function printTable(title: string, rows: readonly Row[], peer: string): void {
  const reference = rows.find((row) => row.name === peer)?.cpuMicros ?? null;
  console.log(`\n${title}\n`);
  console.log(
    `| subject | requests/s | p50 ms | p99 ms | CPU µs/request (range) | of it in the first process | load's own CPU µs | CPU / ${peer} |`,
  );
  console.log("|---|---:|---:|---:|---:|---:|---:|---:|");
  for (const row of rows) {
    const range = row.cpuRange === null ? "" : ` (${row.cpuRange.map((value) => value.toFixed(1)).join("-")})`;
    const cpu = row.cpuMicros === null ? "n/a" : `${row.cpuMicros.toFixed(1)}${range}`;
    const ratio = row.cpuMicros === null || reference === null ? "n/a" : (row.cpuMicros / reference).toFixed(2);
    const figures = [row.requestsPerSecond.toFixed(0), row.p50Ms.toFixed(2), row.p99Ms.toFixed(2)];
    console.log(
      `| ${[row.label, ...figures, cpu, row.rootCpuMicros?.toFixed(1) ?? "n/a", row.loadCpuMicros.toFixed(1), ratio].join(" | ")} |`,
    );
  }
}
