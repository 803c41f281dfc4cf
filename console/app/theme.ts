export type Theme = "system" | "light" | "dark";

const key = "sluice.theme";
const isTheme = (text: string | null): text is Theme => text === "system" || text === "light" || text === "dark";

export function storedTheme(): Theme {
  const stored = localStorage.getItem(key);
  return isTheme(stored) ? stored : "system";
}

/** Shows the theme, keeps it, and follows the system's own while that is chosen. */
export function applyTheme(theme: Theme): void {
  localStorage.setItem(key, theme);
  const system = matchMedia("(prefers-color-scheme: dark)");
  const show = (): void => {
    const dark = storedTheme() === "system" ? system.matches : storedTheme() === "dark";
    document.documentElement.dataset["theme"] = dark ? "dark" : "light";
  };
  system.onchange = show;
  show();
}

export const nextTheme = (theme: Theme): Theme =>
  theme === "system" ? "light" : theme === "light" ? "dark" : "system";
