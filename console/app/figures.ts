const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export const exact = (value: number | bigint): string => whole.format(value);

/** At most four characters of figures for large values; the exact one belongs beside it, on hover. */
export const compact = (value: number): string => (value < 100_000 ? whole.format(value) : short.format(value));

export const ago = (milliseconds: number): string => {
  const seconds = Math.max(0, Math.round(milliseconds / 1_000));
  if (seconds < 60) return `${seconds} s ago`;
  return seconds < 3_600 ? `${Math.floor(seconds / 60)} min ago` : `${Math.floor(seconds / 3_600)} h ago`;
};

export const duration = (seconds: number): string => {
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3_600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"],
  ] as const;
  const from = parts.findIndex(([value]) => value > 0);
  return parts
    .slice(from < 0 ? 3 : from, from < 0 ? 4 : from + 2)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(" ");
};

const shortened = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 });

/** A decimal with at most so many places, fewer for large values; the largest ones are shortened. */
export function decimal(value: number, places: number): string {
  const size = Math.abs(value);
  if (size >= 10_000_000) return shortened.format(value);
  const most = size >= 100_000 ? 0 : size >= 1_000 ? 2 : size >= 10 ? 4 : places;
  return value.toLocaleString("en", { maximumFractionDigits: Math.min(places, most) });
}

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${exact(count)} ${count === 1 ? one : many}`;
