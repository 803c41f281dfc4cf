const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a duration as people type it: `90s`, `15m`, `12h`, `7d`; null for any other text. */
export function parseDuration(text: string): number | null {
  const [, count, unit = ""] = /^(\d{1,7})([smhd])$/.exec(text.trim()) ?? [];
  const ms = unitMs[unit];
  return count === undefined || ms === undefined ? null : Number(count) * ms;
}

/** The same duration in its largest unit that leaves no rest; below a second in milliseconds. */
export function showDuration(ms: number): string {
  for (const unit of ["d", "h", "m", "s"]) {
    const one = unitMs[unit] ?? 1;
    if (ms >= one && ms % one === 0) return `${ms / one}${unit}`;
  }
  return `${ms}ms`;
}
