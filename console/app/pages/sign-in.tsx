import { ProblemError } from "@sluice/sdk";
import { useId, useState } from "react";
import { client } from "../use-overview.ts";

export function SignIn({ onSignedIn }: { onSignedIn: () => void }) {
  const [key, setKey] = useState("");
  const [error, setError] = useState<string | null>(null);
  const id = useId();
  const submit = async (event: React.FormEvent): Promise<void> => {
    event.preventDefault();
    try {
      await client.signIn(key.trim());
      onSignedIn();
    } catch (error) {
      const reference =
        error instanceof ProblemError && error.requestId !== null ? ` (request ${error.requestId})` : "";
      setError(error instanceof Error ? `${error.message}${reference}` : "The server cannot be reached");
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)} className="max-w-md">
      <h1 className="text-2xl font-semibold">Sign in with an API key</h1>
      <p className="mt-1 text-quiet">
        The key opens a session of this browser for seven days; it is not kept. An operator makes keys with{" "}
        <code className="font-mono">sluice keys create</code>.
      </p>
      <label htmlFor={id} className="mt-6 block text-xs text-quiet">
        API key
      </label>
      <input
        id={id}
        type="password"
        autoComplete="off"
        spellCheck={false}
        required
        value={key}
        aria-invalid={error !== null}
        aria-describedby={error === null ? undefined : `${id}-error`}
        onChange={(event) => setKey(event.target.value)}
        className="mt-1 w-full rounded-sm border border-hairline bg-raised px-3 py-2 font-mono"
      />
      {error !== null && (
        <p id={`${id}-error`} role="alert" className="mt-2 text-bad">
          {error}
        </p>
      )}
      <button type="submit" className="mt-4 rounded-sm bg-accent px-4 py-2 font-medium text-accent-ink">
        Sign in
      </button>
    </form>
  );
}
