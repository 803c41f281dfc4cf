import { bundleReasons, engineErrorDocsPath, engineOwnCodes, errorDocsPath, errorTable } from "@sluice/sdk";
import { useEffect, useId, useMemo, useRef, useState } from "react";
import { navigate, pages } from "../route.ts";

interface Entry {
  readonly name: string;
  readonly kind: string;
  readonly run: () => void;
}

const shownMax = 12;

/** Cmd-K or Ctrl-K: finds anything by a part of its name; arrows and Enter choose, Escape leaves. */
export function Palette({ open, onClose, extra }: { open: boolean; onClose: () => void; extra: readonly Entry[] }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [query, setQuery] = useState("");
  const [chosen, setChosen] = useState(0);
  const listId = useId();
  const entries = useMemo(() => find([...fixedEntries(), ...extra], query), [extra, query]);
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
    setQuery("");
    setChosen(0);
  }, [open]);
  const run = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    onClose();
    entry.run();
  };
  const onKey = (event: React.KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setChosen((chosen + step + entries.length) % Math.max(1, entries.length));
    } else if (event.key === "Enter") run(entries[chosen]);
  };
  return (
    <dialog
      ref={dialog}
      aria-label="Find anything"
      onClose={onClose}
      className="mx-auto mt-[12vh] w-[min(560px,92vw)] rounded-sm border border-hairline bg-raised p-0 text-ink backdrop:bg-black/40"
    >
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={entries.length > 0 ? `${listId}-${chosen}` : undefined}
        aria-label="Find pages, endpoints and error codes"
        placeholder="Find pages, endpoints, error codes"
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setChosen(0);
        }}
        onKeyDown={onKey}
        className="w-full border-b border-hairline bg-transparent px-4 py-3 text-base outline-none"
      />
      <div id={listId} role="listbox" aria-label="Found" className="max-h-[50vh] overflow-y-auto py-1">
        {entries.map((entry, index) => (
          <div
            key={`${entry.kind} ${entry.name}`}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onMouseMove={() => setChosen(index)}
            onClick={() => run(entry)}
            onKeyDown={onKey}
            className={`flex justify-between px-4 py-1.5 ${index === chosen ? "bg-accent text-accent-ink" : ""}`}
          >
            <span className="truncate">{entry.name}</span>
            <span className={`ml-4 text-xs ${index === chosen ? "" : "text-quiet"}`}>{entry.kind}</span>
          </div>
        ))}
        {entries.length === 0 && <p className="px-4 py-2 text-quiet">Nothing has that name.</p>}
      </div>
    </dialog>
  );
}

function fixedEntries(): Entry[] {
  return [
    ...pages.map((page) => ({ name: page.name, kind: "page", run: () => navigate(page.path) })),
    ...(Object.keys(errorTable) as (keyof typeof errorTable)[]).map((code) => ({
      name: code,
      kind: "error code",
      run: () => navigate(errorDocsPath(code)),
    })),
    ...[...engineOwnCodes, ...bundleReasons].map((code) => ({
      name: code,
      kind: "error code",
      run: () => navigate(engineErrorDocsPath(code)),
    })),
  ];
}

function find(entries: readonly Entry[], query: string): Entry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return entries.filter((entry) => words.every((word) => entry.name.toLowerCase().includes(word))).slice(0, shownMax);
}
