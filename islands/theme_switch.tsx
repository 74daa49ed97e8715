import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { Icon } from "@/components/icon.tsx";
import { island } from "@/lib/client/island.tsx";
import { chooseTheme, storedTheme, type Theme, themeAfter } from "@/lib/client/theme.ts";
import { THEMES } from "@/lib/presentation/frame_sentences.ts";

/** Goes through system, light and dark. Hidden where scripts do not run: the system's theme holds there. */
export default island("theme_switch", function ThemeSwitch() {
  const theme = useSignal<Theme>("system");
  useEffect(() => {
    theme.value = storedTheme();
  }, []);
  const next = themeAfter(theme.value);
  return (
    <button
      class="btn square needs-scripts"
      type="button"
      aria-label={THEMES.change(THEMES[theme.value], THEMES[next])}
      title={THEMES.is(THEMES[theme.value])}
      onClick={() => {
        chooseTheme(next);
        theme.value = next;
      }}
    >
      <Icon name={theme.value} />
    </button>
  );
});
