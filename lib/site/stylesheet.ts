import { defineConfig, twind, virtual } from "@twind/core";
import presetAutoprefix from "@twind/preset-autoprefix";
import presetTailwind from "@twind/preset-tailwind";

/** The styles of components, in the order in which they apply. */
export const STYLE_FILES = [
  "tokens.css",
  "base.css",
  "top_bar.css",
  "board.css",
  "card.css",
  "card_volumes.css",
  "card_widths.css",
  "log.css",
  "confidence.css",
  "alto.css",
  "run_summary.css",
  "login.css",
  "viewer.css",
  "viewer_panels.css",
  "viewer_widths.css",
  "storage.css",
  "storage_files.css",
  "storage_object.css",
  "storage_widths.css",
  "storage_records.css",
  "uploads.css",
  "storage_tasks.css",
  "dock.css",
];

/**
 * One stylesheet of the components' styles and the utility classes that the sources use. Utilities come last, so that a
 * component may be adjusted where it is placed.
 *
 * @param styles the texts of {@link STYLE_FILES}
 * @param sources texts of components, islands and pages
 */
export function stylesheet(styles: readonly string[], sources: readonly string[]): string {
  return [...styles, utilities(sources)].join("\n");
}

/** The rules for every utility named in a class of the sources. */
function utilities(sources: readonly string[]): string {
  const sheet = virtual();
  const tw = twind(UTILITIES, sheet);
  for (const name of new Set(sources.flatMap(classNames))) tw(name);
  const rules = sheet.target.join("\n");
  tw.destroy();
  return rules;
}

/** Words of `class="…"` and of `class={…}`; other words than utilities produce no rule. */
function classNames(source: string): string[] {
  const texts = [...source.matchAll(/\bclass=(?:"([^"]*)"|\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\})/g)];
  return texts.flatMap(([, plain, code]) => (plain ?? code).split(/[^\w\-:/.[\]!]+/)).filter(Boolean);
}

/** Space and colour are those of tokens.css, so that a utility cannot name another value. */
const UTILITIES = defineConfig({
  presets: [presetAutoprefix(), presetTailwind({ disablePreflight: true })],
  hash: false,
  theme: {
    screens: { wide: "641px" },
    colors: {
      muted: "var(--muted)",
      ink: "var(--ink)",
      bad: "var(--bad)",
      warn: "var(--warn)",
      transparent: "transparent",
    },
    spacing: {
      0: "0",
      1: "var(--s1)",
      2: "var(--s2)",
      3: "var(--s3)",
      4: "var(--s4)",
      5: "var(--s5)",
      6: "var(--s6)",
      auto: "auto",
    },
    fontSize: { s: "var(--t-s)", m: "var(--t-m)", l: "var(--t-l)", xl: "var(--t-xl)" },
  },
});
