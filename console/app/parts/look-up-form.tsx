import { useId, useState } from "react";

interface Props {
  /** What is looked up, for who cannot see the placeholder. */
  readonly label: string;
  readonly placeholder: string;
  readonly maxLength: number;
  /** What the page shows now; the form is made anew with another. */
  readonly shown: string;
  /** Receives what was typed, without blanks around it, unless that is nothing. */
  readonly onLookUp: (wanted: string) => void;
}

/** A field for what a page is to show. */
export function LookUpForm({ label, placeholder, maxLength, shown, onLookUp }: Props) {
  const [typed, setTyped] = useState(shown);
  const id = useId();
  return (
    <form
      className="mt-4 flex max-w-3xl flex-wrap gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        const wanted = typed.trim();
        if (wanted !== "") onLookUp(wanted);
      }}
    >
      <label htmlFor={id} className="sr-only">
        {label}
      </label>
      <input
        id={id}
        value={typed}
        maxLength={maxLength}
        spellCheck={false}
        autoCapitalize="none"
        placeholder={placeholder}
        onChange={(event) => setTyped(event.target.value)}
        className="min-w-0 flex-1 basis-64 rounded-sm border border-hairline bg-raised px-3 py-2 font-mono text-[13px]"
      />
      <button type="submit" className="rounded-sm bg-accent px-4 py-2 font-medium text-accent-ink">
        Look up
      </button>
    </form>
  );
}
