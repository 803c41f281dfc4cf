import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { applyTheme, storedTheme } from "./theme.ts";

applyTheme(storedTheme());
const root = document.getElementById("root");
if (root === null) throw new Error("The page has no root");
createRoot(root).render(<App />);
