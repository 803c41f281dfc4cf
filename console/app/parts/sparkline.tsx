const width = 96;
const height = 20;

/** A line of the last hour's minutes between their lowest and highest; a dash while there are fewer than two. */
export function Sparkline({ name, values }: { name: string; values: readonly number[] }) {
  if (values.length < 2) return <span className="text-quiet">–</span>;
  const low = Math.min(...values);
  const high = Math.max(...values);
  const spread = high - low || 1;
  const points = values.map((value, index) => {
    const x = (index / (values.length - 1)) * width;
    const y = height - 1 - ((value - low) / spread) * (height - 2);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      className="h-5 w-24 text-accent"
      role="img"
      aria-label={`${name} in the last hour: lowest ${low}, highest ${high}`}
    >
      <polyline points={points.join(" ")} fill="none" stroke="currentColor" strokeWidth="1.5" />
    </svg>
  );
}
