/** A choice of few short words, one of which holds. */
export function Periods(props: {
  label: string;
  options: readonly string[];
  value: string;
  onChange: (value: string) => void;
}) {
  return (
    <fieldset className="flex flex-wrap gap-x-1">
      <legend className="sr-only">{props.label}</legend>
      {props.options.map((option) => (
        <button
          key={option}
          type="button"
          aria-pressed={option === props.value}
          onClick={() => props.onChange(option)}
          className={`min-h-6 min-w-8 rounded-sm px-1.5 text-xs ${option === props.value ? "bg-accent font-medium text-accent-ink" : "text-quiet hover:text-ink"}`}
        >
          {option}
        </button>
      ))}
    </fieldset>
  );
}
