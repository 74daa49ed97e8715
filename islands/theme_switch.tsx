import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { Icon } from "@/components/icon.tsx";
import { store, stored } from "@/lib/pages/browser/browser_memory_client.ts";
import { island } from "@/lib/pages/browser/island.tsx";
import { THEME_KEY } from "@/lib/pages/stored_names.ts";
import { THEMES } from "@/lib/pages/frame_sentences.ts";

/** Cycles through system, light and dark. Hidden without scripts, when the system's theme applies. */
export default island("theme_switch", function ThemeSwitch() {
  const theme = useSignal<Theme>("system");
  useEffect(() => {
    const own = stored(THEME_KEY);
    theme.value = CHOICES.find((choice) => choice === own) ?? "system";
  }, []);
  const next = CHOICES[(CHOICES.indexOf(theme.value) + 1) % CHOICES.length];
  return (
    <button
      class="btn square needs-scripts"
      type="button"
      aria-label={THEMES.change(THEMES[theme.value], THEMES[next])}
      title={THEMES.is(THEMES[theme.value])}
      onClick={() => {
        choose(next);
        theme.value = next;
      }}
    >
      <Icon name={theme.value} />
    </button>
  );
});

/** The choices of the theme switch, in the order in which it goes through them. */
const CHOICES = ["system", "light", "dark"] as const;
type Theme = (typeof CHOICES)[number];

/** Shows a theme and stores the choice where the browser allows it. */
function choose(theme: Theme): void {
  const { dataset } = document.documentElement;
  if (theme === "system") delete dataset.theme;
  else dataset.theme = theme;
  store(THEME_KEY, theme === "system" ? null : theme);
}
