import { useEffect, useMemo, useState } from "react";
import { copyText } from "../clipboard.ts";
import { navigate, pages, usePath } from "../route.ts";
import { applyTheme, nextTheme, storedTheme } from "../theme.ts";
import { client } from "../use-overview.ts";
import { Palette } from "./palette.tsx";

interface Props {
  readonly children: React.ReactNode;
  readonly endpoints: readonly { readonly name: string; readonly address: string }[];
  /** Shown with the account; absent without a session. */
  readonly account: { readonly name: string; readonly signedIn: boolean } | null;
  readonly onSignedOut: () => void;
  /** Offered where nobody had to sign in: a development server shows itself, and any other account by its key. */
  readonly onUseKey: () => void;
}

/** What all pages live in: the rail, the palette, and the way out. */
export function Frame({ children, endpoints, account, onSignedOut, onUseKey }: Props) {
  const [finding, setFinding] = useState(false);
  const [theme, setTheme] = useState(storedTheme());
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!(event.metaKey || event.ctrlKey) || event.key.toLowerCase() !== "k") return;
      event.preventDefault();
      setFinding((before) => !before);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const extra = useMemo(
    () =>
      endpoints.map((endpoint) => ({
        name: `${endpoint.name}: copy ${endpoint.address}`,
        kind: "endpoint",
        run: () => void copyText(endpoint.address),
      })),
    [endpoints],
  );
  const turn = (): void => {
    const next = nextTheme(theme);
    applyTheme(next);
    setTheme(next);
  };
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[184px_1fr]">
      <a href="#main" className="sr-only focus:not-sr-only focus:absolute focus:left-2 focus:top-2">
        To the content
      </a>
      <Rail onFind={() => setFinding(true)} theme={theme} onTheme={turn}>
        {account !== null && (
          <div className="text-xs text-quiet">
            <p className="truncate" title={account.name}>
              {account.name}
            </p>
            {!account.signedIn && <p>development, no sign-in</p>}
            <button
              type="button"
              className="min-h-6 text-accent hover:underline"
              onClick={account.signedIn ? () => void client.signOut().then(onSignedOut, onSignedOut) : onUseKey}
            >
              {account.signedIn ? "Sign out" : "Use another key"}
            </button>
          </div>
        )}
      </Rail>
      <main id="main" className="min-w-0 px-4 py-6 md:px-8">
        <div className="mx-auto max-w-5xl">{children}</div>
      </main>
      <Palette open={finding} onClose={() => setFinding(false)} extra={extra} />
    </div>
  );
}

function Rail(props: { onFind: () => void; theme: string; onTheme: () => void; children: React.ReactNode }) {
  const path = usePath();
  return (
    <header className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-hairline px-4 py-3 md:sticky md:top-0 md:h-dvh md:flex-col md:flex-nowrap md:items-stretch md:border-r md:border-b-0 md:py-6">
      <p className="text-base font-semibold">Sluice</p>
      <nav aria-label="Rooms" className="flex flex-wrap gap-x-4 gap-y-2 md:mt-4 md:flex-col md:flex-nowrap md:gap-y-1">
        {pages.map((page) => (
          <a
            key={page.path}
            href={page.path}
            aria-current={path === page.path ? "page" : isBeneath(path, page.path) ? "true" : undefined}
            onClick={(event) => {
              if (event.metaKey || event.ctrlKey || event.shiftKey) return;
              event.preventDefault();
              navigate(page.path);
            }}
            className={`inline-flex min-h-6 items-center ${isBeneath(path, page.path) ? "font-medium text-accent" : "text-ink hover:text-accent"}`}
          >
            {page.name}
          </a>
        ))}
      </nav>
      <div className="ml-auto flex items-center gap-4 md:mt-auto md:ml-0 md:flex-col md:items-start md:gap-2">
        <button type="button" onClick={props.onFind} className="min-h-6 text-xs text-quiet hover:text-ink">
          Find <kbd className="rounded-sm border border-hairline px-1 font-mono">Ctrl K</kbd>
        </button>
        <button type="button" onClick={props.onTheme} className="min-h-6 text-xs text-quiet hover:text-ink">
          Theme: {props.theme}
        </button>
        {props.children}
      </div>
    </header>
  );
}

const isBeneath = (path: string, page: string): boolean =>
  path === page || (page !== "/" && path.startsWith(`${page}/`));
